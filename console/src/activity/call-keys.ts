import type { CallRow } from "./call-rows.ts"

/** The action of a key in the table of calls. */
export type CallMove =
  | { readonly do: "go"; readonly to: number }
  | { readonly do: "open"; readonly key: string; readonly isOpen: boolean }
  | { readonly do: "show"; readonly key: string }

const PAGE = 10

/** The action of a key at a row, or at the first one if none is active; `undefined` for other keys. */
export function moveOf(rows: readonly CallRow[], at: number, key: string): CallMove | undefined {
  const index = Math.max(0, at)
  const row = rows[index]
  if (row === undefined) return undefined
  const go = (to: number): CallMove => ({
    do: "go",
    to: Math.min(rows.length - 1, Math.max(0, to)),
  })
  switch (key) {
    case "ArrowDown":
      return go(index + 1)
    case "ArrowUp":
      return go(index - 1)
    case "PageDown":
      return go(index + PAGE)
    case "PageUp":
      return go(index - PAGE)
    case "Home":
      return go(0)
    case "End":
      return go(rows.length - 1)
    case "ArrowRight":
      if (!row.isParent) return undefined
      return row.isOpen ? go(index + 1) : { do: "open", key: row.call.key, isOpen: true }
    case "ArrowLeft":
      if (row.isOpen) return { do: "open", key: row.call.key, isOpen: false }
      return row.depth === 0 ? undefined : go(parentOf(rows, index))
    case "Enter":
      return { do: "show", key: row.call.key }
    default:
      return undefined
  }
}

/** The parent row: the nearest row above with a smaller depth. */
function parentOf(rows: readonly CallRow[], index: number): number {
  const depth = rows[index]?.depth ?? 0
  return rows.findLastIndex((row, at) => at < index && row.depth < depth)
}
