import type { FolderRow, Row } from "./tree.ts"

/** The action of a key in the list. */
export type ListAction =
  | { readonly kind: "move"; readonly to: number }
  | { readonly kind: "open"; readonly row: Row }
  | { readonly kind: "toggle"; readonly row: FolderRow }
  | { readonly kind: "leave" }

/** Number of lines per Page Down. */
const PAGE = 10

/** The action of a key at the active line; `hasText` while left and right move in a text. */
export function listAction(
  key: string,
  rows: readonly Row[],
  active: number,
  hasText: boolean,
): ListAction | undefined {
  const row = rows[active]
  switch (key) {
    case "ArrowDown":
      return move(rows, active + 1)
    case "ArrowUp":
      return move(rows, active === -1 ? rows.length - 1 : active - 1)
    case "PageDown":
      return move(rows, active + PAGE)
    case "PageUp":
      return move(rows, active - PAGE)
    case "Enter":
      return row === undefined ? undefined : { kind: "open", row }
    case "Escape":
      return { kind: "leave" }
    case "ArrowLeft":
      return hasText || row === undefined ? undefined : left(rows, active, row)
    case "ArrowRight":
      if (hasText || row?.kind !== "folder") return undefined
      return row.isOpen ? move(rows, active + 1) : { kind: "toggle", row }
    default:
      return undefined
  }
}

/** Closes an open folder; from anything else, goes to the folder that it is in. */
function left(rows: readonly Row[], active: number, row: Row): ListAction | undefined {
  if (row.kind === "folder" && row.isOpen) return { kind: "toggle", row }
  const folder = rows.findLastIndex((one, at) => at < active && one.level < row.level)
  return folder === -1 ? undefined : { kind: "move", to: folder }
}

function move(rows: readonly Row[], to: number): ListAction | undefined {
  if (rows.length === 0) return undefined
  return { kind: "move", to: Math.min(Math.max(to, 0), rows.length - 1) }
}
