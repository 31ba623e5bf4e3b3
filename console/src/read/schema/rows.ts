import type { SchemaNode } from "./node.ts"

/** A line of the tree as it is open now. */
export interface Row {
  readonly node: SchemaNode
  /** 1 for the outermost rows. */
  readonly level: number
  readonly position: number
  readonly size: number
  readonly isOpenable: boolean
  readonly isOpen: boolean
  /** Whether it matches the search. */
  readonly isFound: boolean
  /** The index of the parent's row; -1 for none. */
  readonly parent: number
}

/** Number of enum values that are displayed before the list is expanded. */
export const SHORT_LIST = 8

// A schema that refers to itself has no end.
const MAX_ROWS = 20_000

// A search ends after this many hits.
const MAX_FOUND = 200

// The number of rows that can be seen at a glance.
const FEW_ROWS = 25

/** Whether a node can be expanded. */
export function isOpenable({ hasChildren, valueCount }: SchemaNode): boolean {
  return hasChildren || valueCount > SHORT_LIST
}

/** The rows below a node, including those of open nodes; in a search its hits, with their parents and contents. */
export function rowsOf(
  root: SchemaNode,
  open: ReadonlySet<string>,
  search?: SchemaSearch,
): readonly Row[] {
  const rows: Row[] = []
  const add = (
    all: readonly SchemaNode[],
    level: number,
    parent: number,
    within: SchemaSearch | undefined,
  ): void => {
    const nodes =
      within === undefined
        ? all
        : all.filter(({ key }) => within.hits.has(key) || within.around.has(key))
    nodes.forEach((node, index) => {
      if (rows.length >= MAX_ROWS) return
      const canOpen = isOpenable(node)
      const isOpen = canOpen && open.has(node.key)
      const at = rows.length
      const position = index + 1
      const size = nodes.length
      const isFound = search?.hits.has(node.key) === true
      rows.push({ node, level, position, size, isOpenable: canOpen, isOpen, isFound, parent })
      // A hit is shown with its contents.
      const below = isFound ? undefined : within
      if (isOpen && node.hasChildren) add(node.children(), level + 1, at, below)
    })
  }
  add(root.children(), 1, -1, search)
  return rows
}

/** Opens or closes a node; opening a list opens its items as well. */
export function toggled(open: ReadonlySet<string>, node: SchemaNode): ReadonlySet<string> {
  const next = new Set(open)
  if (next.delete(node.key)) return next
  openWithItems(node, next)
  return next
}

function openWithItems(node: SchemaNode, open: Set<string>): void {
  for (let at: SchemaNode | undefined = node; at !== undefined && !open.has(at.key);) {
    open.add(at.key)
    const children: readonly SchemaNode[] = at.hasChildren ? at.children() : []
    const [only] = children
    at = children.length === 1 && only?.kind === "item" && !only.isRecursive ? only : undefined
  }
}

/**
 * Opens all nodes, level by level, until there are as many rows as a reader can take in.
 * Recursive nodes stay closed.
 */
export function allOpen(root: SchemaNode, most = 400): ReadonlySet<string> {
  const open = new Set<string>()
  let count = root.children().length
  let level: readonly SchemaNode[] = root.children()
  while (level.length > 0) {
    const next: SchemaNode[] = []
    for (const node of level) {
      if (count >= most) return open
      if (!node.hasChildren || node.isRecursive) continue
      const children = node.children()
      if (count + children.length > most) continue
      count += children.length
      open.add(node.key)
      next.push(...children)
    }
    level = next
  }
  return open
}

/** The initially open nodes: all of a small schema, the items of a list. */
export function openAtFirst(root: SchemaNode): ReadonlySet<string> {
  const open = new Set(allOpen(root, FEW_ROWS))
  const children = root.hasChildren ? root.children() : []
  const [only] = children
  if (children.length === 1 && only?.kind === "item") openWithItems(only, open)
  return open
}

/** The keys of nodes that match a text. */
export interface SchemaSearch {
  readonly hits: ReadonlySet<string>
  /** The keys of nodes that contain hits. */
  readonly around: ReadonlySet<string>
  /** Whether the search ended early, at a limit. */
  readonly isCut: boolean
}

/** Looks for a text in the names and descriptions of a schema, level by level; `undefined` for no text. */
export function searchSchema(root: SchemaNode, text: string): SchemaSearch | undefined {
  const wanted = text.trim().toLowerCase()
  if (wanted === "") return undefined
  const hits = new Set<string>()
  const around = new Set<string>()
  const nodes = [...root.children()]
  // Grows while it is walked.
  for (const node of nodes) {
    const { key, label } = node
    if (`${label}\n${node.facts.description ?? ""}`.toLowerCase().includes(wanted)) {
      hits.add(key)
      for (let at = above(key); at !== ""; at = above(at)) around.add(at)
    }
    if (nodes.length > MAX_ROWS || hits.size >= MAX_FOUND) return { hits, around, isCut: true }
    if (node.hasChildren && !node.isRecursive) nodes.push(...node.children())
  }
  return { hits, around, isCut: false }
}

function above(key: string): string {
  return key.slice(0, key.lastIndexOf("/"))
}

/** What a key means in the tree: another row to go to, a row to open or close, or nothing. */
export type TreeMove =
  | { readonly kind: "go"; readonly to: number }
  | { readonly kind: "toggle" }
  | { readonly kind: "none" }

/** The move for a key, as in desktop trees; a letter goes to the next row that begins with it. */
export function moveOf(key: string, at: number, rows: readonly Row[]): TreeMove {
  const row = rows[at]
  if (row === undefined) return { kind: "none" }
  const go = (to: number): TreeMove =>
    to === at || rows[to] === undefined ? { kind: "none" } : { kind: "go", to }
  switch (key) {
    case "ArrowDown":
      return go(at + 1)
    case "ArrowUp":
      return go(at - 1)
    case "Home":
      return go(0)
    case "End":
      return go(rows.length - 1)
    case "ArrowRight":
      if (row.isOpenable && !row.isOpen) return { kind: "toggle" }
      return rows[at + 1]?.parent === at ? go(at + 1) : { kind: "none" }
    case "ArrowLeft":
      return row.isOpen ? { kind: "toggle" } : go(row.parent)
    case "Enter":
    case " ":
      return row.isOpenable ? { kind: "toggle" } : { kind: "none" }
    default:
      return go(nextBeginning(key, at, rows))
  }
}

function nextBeginning(key: string, at: number, rows: readonly Row[]): number {
  if ([...key].length !== 1) return -1
  const letter = key.toLowerCase()
  const begins = ({ node }: Row): boolean => node.label.toLowerCase().startsWith(letter)
  const after = rows.findIndex((row, index) => index > at && begins(row))
  return after >= 0 ? after : rows.findIndex(begins)
}
