import { parseJson } from "../../ui/json-text.ts"

/** Parses JSON text: its value, or why it is invalid. Empty text means no input. */
export function readJson(
  text: string,
):
  | { readonly ok: true; readonly value: unknown }
  | { readonly ok: false; readonly reason: string } {
  if (text.trim() === "") return { ok: true, value: undefined }
  try {
    return { ok: true, value: parseJson(text) }
  } catch (thrown) {
    return { ok: false, reason: thrown instanceof Error ? thrown.message : "It cannot be read." }
  }
}
