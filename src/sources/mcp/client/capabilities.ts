import type { CallingClient } from "../../../core/calling-client.ts"
import { withoutUndefined } from "../../../internal/own.ts"
import type { JsonObject } from "../../../mcp/model.ts"
import type { ResolvedServer } from "../config.ts"

/** What a caller can answer that is not known to be an MCP client. */
const ANYTHING: JsonObject = { elicitation: { form: {}, url: {} }, sampling: {}, roots: {} }

/** The client capabilities that we declare: what is set up, and what callers, or this client as the caller, can answer. */
export function clientCapabilities(
  { forwardInput, elicitation, sampling, roots }: ResolvedServer,
  client?: CallingClient,
): JsonObject {
  const own = { elicitation, sampling, roots }
  const passedOn = forwardInput ? (client?.capabilities ?? ANYTHING) : {}
  return withoutUndefined(
    Object.fromEntries(
      Object.entries(own).map(([name, handler]) => [
        name,
        handler === undefined ? passedOn[name] : ANYTHING[name],
      ]),
    ),
  )
}
