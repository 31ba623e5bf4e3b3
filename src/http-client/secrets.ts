/** The replacement of a secret. */
const MASK = "***"

// Shorter secrets occur by chance: masking them would spoil responses and hide nothing.
const MIN_LENGTH_IN_TEXT = 8
const MIN_LENGTH_IN_VALUE = 4

/** Masks the secrets of a request in a text, in every encoding in which a server may have echoed them. */
export function maskSecrets(text: string, secrets: readonly string[]): string {
  return replaceAll(text, secrets, MIN_LENGTH_IN_TEXT)
}

/** Like `maskSecrets`, for short values such as headers and URLs, where a shorter match is not a coincidence. */
export function maskValue(value: string, secrets: readonly string[]): string {
  return replaceAll(value, secrets, MIN_LENGTH_IN_VALUE)
}

function replaceAll(text: string, secrets: readonly string[], atLeast: number): string {
  let out = text
  // Longest first: otherwise a secret that starts with a shorter one would keep its end.
  const ordered = secrets.length > 1 ? secrets.toSorted((a, b) => b.length - a.length) : secrets
  for (const secret of ordered) {
    if (secret.length < atLeast) continue
    for (const spelling of spellings(secret)) out = out.replaceAll(spelling, MASK)
  }
  return out
}

/** The spellings of a secret: plain, in a JSON string, and in a URL. */
function spellings(secret: string): readonly string[] {
  if (/^[\w.~-]+$/.test(secret)) return [secret]
  const spelt = new Set([secret, JSON.stringify(secret).slice(1, -1)])
  try {
    spelt.add(encodeURIComponent(secret))
  } catch {
    // A lone surrogate cannot be URL-encoded.
  }
  return [...spelt].toSorted((a, b) => b.length - a.length)
}
