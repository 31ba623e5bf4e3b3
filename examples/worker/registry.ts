import { CallError, createRegistry, defineOperation, serveCalls } from "@alkdev/operations"
import { createWorkerTransport } from "@alkdev/operations/worker"
import { setTimeout as sleep } from "node:timers/promises"
import { parentPort } from "node:worker_threads"
import { Type } from "@alkdev/operations/type"

const stopped: string[] = []

const fibonacci = defineOperation({
  type: "query",
  description: "Returns a Fibonacci number",
  inputSchema: Type.Object({ at: Type.Integer({ minimum: 0 }) }),
  outputSchema: Type.Integer(),
  errorSchemas: [
    {
      code: "TOO_LARGE",
      description: "The result is too large for an exact number",
      schema: Type.Object({ largest: Type.Integer() }),
    },
  ],
  accessControl: { requiredScopes: [] },
  handler: ({ at }) => {
    if (at > 78) {
      throw new CallError("TOO_LARGE", "Only the first 78 are exact.", { details: { largest: 78 } })
    }
    let [now, next] = [0, 1]
    for (let step = 0; step < at; step++) [now, next] = [next, now + next]
    return now
  },
})

const primes = defineOperation({
  type: "subscription",
  description: "Streams the prime numbers",
  inputSchema: Type.Object({}),
  outputSchema: Type.Integer(),
  accessControl: { requiredScopes: [] },
  async *handler() {
    try {
      const found: number[] = []
      for (let candidate = 2; ; candidate++) {
        if (found.some((prime) => candidate % prime === 0)) continue
        found.push(candidate)
        yield candidate
      }
    } finally {
      stopped.push("math.primes")
    }
  },
})

const ponder = defineOperation({
  type: "query",
  description: "Runs until it is aborted",
  inputSchema: Type.Object({}),
  outputSchema: Type.String(),
  accessControl: { requiredScopes: [] },
  handler: async (_input, context) => {
    try {
      return await sleep(60_000, "42", { signal: context.signal })
    } finally {
      stopped.push("math.ponder")
    }
  },
})

const log = defineOperation({
  type: "query",
  description: "Lists handlers that were stopped early",
  inputSchema: Type.Object({}),
  outputSchema: Type.Array(Type.String()),
  accessControl: { requiredScopes: [] },
  handler: () => sleep(20, stopped),
})

// #region serve
export const registry = createRegistry(
  {
    math: { fibonacci, primes, ponder },
    thread: { stopped: log },
  },
  { output: "strict" },
)

if (parentPort !== null) serveCalls(registry, { transport: createWorkerTransport(parentPort) })
// #endregion
