// Run by test/e2e/leaks.process.test.ts in a process of its own, with gc exposed. Prints one JSON value.
import { Type } from "typebox"
import { createRegistry, defineOperation, OperationRegistry } from "../../src/index.ts"
import { silentLogger } from "../../src/testing.ts"
import type { CallError } from "../../src/index.ts"

const gc = globalThis.gc as () => void

const echo = defineOperation({
  namespace: "leak",
  name: "echo",
  type: "query",
  description: "Gives back what it is given",
  inputSchema: Type.Object({ n: Type.Number() }),
  outputSchema: Type.Object({ n: Type.Number() }),
  accessControl: { requiredScopes: [] },
  handler: async (input) => input,
})

const nested = defineOperation({
  namespace: "leak",
  name: "nested",
  type: "query",
  description: "Calls another",
  inputSchema: Type.Object({ n: Type.Number() }),
  outputSchema: Type.Unknown(),
  accessControl: { requiredScopes: [] },
  handler: async (input, context) => (await context.call("leak.echo", input)).data,
})

const hang = defineOperation({
  namespace: "leak",
  name: "hang",
  type: "mutation",
  description: "Waits until it is told to stop",
  inputSchema: Type.Unknown(),
  outputSchema: Type.Unknown(),
  accessControl: { requiredScopes: [] },
  handler: (_input, context) =>
    new Promise((_resolve, reject) => {
      context.signal.addEventListener("abort", () => reject(context.signal.reason as Error))
    }),
})

const ticks = defineOperation({
  namespace: "leak",
  name: "ticks",
  type: "subscription",
  description: "Counts for ever",
  inputSchema: Type.Unknown(),
  outputSchema: Type.Number(),
  accessControl: { requiredScopes: [] },
  async *handler(_input, context) {
    context.signal.addEventListener("abort", () => undefined)
    for (let n = 0; ; n++) yield n
  },
})

const registry = createRegistry([echo, nested, hang, ticks], { logger: silentLogger })
const shared = new AbortController()
let listeners = 0
const { signal } = shared
for (const [name, step] of [
  ["addEventListener", 1],
  ["removeEventListener", -1],
] as const) {
  const original = signal[name].bind(signal) as (...args: unknown[]) => void
  Object.defineProperty(signal, name, {
    value: (...args: unknown[]) => {
      listeners += step
      original(...args)
    },
  })
}

async function calls(count: number): Promise<void> {
  for (let n = 0; n < count; n += 100) {
    await Promise.all(
      Array.from({ length: 100 }, (_, at) =>
        at % 10 === 0
          ? registry.execute("leak.nested", { n: at }, { signal, deadline: Date.now() + 60_000 })
          : registry.execute("leak.echo", { n: at }, at % 3 === 0 ? { signal } : undefined),
      ),
    )
  }
}

async function aborts(count: number): Promise<number> {
  let codes = 0
  for (let n = 0; n < count; n += 100) {
    const controllers = Array.from({ length: 100 }, () => new AbortController())
    const running = controllers.map(async (controller, at) => {
      const options = at % 2 === 0 ? { signal: controller.signal } : { deadline: Date.now() + 1 }
      try {
        await registry.execute("leak.hang", {}, options)
      } catch (error) {
        if (["ABORTED", "TIMEOUT"].includes((error as CallError).code)) codes++
      }
    })
    for (const controller of controllers) controller.abort()
    await Promise.all(running)
  }
  return codes
}

async function streams(count: number): Promise<void> {
  for (let n = 0; n < count; n++) {
    for await (const item of registry.subscribe("leak.ticks", {}, { signal }))
      if (item.data === 3) break
  }
}

async function abandoned(count: number): Promise<void> {
  for (let n = 0; n < count; n++) await registry.subscribe("leak.ticks").next()
}

async function settled(): Promise<number> {
  for (let round = 0; round < 5; round++) {
    await new Promise((resolve) => setTimeout(resolve, 20))
    gc()
  }
  return process.memoryUsage().heapUsed
}

// Warm everything up first: compiled schemas and optimised code are not leaks.
await calls(5000)
await aborts(500)
await streams(100)
await abandoned(100)
const resources = process.getActiveResourcesInfo().length
const before = await settled()
await calls(100_000)
const aborted = await aborts(10_000)
await streams(1000)
await abandoned(1000)
const after = await settled()
const left = process.getActiveResourcesInfo().length
await registry.close()

// A registry that is dropped takes everything with it.
const dropped: WeakRef<OperationRegistry>[] = []
for (let n = 0; n < 20; n++) {
  const short = new OperationRegistry({ logger: silentLogger })
  short.registerAll([echo])
  await short.execute("leak.echo", { n })
  dropped.push(new WeakRef(short))
}
await settled()

process.stdout.write(
  JSON.stringify({
    grownKilobytes: Math.round((after - before) / 1024),
    resources: left - resources,
    listeners,
    aborted,
    registriesAlive: dropped.filter((reference) => reference.deref() !== undefined).length,
  }),
)
