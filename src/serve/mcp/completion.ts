import { isRecord } from "../../internal/guards.ts"
import { INVALID_PARAMS } from "../../mcp/errors.ts"
import type { JsonObject } from "../../mcp/model.ts"
import type { CompletedArgument } from "../../tools/completion.ts"
import { ProtocolError } from "../../tools/model.ts"

/** A valid request for completion. */
export interface CompletionRequest extends CompletedArgument {
  readonly type: "ref/prompt" | "ref/resource"
  /** The name of the prompt, or the address of the resource. */
  readonly subject: string
}

/** Reads the parameters of `completion/complete`. Throws a `ProtocolError`. */
export function readCompletion(params: JsonObject | undefined): CompletionRequest {
  const { ref, argument, context } = params ?? {}
  const { type, name, uri } = isRecord(ref) ? ref : {}
  const subject = type === "ref/prompt" ? name : uri
  const isRef = (type === "ref/prompt" || type === "ref/resource") && typeof subject === "string"
  const { name: key, value } = isRecord(argument) ? argument : {}
  if (isRef && typeof key === "string" && typeof value === "string") {
    return {
      type,
      subject,
      argument: { name: key, value },
      context: isRecord(context) ? context : undefined,
    }
  }
  throw new ProtocolError(
    INVALID_PARAMS,
    "completion/complete needs params.ref, of a prompt or a resource, and params.argument with name and value.",
  )
}
