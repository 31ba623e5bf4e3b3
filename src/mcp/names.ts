import { sha256Hex } from "../internal/sha256.ts"

// The naming rules of the registry (`src/core/spec-schemas.ts`), applied before registration.
const NAMESPACE = /^[A-Za-z0-9_][A-Za-z0-9_-]*$/
const NAME = /^[A-Za-z0-9_][A-Za-z0-9_-]*(?:\.[A-Za-z0-9_-]+)*$/
const MAX_NAMESPACE = 128
const MAX_NAME = 256
/** Maximum length that is kept of a name that has to be changed. */
const MAX_KEPT = 100

/** Whether a text can be a namespace. */
export function isNamespace(text: string): boolean {
  return text.length <= MAX_NAMESPACE && NAMESPACE.test(text)
}

/** Whether a text can be the name of an operation. */
export function isOperationName(text: string): boolean {
  return text.length <= MAX_NAME && NAME.test(text)
}

/**
 * A name for an operation: the text itself where it is one, else the text with other characters
 * replaced and six digits of its hash, which are the same each time and keep apart what became equal.
 */
export function operationName(text: string, key: string = text): string {
  return isOperationName(text) ? text : suffixedName(text, key)
}

/** Names several things; those with the same name get the hash of their key appended. */
export function distinctNames(
  things: readonly { readonly name: string; readonly key: string }[],
): readonly string[] {
  const counts = new Map<string, number>()
  for (const { name } of things) counts.set(name, (counts.get(name) ?? 0) + 1)
  return things.map(({ name, key }) =>
    (counts.get(name) ?? 0) > 1 ? suffixedName(name, key) : operationName(name, key),
  )
}

/** Suggests a valid namespace that resembles an invalid one, for messages. */
export function suggestedNamespace(text: string): string {
  const legal = replaced(text, MAX_NAMESPACE).replace(/[._-]+$/, "")
  return isNamespace(legal.replaceAll(".", "-")) ? legal.replaceAll(".", "-") : "server"
}

function suffixedName(text: string, key: string): string {
  const kept = replaced(text, MAX_KEPT).replaceAll(".", "_")
  return `${kept}${kept === "" ? "_" : "-"}${sha256Hex(key).slice(0, 6)}`
}

function replaced(text: string, length: number): string {
  return [...text.slice(0, length)]
    .map((character) => (/^[A-Za-z0-9_.-]$/.test(character) ? character : "_"))
    .join("")
    .replace(/^[.-]+/, "")
}
