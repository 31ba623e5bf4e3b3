import { pick, readSelection, type Selection } from "../schema/read/select.ts"
import type { ResponseEnvelope } from "./envelope.ts"
import { invalid } from "./validation.ts"

/**
 * Checks the paths that a caller wants of a result against its schema; `undefined` for none. Throws `VALIDATION_ERROR`.
 */
export function selectionOf(
  operationId: string,
  outputSchema: unknown,
  paths: unknown,
): Selection | undefined {
  if (paths === undefined || paths === null) return undefined
  const read = readSelection(paths, outputSchema)
  if ("selection" in read) return read.selection
  throw invalid("VALIDATION_ERROR", `Input for "${operationId}"`, read.issues)
}

/** An envelope with the selected members of its data. */
export function selectData(
  envelope: ResponseEnvelope,
  selection: Selection | undefined,
): ResponseEnvelope {
  if (selection === undefined) return envelope
  return { ...envelope, data: pick(envelope.data, selection) }
}
