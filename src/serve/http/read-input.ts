import type { OperationSpec } from "../../core/types.ts"
import type { HTTPIncoming } from "../exchange.ts"
import { isJsonBody } from "../negotiate.ts"
import type { HTTPContext } from "./http-context.ts"

/** The input in the body of a request: JSON, a form with files, or one file. */
export async function readInput(
  context: HTTPContext,
  incoming: HTTPIncoming,
  spec: OperationSpec,
): Promise<unknown> {
  // A file of JSON has a disposition, and an input in JSON has none.
  if (isJsonBody(incoming) && incoming.header("content-disposition") === undefined) {
    return await context.readJSON(incoming, spec)
  }
  const { readUpload } = await import("./files/upload.ts")
  return await readUpload(context, incoming, spec)
}
