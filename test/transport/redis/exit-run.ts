/** Calls over Redis, closes everything, and says what is left: takes the URL of the broker. */
import { greet } from "../../support/operations.ts"
import { startCaller, startWorker } from "./calls.ts"

const [, , url = ""] = process.argv
const resources = (): string[] =>
  process
    .getActiveResourcesInfo()
    .filter((name) => /Timeout|TCP/.test(name))
    .toSorted()
const before = resources()
const worker = startWorker([greet], { url })
const caller = startCaller({ url })
const answers = await Promise.all(
  Array.from({ length: 100 }, () => caller.map.call("demo.greet", { name: "Ada" })),
)
// One that nobody closes in time, and one for which there is no server.
const early = startCaller({ url })
const absent = startCaller({ url: "redis://127.0.0.1:1" })
const held = absent.map.call("demo.greet", { name: "Ada" }).then(
  () => "answered",
  (error: unknown) => (error as { code: string }).code,
)
await early[Symbol.asyncDispose]()
await new Promise((resolve) => setTimeout(resolve, 300))
await absent[Symbol.asyncDispose]()
await caller[Symbol.asyncDispose]()
await worker[Symbol.asyncDispose]()
// Sockets and timers that are closed are gone a turn later.
await new Promise((resolve) => setTimeout(resolve, 50))
process.stdout.write(
  JSON.stringify({ answers: answers.length, held: await held, before, after: resources() }),
)
