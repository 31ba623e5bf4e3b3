// Patterns come from untrusted sources, and run here on every keystroke: one that could hang is left
// to the hub, which checks the input anyway.

const MAX_LENGTH = 400
/** The time grows at most with this power of the length of a text. */
const MAX_DEGREE = 2

/** Whether a pattern can be run here: it compiles, repeats nothing that repeats, and has few repeats. */
export function isSafePattern(pattern: string): boolean {
  if (pattern.length > MAX_LENGTH || hasNestedRepeat(pattern)) return false
  try {
    return new RegExp(pattern, "u") instanceof RegExp
  } catch {
    return false
  }
}

/** Whether a group that is repeated without a bound holds a repeat or a choice: `(a+)+`, `(a|aa)*`. */
function hasNestedRepeat(pattern: string): boolean {
  const groups: { repeats: boolean }[] = []
  let repeats = 0
  for (let at = 0; at < pattern.length; at++) {
    const char = pattern[at]
    if (char === "\\") at++
    else if (char === "[") at = endOfClass(pattern, at)
    else if (char === "(") groups.push({ repeats: false })
    else if (char === "|") markAll(groups)
    else if (char === ")") {
      const group = groups.pop()
      if (group?.repeats === true && isRepeat(pattern, at + 1)) return true
    } else if (isRepeat(pattern, at)) {
      markAll(groups)
      repeats++
    }
  }
  // Repeats side by side can try every way to share a text among them, and a search starts at every character.
  const searches = pattern.startsWith("^") && !pattern.includes("|") ? 0 : 1
  return repeats > 0 && repeats + searches > MAX_DEGREE
}

function markAll(groups: { repeats: boolean }[]): void {
  for (const group of groups) group.repeats = true
}

/** Whether a quantifier that may repeat often stands here. */
function isRepeat(pattern: string, at: number): boolean {
  const char = pattern[at]
  if (char === "*" || char === "+") return true
  if (char !== "{") return false
  const bounds = /^\{\d*(,?)(\d*)\}/.exec(pattern.slice(at))
  return bounds !== null && bounds[1] === "," && (bounds[2] === "" || Number(bounds[2]) > 20)
}

function endOfClass(pattern: string, start: number): number {
  let at = start + 1
  while (at < pattern.length && pattern[at] !== "]") at += pattern[at] === "\\" ? 2 : 1
  return at
}
