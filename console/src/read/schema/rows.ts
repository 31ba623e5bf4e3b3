import { treeMove } from "../../ui/tree-keys.ts"
import type { SchemaNode } from "./node.ts"

/** A line of the tree as it is open now. */
export interface Row {
  readonly node: SchemaNode
  /** 1 for the outermost rows. */
  readonly level: number
  readonly position: number
  readonly size: number
  /** `undefined` for a row that cannot be opened. */
  readonly isOpen: boolean | undefined
  /** Whether it matches the search. */
  readonly isFound: boolean
}

/** Number of enum values that are displayed before the list is expanded. */
export const SHORT_LIST = 8

// A schema that refers to itself has no end.
const MAX_ROWS = 20_000

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
    within: SchemaSearch | undefined,
  ): void => {
    const nodes =
      within === undefined
        ? all
        : all.filter(({ key }) => within.hits.has(key) || within.around.has(key))
    nodes.forEach((node, index) => {
      if (rows.length >= MAX_ROWS) return
      const isOpen = isOpenable(node) ? open.has(node.key) : undefined
      const position = index + 1
      const size = nodes.length
      const isFound = search?.hits.has(node.key) === true
      rows.push({ node, level, position, size, isOpen, isFound })
      // A hit is shown with its contents.
      const below = isFound ? undefined : within
      if (isOpen === true && node.hasChildren) add(node.children(), level + 1, below)
    })
  }
  add(root.children(), 1, search)
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

/** The initially open nodes: all of a small schema, the items of a list, the only property. */
export function openAtFirst(root: SchemaNode): ReadonlySet<string> {
  const open = new Set(allOpen(root, FEW_ROWS))
  const children = root.hasChildren ? root.children() : []
  const [only] = children
  if (children.length === 1 && only?.kind === "item") openWithItems(only, open)
  else if (children.length === 1 && only?.hasChildren === true) open.add(only.key)
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
    if (nodes.length > MAX_ROWS) return { hits, around, isCut: true }
    if (node.hasChildren && !node.isRecursive) nodes.push(...node.children())
  }
  return { hits, around, isCut: false }
}

function above(key: string): string {
  return key.slice(0, key.lastIndexOf("/"))
}

/** What a key does at a row: `"toggle"`, or the index of the row to go to. A letter goes to the next row that begins with it. */
export function schemaMove(
  key: string,
  rows: readonly Row[],
  at: number,
): number | "toggle" | undefined {
  if (key === "Enter" || key === " ") {
    return rows[at]?.isOpen === undefined ? undefined : "toggle"
  }
  const move = treeMove(key, rows, at) ?? nextBeginning(key, rows, at)
  return move === at ? undefined : move
}

function nextBeginning(key: string, rows: readonly Row[], at: number): number | undefined {
  if ([...key].length !== 1) return undefined
  const letter = key.toLowerCase()
  const begins = ({ node }: Row): boolean => node.label.toLowerCase().startsWith(letter)
  const after = rows.findIndex((row, index) => index > at && begins(row))
  const next = after >= 0 ? after : rows.findIndex(begins)
  return next === -1 ? undefined : next
}
