import { CallError, createRegistry, defineOperation } from "@alkdev/operations"
import { createManualClock } from "@alkdev/operations/testing"
import { Type } from "@alkdev/operations/type"

const clock = createManualClock()
let isUp = false
let requests = 0

// #region first
const registry = createRegistry(
  {
    weather: {
      now: defineOperation({
        type: "query",
        description: "Returns the weather in a city",
        inputSchema: Type.Object({ city: Type.String() }),
        outputSchema: Type.String(),
        accessControl: { requiredScopes: [] },
        resilience: {
          retry: { attempts: 3, delay: 0, maxRetryAfter: 1_000 },
          breaker: { minimumCalls: 5, openMs: 5_000 },
          cache: { ttl: 60_000, staleIfError: 3_600_000 },
        },
        handler: async ({ city }) => {
          requests++
          if (!isUp) throw new CallError("UNAVAILABLE", "The station does not answer.")
          return `Rain in ${city}`
        },
      }),
    },
  },
  { clock, output: "strict" },
)
// #endregion first

async function ask(): Promise<void> {
  const before = requests
  try {
    const { data, meta } = await registry.execute("weather.now", { city: "Oslo" })
    console.log(`${data} (cache: ${meta.cache?.state ?? "no"}, requests: ${requests - before})`)
  } catch (error) {
    const { code, attempts, retryAfterMs } = error as CallError
    console.log({ code, attempts, retryAfterMs, requests: requests - before })
  }
}

// #region calls
await ask() // three attempts
await ask() // two more, which open the circuit
await ask() // rejected without a request
isUp = true
await clock.advance(5_000)
await ask() // a probe
await ask() // from the cache
isUp = false
await clock.advance(60_000)
await ask() // an old result instead of an error
// #endregion calls

await registry.close()
