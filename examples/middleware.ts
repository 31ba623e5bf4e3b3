import {
  CallError,
  createRegistry,
  defineContextValue,
  defineOperation,
  localEnvelope,
} from "@alkdev/operations"
import type { Middleware, MiddlewareFunction } from "@alkdev/operations"
import { Type } from "@alkdev/operations/type"

// #region first
const tenant = defineContextValue<string>("tenant")

const add = defineOperation({
  type: "mutation",
  description: "Adds a note",
  inputSchema: Type.Object({ text: Type.String() }),
  outputSchema: Type.String(),
  accessControl: { requiredScopes: ["notes"] },
  handler: ({ text }, context) => `${tenant.read(context)}: ${text}`,
})

const registry = createRegistry({ note: { add } }, { output: "strict" })

const remove = registry.use(async function audit(call, next) {
  const envelope = await next()
  console.log(`${call.identity?.id} called ${call.operationId}`)
  return envelope
})
// #endregion first

// #region tenancy
const tenants: Readonly<Record<string, string>> = { ada: "acme" }

const tenancy: MiddlewareFunction = (call, next) => {
  const own = tenants[call.identity?.id ?? ""]
  if (own === undefined) {
    throw new CallError("ACCESS_DENIED", `"${call.operationId}" needs a tenant.`)
  }
  return next({ metadata: tenant.provide(own) })
}
registry.use(tenancy, { match: "note.*" })
// #endregion tenancy

// #region calls
const ada = { id: "ada", scopes: ["notes"] }
console.log((await registry.execute("note.add", { text: "Milk" }, { identity: ada })).data)

const eve = { id: "eve", scopes: [] }
await registry.execute("note.add", { text: "Milk" }, { identity: eve }).catch(print)
// #endregion calls
remove()

// #region timing
const timing: Middleware = {
  // Runs once for each operation. Without a middleware, an operation has no overhead.
  for(spec) {
    if (spec.type !== "query") return undefined
    let calls = 0
    let total = 0
    return async (call, next) => {
      const started = performance.now()
      try {
        return await next()
      } finally {
        total += performance.now() - started
        if (++calls % 1000 === 0) call.log.info("Mean time", { id: call.operationId, total, calls })
      }
    }
  },
}
registry.use(timing)
// #endregion timing

// #region errors
registry.use(
  async function onHoliday(call, next) {
    try {
      // Two attempts of one second each, within the deadline of the call.
      return await next({ timeout: 1000 }).catch(() => next({ timeout: 1000 }))
    } catch (error) {
      if (call.isIdempotent) return localEnvelope([], call.operationId)
      throw new CallError("CLOSED", "The shop is closed.", { cause: error, retryable: false })
    }
  },
  { match: "shop.*" },
)

registry.register({
  namespace: "shop",
  name: "orders",
  version: "1.0.0",
  type: "query",
  description: "Lists orders",
  inputSchema: Type.Object({}),
  outputSchema: Type.Array(Type.String()),
  accessControl: { requiredScopes: [] },
  handler: (_input, { attempt }) => {
    console.log(`attempt ${attempt}`)
    throw new Error("no database")
  },
})
const orders: string = "shop.orders"
console.log(await registry.execute(orders, {}).then(({ data }) => data))
// #endregion errors

// #region stream
registry.register({
  namespace: "shop",
  name: "visits",
  version: "1.0.0",
  type: "subscription",
  description: "Reports visitors",
  inputSchema: Type.Object({}),
  outputSchema: Type.String(),
  accessControl: { requiredScopes: [] },
  use: [
    {
      async *stream(_call, next) {
        for await (const item of next()) {
          if (item.data !== "robot") yield item
        }
      },
    },
  ],
  async *handler() {
    yield "Ada"
    yield "robot"
    yield "Grace"
  },
})
const visits: string = "shop.visits"
for await (const { data } of registry.subscribe(visits, {})) console.log(data)
// #endregion stream

await registry.close()

function print(error: unknown): void {
  console.log(String(error))
}
