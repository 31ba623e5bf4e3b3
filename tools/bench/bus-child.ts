/**
 * One end of a contender in a separate process: `bus-child.ts <worker|caller> <contender> <url>`.
 *
 * Sends the address to connect to first, and then answers requests.
 */
import assert from "node:assert/strict"
import { cpuSoFar, weigh } from "./asked-child.ts"
import { INPUTS, quote, quoteInputs } from "./cases.ts"
import type { QuoteInput } from "./cases.ts"
import { loadBusContender } from "./contenders/bus.ts"
import type { BusClient, BusName } from "./contenders/bus.ts"
import { laneLoop, spreadOf } from "./measure.ts"

/** Requests to either end; the response is a number, a weight, or the reason why there is none. */
export type BusQuestion =
  | "cpu"
  | "weigh"
  /** Whether it does the work. */
  | "verify"
  | { readonly kind: "calls"; readonly count: number; readonly lanes: number }
  /** The median wall time of sequential calls, in microseconds. */
  | { readonly kind: "latency"; readonly count: number }
  /** Starts a stream. */
  | { readonly kind: "open"; readonly count: number }
  /** Reads some items of it. */
  | { readonly kind: "read"; readonly items: number }

const [role = "", name = "", url = ""] = process.argv.slice(2)
const contender = await loadBusContender(name as BusName)
let client: BusClient | undefined
let address = url
if (role === "worker") address = (await contender.serve(url)) ?? url
else client = await contender.connect(url)

const loops = new Map<number, (count: number) => Promise<void>>()
let stream: AsyncIterator<unknown> | undefined

// The parent process is gone.
process.on("disconnect", () => process.exit())
process.on("message", (question: BusQuestion) => {
  answer(question).then(
    (value) => process.send?.(value),
    (error: unknown) => process.send?.(String(error)),
  )
})
process.send?.(address)

async function answer(question: BusQuestion): Promise<unknown> {
  if (question === "cpu") return cpuSoFar()
  if (question === "weigh") return weigh()
  if (client === undefined) throw new TypeError("A worker is not asked for calls.")
  if (question === "verify") return await verify(client)
  switch (question.kind) {
    case "calls":
      await loopOf(client, question.lanes)(question.count)
      return question.count
    case "latency":
      return await latency(client, question.count)
    case "open":
      stream = client.open?.(question.count)[Symbol.asyncIterator]()
      return stream === undefined ? "It has no streams." : 0
    case "read":
      return await read(question.items)
  }
}

function loopOf({ call }: BusClient, lanes: number): (count: number) => Promise<void> {
  let loop = loops.get(lanes)
  if (loop === undefined) loops.set(lanes, (loop = laneLoop(name, call, quoteInputs, lanes)))
  return loop
}

async function latency({ call }: BusClient, count: number): Promise<number> {
  const times: number[] = []
  for (let index = 0; index < count; index++) {
    const start = performance.now()
    await call(quoteInputs[index & (INPUTS - 1)] as QuoteInput)
    times.push((performance.now() - start) * 1000)
  }
  return spreadOf(times).median
}

async function read(items: number): Promise<number> {
  for (let seen = 0; seen < items; seen++) {
    if ((await stream?.next())?.done !== false) return seen
  }
  return items
}

async function verify({ call, data }: BusClient): Promise<"verified"> {
  for (const input of quoteInputs) assert.deepEqual(data(await call(input)), await quote(input))
  const wrong = { ...(quoteInputs[0] as QuoteInput), quantity: 0 }
  await assert.rejects(call(wrong), `${name} must refuse an invalid input`)
  return "verified"
}
