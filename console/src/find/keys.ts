import type { Row } from "./rows.ts"

/** The action of a key in the list. */
export type ListAction =
  | { readonly kind: "move"; readonly to: number }
  | { readonly kind: "open"; readonly row: Row }
  | { readonly kind: "toggle"; readonly key: string }
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
      if (hasText || row?.kind !== "group") return undefined
      return row.isOpen ? move(rows, active + 1) : { kind: "toggle", key: row.key }
    default:
      return undefined
  }
}

/** Closes a group; from one of its operations, goes to it first. */
function left(rows: readonly Row[], active: number, row: Row): ListAction | undefined {
  if (row.kind === "group") return row.isOpen ? { kind: "toggle", key: row.key } : undefined
  const group = rows.findLastIndex((one, at) => at < active && one.kind === "group")
  return group === -1 ? undefined : { kind: "move", to: group }
}

function move(rows: readonly Row[], to: number): ListAction | undefined {
  if (rows.length === 0) return undefined
  return { kind: "move", to: Math.min(Math.max(to, 0), rows.length - 1) }
}
