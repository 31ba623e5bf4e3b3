import { mayHaveFiles } from "../../schema/mentions.ts"
import { isObject } from "../../internal/guards.ts"
import type { OperationSpec } from "../../core/types.ts"

/** An input whose base64 text is converted to the files that it stands for, by code that is loaded with the first. */
export function decodeInput({ inputSchema }: OperationSpec, input: unknown): unknown {
  if (!isObject(inputSchema) || !mayHaveFiles(inputSchema)) return input
  return import("../../core/decode-files.ts").then(({ decodeFiles }) =>
    decodeFiles(inputSchema, input),
  )
}
