import type { PreparedRequest, RequestPlan } from "../model.ts"
import type { AppliedAuth } from "./applied-auth.ts"
import { writeBody } from "./body.ts"
import { labelledType, writeHeaders } from "./headers.ts"
import { fillPath, joinUrl } from "./path.ts"
import { writeQuery } from "./query.ts"

/** What is needed beside an operation and its input. */
export interface BuildOptions {
  /** Absolute URL of the chosen server. */
  readonly base: string
  /** The user's choice among the declared content types. */
  readonly contentType?: string | undefined
  /** The user's fixed headers. */
  readonly headers?: Readonly<Record<string, string>> | undefined
  readonly auth?: AppliedAuth | undefined
}

/**
 * Writes the request of an operation, byte by byte as the document asks for.
 *
 * Throws `VALIDATION_ERROR` for an input that cannot be sent. The URL is below `base`, whatever the
 * document or the input say.
 */
export function buildRequest(
  plan: RequestPlan,
  input: Readonly<Record<string, unknown>>,
  options: BuildOptions,
): PreparedRequest {
  const filled = fillPath(plan, input)
  const query = writeQuery(plan, input, filled, options.auth)
  const url = joinUrl(plan.id, options.base, filled.path, query)
  const label = labelledType(plan, input)
  const { body, contentType } = writeBody(plan, input, options.contentType, label)
  const headers = writeHeaders(plan, {
    input,
    contentType,
    hasBody: body !== undefined,
    fixed: options.headers,
    auth: options.auth,
  })
  return { method: plan.method, url, headers, body }
}
