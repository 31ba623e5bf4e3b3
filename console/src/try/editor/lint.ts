import type { Diagnostic } from "@codemirror/lint"
import type { EditorState } from "@codemirror/state"
import type { InputCheck } from "../schema/issues.ts"
import { readJson } from "./read-json.ts"
import { firstError, spanAt, treeOf } from "./tree.ts"

/** What is wrong with the text, where it stands. */
export function diagnose(state: EditorState, check: InputCheck): readonly Diagnostic[] {
  const text = state.doc.toString()
  const tree = treeOf(state, text.length)
  const read = readJson(text)
  if (!read.ok) {
    const at = firstError(tree) ?? { from: text.length, to: text.length }
    return [{ ...visible(at, text.length), severity: "error", message: read.reason }]
  }
  return check(read.value).map(({ path, pointer, message }) => ({
    ...visible(
      spanAt(tree, path, ({ from, to }) => state.sliceDoc(from, to)),
      text.length,
    ),
    severity: "warning",
    message: `${pointer === "" ? "The input" : pointer} ${message}`,
  }))
}

/** An empty place would not be seen. */
function visible(
  { from, to }: { readonly from: number; readonly to: number },
  length: number,
): { readonly from: number; readonly to: number } {
  if (from < to) return { from, to }
  return from > 0 ? { from: from - 1, to: from } : { from, to: Math.min(1, length) }
}
