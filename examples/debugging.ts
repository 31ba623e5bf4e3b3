// #region serve
import { createRegistry, defineOperation } from "@alkdev/operations"
import { silentLogger } from "@alkdev/operations/testing"
import type { Logger } from "@alkdev/operations"
import { serveHTTP } from "@alkdev/operations/node"
import { Type } from "@alkdev/operations/type"

const total = defineOperation({
  type: "query",
  description: "Adds up a cart",
  inputSchema: Type.Object({ cart: Type.String() }),
  outputSchema: Type.Number(),
  accessControl: { requiredScopes: [] },
  handler: ({ cart }) => {
    throw new Error(`No route to db-7.internal for cart ${cart}`)
  },
})

const logger: Logger = {
  debug: () => {},
  info: () => {},
  warn: (message, fields) => console.log("warn ", message, fields),
  error: (message, fields) => console.log("error", message, shorter(fields)),
}
const registry = createRegistry({ cart: { total } }, { logger, output: "strict" })
await using api = await serveHTTP(registry, { port: 0, websocket: false })
// #endregion

// #region call
const response = await fetch(`${api.url}/api/cart/total`, {
  method: "POST",
  headers: { "content-type": "application/json", "request-id": "order-17" },
  body: JSON.stringify({ cart: "c-1" }),
})
const problem = await response.json()
console.log("caller", problem.code, problem.detail, problem.requestId)
// #endregion

// #region onError
const watched = createRegistry(
  { cart: { total } },
  {
    output: "strict",
    onError(error, { operationId, requestId, identity }) {
      console.log("report", operationId, requestId, identity?.id, String(error.cause))
    },
  },
)
const identity = { id: "ada", scopes: [] }
await watched
  .execute("cart.total", { cart: "c-2" }, { requestId: "order-18", identity })
  .catch((error: Error) => console.log("caller", error.message))
// #endregion

// #region onCall
const stop = registry.onCall((trace) => {
  if (trace.phase === "end")
    console.log("trace ", trace.operationId, trace.outcome, trace.error?.code)
})
await registry.execute("cart.total", { cart: "c-3" }).catch(() => undefined)
stop()
// #endregion

// #region expose
await using open = await serveHTTP(registry, {
  port: 0,
  websocket: false,
  errors: "expose",
  logger: silentLogger,
})
const exposed = await fetch(`${open.url}/api/cart/total?cart=c-4`)
console.log("caller", (await exposed.json()).detail)
// #endregion

/** Shortens stacks, which contain paths of this machine. */
function shorter(fields: Readonly<Record<string, unknown>> = {}): unknown {
  return { ...fields, stack: String(fields["stack"]).split("\n")[0] }
}
