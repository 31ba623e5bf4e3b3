import type { Completion, CompletionContext, CompletionResult } from "@codemirror/autocomplete"
import type { JsonSchema } from "../schema/json.ts"
import { suggestNames, suggestValues, valueStart } from "./suggest.ts"
import { namesIn, pathOf, treeOf } from "./tree.ts"
import type { ReadText, Span, TreeNode } from "./tree.ts"

/** Completion from a schema: names of properties, and values. */
export function completionFrom(
  schema: () => JsonSchema,
): (context: CompletionContext) => CompletionResult | null {
  return (context) => {
    const { state, pos, explicit } = context
    const read: ReadText = ({ from, to }) => state.sliceDoc(from, to)
    const tree = treeOf(state, pos)
    const node = tree.resolveInner(pos, -1)
    const word = wordAt(node, pos)
    const property = propertyName(node, pos, read)
    if (property !== undefined) {
      const { object, span } = property
      const path = pathOf(object, read)
      const present = namesIn(object, node.parent ?? undefined, read)
      const names = suggestNames(schema(), path, present)
      if (names.length === 0) return null
      const isNew = !/^\s*:/.test(state.sliceDoc(span.to, span.to + 20))
      return {
        from: span.from,
        to: span.to,
        options: names.map(({ label, detail, info, isRequired }) =>
          option(JSON.stringify(label), detail, info, {
            // The text has quotes; the displayed name needs none.
            displayLabel: label,
            apply: `${JSON.stringify(label)}${isNew ? `: ${valueStart(schema(), [...path, label])}` : ""}`,
            boost: isRequired === true ? 1 : 0,
          }),
        ),
        filter: true,
      }
    }
    if (
      !explicit &&
      word === undefined &&
      !/[:[,]\s?$/.test(state.sliceDoc(Math.max(0, pos - 2), pos))
    ) {
      return null
    }
    const path = valuePath(node, pos, read)
    if (path === undefined) return null
    const span = word ?? { from: pos, to: pos }
    const values = suggestValues(schema(), path)
    if (values.length === 0) return null
    return {
      from: span.from,
      to: span.to,
      options: values.map(({ label, text, detail }) =>
        option(label, detail, undefined, { apply: text }),
      ),
    }
  }
}

function option(
  label: string,
  detail: string | undefined,
  info: string | undefined,
  more: Partial<Completion>,
): Completion {
  return {
    label,
    ...(detail !== undefined && detail !== "" && { detail }),
    ...(info !== undefined && { info: info.slice(0, 300) }),
    ...more,
  }
}

/** The word or text that the cursor is in or behind. */
function wordAt(node: TreeNode, pos: number): Span | undefined {
  const isWord = ["String", "Number", "True", "False", "Null", "PropertyName"].includes(node.name)
  if (isWord && node.from < pos) return { from: node.from, to: node.to }
  return node.type.isError && node.from < node.to && node.to === pos ? node : undefined
}

/** The object whose property is being named here, and the typed part of the name. */
function propertyName(
  node: TreeNode,
  pos: number,
  read: ReadText,
): { readonly object: TreeNode; readonly span: Span } | undefined {
  if (node.name === "PropertyName") {
    const object = node.parent?.parent
    return object?.name === "Object" ? { object, span: node } : undefined
  }
  // Within an object, behind its bracket or a comma: a name comes next.
  const object = node.name === "Object" ? node : node.parent
  if (object?.name !== "Object") return undefined
  const before = read({ from: object.from, to: pos })
  const typed = /(?:[{,]\s*)("?[\w$-]*)$/.exec(before)?.[1]
  if (typed === undefined) return undefined
  return { object, span: { from: pos - typed.length, to: pos } }
}

/** The path of the value at this position, or of the one that could be entered here. */
function valuePath(
  node: TreeNode,
  pos: number,
  read: ReadText,
): readonly (string | number)[] | undefined {
  if (node.name === "Array" && node.from < pos) return [...pathOf(node, read), 0]
  if (node.parent?.name === "Array") return [...pathOf(node.parent, read), 0]
  if (node.name === "Object") return undefined
  return pathOf(node, read)
}
