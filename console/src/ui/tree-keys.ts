/** A line of a tree, as far as its keys are concerned. */
export interface TreeLine {
  /** Larger for a line inside another. */
  readonly level: number
  /** `undefined` for a line that has nothing inside. */
  readonly isOpen?: boolean | undefined
}

/** Number of lines per Page Down. */
const PAGE = 10

/** What a key does at a line, as in desktop trees: `"toggle"` to open or close it, or the index of the line to go to. */
export function treeMove(
  key: string,
  lines: readonly TreeLine[],
  at: number,
): number | "toggle" | undefined {
  const line = lines[at]
  const last = lines.length - 1
  if (last < 0) return undefined
  const go = (to: number): number => Math.min(Math.max(to, 0), last)
  switch (key) {
    case "ArrowDown":
      return go(at + 1)
    case "ArrowUp":
      return at < 0 ? last : go(at - 1)
    case "PageDown":
      return go(at + PAGE)
    case "PageUp":
      return go(at - PAGE)
    case "Home":
      return 0
    case "End":
      return last
    case "ArrowRight":
      if (line?.isOpen === false) return "toggle"
      return line !== undefined && (lines[at + 1]?.level ?? 0) > line.level ? at + 1 : undefined
    case "ArrowLeft": {
      if (line === undefined) return undefined
      if (line.isOpen === true) return "toggle"
      const parent = lines.findLastIndex((one, index) => index < at && one.level < line.level)
      return parent === -1 ? undefined : parent
    }
    default:
      return undefined
  }
}
