/** Whether a text matches a pattern, in which `*` stands for any text. */
export type Matcher = (text: string) => boolean

/** Compiles a pattern such as `issues.*`. */
export function compilePattern(pattern: string): Matcher {
  const parts = pattern.split("*")
  const [first = "", ...rest] = parts
  const last = rest.pop()
  if (last === undefined) return (text) => text === pattern
  return (text) => {
    if (text.length < first.length + last.length) return false
    if (!text.startsWith(first) || !text.endsWith(last)) return false
    // Matching each part at its first position is sufficient, and takes one pass.
    let from = first.length
    const end = text.length - last.length
    for (const part of rest) {
      const at = text.indexOf(part, from)
      if (at === -1 || at + part.length > end) return false
      from = at + part.length
    }
    return true
  }
}
