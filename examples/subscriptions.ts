// #region stream
import { createRegistry, defineOperation, isCallError } from "@alkdev/operations"
import { setTimeout as sleep } from "node:timers/promises"
import { Type } from "@alkdev/operations/type"

const ticks = defineOperation({
  type: "subscription",
  description: "Counts up forever",
  inputSchema: Type.Object({ every: Type.Optional(Type.Integer({ default: 1 })) }),
  outputSchema: Type.Object({ count: Type.Integer() }),
  accessControl: { requiredScopes: [] },
  async *handler({ every = 1 }, context) {
    try {
      for (let count = 1; ; count++) {
        yield { count }
        await sleep(every, undefined, { signal: context.signal })
      }
    } finally {
      console.log("stopped, aborted:", context.signal.aborted)
    }
  },
})

const registry = createRegistry({ clock: { ticks } }, { output: "strict" })

for await (const { data, meta } of registry.subscribe("clock.ticks", {})) {
  console.log(data.count, meta.source)
  if (data.count === 3) break
}
// #endregion

// #region deadline
try {
  const stream = registry.subscribe(
    "clock.ticks",
    { every: 60_000 },
    { deadline: Date.now() + 200 },
  )
  for await (const { data } of stream) console.log(data.count)
} catch (error) {
  if (isCallError(error)) console.log(error.code)
}
// #endregion
