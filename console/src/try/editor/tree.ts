// Positions in JSON text, by its syntax tree, even while the text is not valid.

import { ensureSyntaxTree, syntaxTree } from "@codemirror/language"
import type { EditorState } from "@codemirror/state"
import type { Path } from "../schema/json.ts"

export type Tree = ReturnType<typeof syntaxTree>
export type TreeNode = Tree["topNode"]

/** A piece of the text. */
export interface Span {
  readonly from: number
  readonly to: number
}

/** The text of a span. */
export type ReadText = (span: Span) => string

/** Maximum time for parsing the rest of the text, in milliseconds. */
const PARSE_MS = 200

/** The tree of the text up to a position: the editor may have parsed only a part by now. */
export function treeOf(state: EditorState, upTo: number): Tree {
  return ensureSyntaxTree(state, upTo, PARSE_MS) ?? syntaxTree(state)
}

const VALUES: ReadonlySet<string> = new Set([
  "Object",
  "Array",
  "String",
  "Number",
  "True",
  "False",
  "Null",
])

/** The path of the value that a node is or is in. */
export function pathOf(node: TreeNode, read: ReadText): Path {
  const path: (string | number)[] = []
  for (let at: TreeNode | null = node; at !== null; at = at.parent) {
    if (at.name === "Property") {
      const name = nameOf(at, read)
      if (name !== undefined) path.unshift(name)
    } else if (at.parent?.name === "Array" && VALUES.has(at.name)) {
      path.unshift(positionOf(at))
    }
  }
  return path
}

/** The span of the value at a path; if it is missing, of the nearest value that would contain it. */
export function spanAt(tree: Tree, path: Path, read: ReadText): Span {
  let here = valueIn(tree.topNode)
  let span: Span = here ?? tree.topNode
  for (const part of path) {
    const next = here === null ? null : childOf(here, part, read)
    // A missing value is marked at the name of its object, not over all lines of the object.
    if (next === null) return here === null ? span : headOf(here)
    here = next
    span = next
  }
  return here === null ? span : headOf(here)
}

/** The names in an object, except for the property that is being typed. */
export function namesIn(
  object: TreeNode,
  except: TreeNode | undefined,
  read: ReadText,
): ReadonlySet<string> {
  const names = new Set<string>()
  for (let child = object.firstChild; child !== null; child = child.nextSibling) {
    if (child.name !== "Property" || child.from === except?.from) continue
    const name = nameOf(child, read)
    if (name !== undefined) names.add(name)
  }
  return names
}

/** The first syntax error. */
export function firstError(tree: Tree): Span | undefined {
  let error: Span | undefined
  tree.iterate({
    enter: (node) => {
      if (node.type.isError && error === undefined) error = { from: node.from, to: node.to }
      return error === undefined
    },
  })
  return error
}

function nameOf(property: TreeNode, read: ReadText): string | undefined {
  const name = property.getChild("PropertyName")
  if (name === null) return undefined
  try {
    const text: unknown = JSON.parse(read(name))
    return typeof text === "string" ? text : undefined
  } catch {
    return undefined
  }
}

function positionOf(item: TreeNode): number {
  let position = 0
  for (let at = item.prevSibling; at !== null; at = at.prevSibling) {
    if (VALUES.has(at.name)) position++
  }
  return position
}

function valueIn(node: TreeNode): TreeNode | null {
  for (let child = node.firstChild; child !== null; child = child.nextSibling) {
    if (VALUES.has(child.name)) return child
  }
  return null
}

function childOf(node: TreeNode, part: string | number, read: ReadText): TreeNode | null {
  if (node.name === "Object") {
    for (const property of node.getChildren("Property")) {
      if (nameOf(property, read) === String(part)) return valueIn(property) ?? property
    }
    return null
  }
  if (node.name !== "Array") return null
  let position = Number(part)
  for (let child = node.firstChild; child !== null; child = child.nextSibling) {
    if (VALUES.has(child.name) && position-- === 0) return child
  }
  return null
}

/** The span of a value; of an object or list only its name or its bracket. */
function headOf(node: TreeNode): Span {
  if (node.name !== "Object" && node.name !== "Array") return { from: node.from, to: node.to }
  const name = node.parent?.getChild("PropertyName")
  return name === null || name === undefined
    ? { from: node.from, to: node.from + 1 }
    : { from: name.from, to: name.to }
}
