/** A JSON Web Key. */
export interface JwkLike {
  readonly kty: string
  readonly [name: string]: unknown
}

/** A key in one of the forms that `jose` loads; its content is not validated. */
export type KeyForm =
  | { readonly form: "pem"; readonly label: string; readonly text: string }
  | { readonly form: "jwk"; readonly jwk: JwkLike }
  /** A `CryptoKey`, or a `KeyObject` of Node. */
  | { readonly form: "key"; readonly key: { readonly type: string } }

/** Finds the form of a key; a JWK may be text. `undefined` for anything else, such as a secret. */
export function keyFormOf(key: unknown): KeyForm | undefined {
  if (typeof key === "string") {
    // Environment variables often hold a PEM on one line.
    const text = key.replaceAll(String.raw`\n`, "\n").trim()
    const [, label] = /^-----BEGIN ([A-Z0-9 ]+)-----/.exec(text) ?? []
    if (label !== undefined) return { form: "pem", label, text }
  }
  const value = typeof key === "string" ? parsed(key) : key
  if (typeof value !== "object" || value === null) return undefined
  const { kty, type } = value as { readonly kty?: unknown; readonly type?: unknown }
  // A copy, so that later changes by its owner have no effect.
  if (typeof kty === "string") return { form: "jwk", jwk: { ...value, kty } }
  return typeof type === "string" ? { form: "key", key: value as { type: string } } : undefined
}

/** Whether a key is the private or the public half of a pair, or a secret. */
export function halfOf(key: KeyForm): string {
  switch (key.form) {
    case "pem":
      return key.label.endsWith("PRIVATE KEY") ? "private" : "public"
    case "jwk":
      if (key.jwk.kty === "oct") return "secret"
      return key.jwk["d"] === undefined ? "public" : "private"
    case "key":
      return key.key.type
  }
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}
