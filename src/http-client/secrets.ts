/** What stands where a secret stood. */
const MASK = "***"

// Shorter ones occur by chance: masking them would spoil answers and hide nothing.
const IN_TEXT = 8
const IN_HEADER = 4

/** Text without the secrets of a request, in whatever way a server may have echoed them. */
export function maskSecrets(text: string, secrets: readonly string[]): string {
  return replaceAll(text, secrets, IN_TEXT)
}

/** The same for short values such as headers and URLs, where a shorter secret is no coincidence. */
export function maskValue(value: string, secrets: readonly string[]): string {
  return replaceAll(value, secrets, IN_HEADER)
}

function replaceAll(text: string, secrets: readonly string[], atLeast: number): string {
  let out = text
  // The longest first: one that begins like a shorter one would keep its end.
  const ordered = secrets.length > 1 ? secrets.toSorted((a, b) => b.length - a.length) : secrets
  for (const secret of ordered) {
    if (secret.length < atLeast) continue
    for (const spelling of spellings(secret)) out = out.replaceAll(spelling, MASK)
  }
  return out
}

/** A secret as it is, inside a JSON string, and inside a URL. */
function spellings(secret: string): readonly string[] {
  if (/^[\w.~-]+$/.test(secret)) return [secret]
  const spelt = new Set([secret, JSON.stringify(secret).slice(1, -1)])
  try {
    spelt.add(encodeURIComponent(secret))
  } catch {
    // A lone surrogate has no such spelling.
  }
  return [...spelt].toSorted((a, b) => b.length - a.length)
}
