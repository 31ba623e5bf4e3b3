// #region env
import { buildEnv, defineOperation, isCallError, OperationRegistry } from "@alkdev/operations"
import { setTimeout as sleep } from "node:timers/promises"
import { Type } from "@alkdev/operations/type"

const City = Type.Object({ city: Type.String() })

const weather = defineOperation({
  namespace: "weather",
  name: "now",
  type: "query",
  description: "Returns the weather in a city",
  inputSchema: City,
  outputSchema: Type.Object({ sky: Type.String() }),
  accessControl: { requiredScopes: [] },
  handler: ({ city }) => ({ sky: city === "Oslo" ? "snow" : "sun" }),
})

const registry = new OperationRegistry().register(weather).register({
  namespace: "trip",
  name: "pack",
  version: "1.0.0",
  type: "query",
  description: "Recommends what to pack",
  inputSchema: City,
  outputSchema: Type.Array(Type.String()),
  accessControl: { requiredScopes: [] },
  handler: async ({ city }, context) => {
    const { data } = await context.env.weather.now({ city })
    return data.sky === "snow" ? ["boots", "coat"] : ["hat"]
  },
})

const { data } = await registry.execute("trip.pack", { city: "Oslo" })
console.log(data)
// #endregion

// #region call
const briefing = defineOperation({
  namespace: "trip",
  name: "briefing",
  type: "query",
  description: "Calls the operation that its input names",
  inputSchema: Type.Object({ id: Type.String(), input: Type.Unknown() }),
  outputSchema: Type.Unknown(),
  accessControl: { requiredScopes: [] },
  handler: async ({ id, input }, context) => (await context.call(id, input)).data,
})

const open = registry.register(briefing)
console.log(
  (await open.execute("trip.briefing", { id: "weather.now", input: { city: "Rome" } })).data,
)
// #endregion

// #region buildEnv
const env = buildEnv({
  registry,
  context: { identity: { id: "ada", scopes: [] } },
  allowedNamespaces: ["weather"],
})
console.log((await env.weather.now({ city: "Oslo" })).data, Object.keys(env))
// #endregion

// #region stop
const slow = defineOperation({
  namespace: "weather",
  name: "forecast",
  type: "query",
  description: "Takes a long time",
  inputSchema: City,
  outputSchema: Type.String(),
  accessControl: { requiredScopes: [] },
  handler: async (_input, context) => {
    try {
      return await sleep(60_000, "rain", { signal: context.signal })
    } finally {
      console.log("the forecast stops thinking")
    }
  },
})

const patient = open.register(slow)
try {
  await patient.execute(
    "trip.briefing",
    { id: "weather.forecast", input: { city: "Rome" } },
    { deadline: Date.now() + 200 },
  )
} catch (error) {
  if (isCallError(error)) console.log(error.code, error.operationId)
}
// #endregion

// #region depth
// Typed as string: the registry does not know the operation yet while it is being registered.
const self: string = "trip.loop"
const loop = patient.register({
  namespace: "trip",
  name: "loop",
  version: "1.0.0",
  type: "query",
  description: "Calls itself",
  inputSchema: Type.Unknown(),
  outputSchema: Type.Unknown(),
  accessControl: { requiredScopes: [] },
  handler: async (_input, context) => await context.call(self),
})
await loop.execute("trip.loop").catch((error: Error) => console.log(error.message))
// #endregion
