// #region call
import {
  buildCallHandler,
  createClient,
  createRegistry,
  defineOperation,
  isCallError,
  PendingRequestMap,
  serveCalls,
  type Identity,
} from "@alkdev/operations"
import { createMemoryTransports } from "@alkdev/operations/testing"
import { setTimeout as sleep } from "node:timers/promises"
import { Type } from "@alkdev/operations/type"

const create = defineOperation({
  type: "mutation",
  description: "Creates a task",
  inputSchema: Type.Object({ title: Type.String({ minLength: 1 }) }),
  outputSchema: Type.Object({ id: Type.Integer(), title: Type.String() }),
  accessControl: { requiredScopes: [] },
  handler: ({ title }) => ({ id: 1, title }),
})

const ticks = defineOperation({
  type: "subscription",
  description: "Counts up forever",
  inputSchema: Type.Object({ every: Type.Integer() }),
  outputSchema: Type.Object({ count: Type.Integer() }),
  accessControl: { requiredScopes: [] },
  async *handler({ every }, context) {
    try {
      for (let count = 1; ; count++) {
        yield { count }
        await sleep(every, undefined, { signal: context.signal })
      }
    } finally {
      console.log("  the handler stops")
    }
  },
})

const registry = createRegistry({ task: { create }, clock: { ticks } }, { output: "strict" })
const [here, there] = createMemoryTransports()

const server = serveCalls(registry, { transport: there })
const client = createClient<typeof registry>(here)

const { data, meta } = await client.task.create({ title: "Buy milk" })
console.log(data, meta.source)
// #endregion

// #region errors
try {
  await client.task.create({ title: "" })
} catch (error) {
  if (isCallError(error)) console.log(error.code, error.message)
}
// #endregion

// #region stream
for await (const { data: tick } of client.clock.ticks({ every: 1 })) {
  console.log("tick", tick.count)
  if (tick.count === 3) break
}
// #endregion

// #region cancel
const outcome = (error: unknown): void => {
  if (isCallError(error)) console.log(error.code)
}

const leaving = new AbortController()
const stream = client.clock.ticks({ every: 60_000 }, { signal: leaving.signal })
await stream.next()
leaving.abort()
await stream.next().catch(outcome)

const silent = client.clock.ticks({ every: 60_000 }, { idleTimeout: 50 })
await silent.next()
await silent.next().catch(outcome)

const late = client.clock.ticks({ every: 60_000 }, { timeout: 50 })
await late.next()
await late.next().catch(outcome)
// #endregion

await client.close()
await server.close()

// #region questions
const clear = defineOperation({
  type: "mutation",
  description: "Deletes all tasks, if the caller is sure",
  inputSchema: Type.Object({}),
  outputSchema: Type.String(),
  accessControl: { requiredScopes: [] },
  handler: async (_input, { requestInput }) => {
    const schema = Type.Object({ sure: Type.Boolean() })
    const { action, content } = await requestInput({ message: "Delete 3 tasks?", schema })
    return action === "accept" ? `deleted, ${JSON.stringify(content)}` : "kept"
  },
})

const asking = createRegistry({ task: { clear } }, { output: "strict" })
const [person, desk] = createMemoryTransports()
const asked = serveCalls(asking, { transport: desk })
const answering = createClient<typeof asking>(person)
const answer = await answering.task.clear(
  {},
  {
    timeout: 600_000,
    requestInput: async (request) => {
      console.log("message" in request ? request.message : request.type)
      return { action: "accept", content: { sure: true } }
    },
  },
)
console.log(answer.data)
await answering.task.clear({}).catch((error: unknown) => {
  if (isCallError(error)) console.log(error.code, error.details)
})
await answering.close()
await asked.close()
// #endregion

// #region events
const target = new EventTarget()
for (const type of ["call.requested", "call.responded", "call.credit", "call.aborted"]) {
  target.addEventListener(type, (event) => {
    const { seq, credit } = (event as CustomEvent<{ seq?: number; credit?: number }>).detail
    console.log([type, seq ?? credit].join(" ").trimEnd())
  })
}

const listening = serveCalls(registry, { transport: target })
const caller = new PendingRequestMap(target)
for await (const item of caller.subscribe("clock.ticks", { every: 1 }, { window: 2 })) {
  console.log("  item", item.data)
  break
}
await caller.close()
await listening.close()
// #endregion

// #region identity
const whoami = defineOperation({
  type: "query",
  description: "Returns the id of the caller",
  inputSchema: Type.Unknown(),
  outputSchema: Type.String(),
  accessControl: { requiredScopes: ["session.read"] },
  handler: (_input, context) => context.identity?.id ?? "anonymous",
})

const sessions = new Map<string, Identity>([["s-1", { id: "ada", scopes: ["session.read"] }]])
const [browser, host] = createMemoryTransports()
const guarded = serveCalls(createRegistry({ session: { whoami } }, { output: "strict" }), {
  transport: host,
  resolveIdentity: ({ metadata }) => {
    const found = sessions.get(String(metadata?.["session"]))
    if (found === undefined) throw new Error("no such session")
    return found
  },
})

const calls = new PendingRequestMap(browser)
const forged = { identity: { id: "root", scopes: ["session.read"] } }
console.log(
  (await calls.call("session.whoami", null, { ...forged, metadata: { session: "s-1" } })).data,
)
await calls.call("session.whoami", null, forged).catch((error: Error) => console.log(error.message))
await calls.close()
await guarded.close()
// #endregion

// #region byHand
const bus = new EventTarget()
const callMap = new PendingRequestMap(bus)
const handle = buildCallHandler({ registry, callMap, maxInFlight: 100 })
bus.addEventListener("call.requested", (event) => void handle(event))

const pending = callMap.call("task.create", { title: "Buy bread" })
console.log(callMap.getPendingCount(), (await pending).data)
await callMap.close()
// #endregion
