// #region call
import { createClient, isCallError } from "@alkdev/operations"
import { createWorkerTransport } from "@alkdev/operations/worker"
import { Worker } from "node:worker_threads"
import type { registry } from "./worker/registry.ts"

const worker = new Worker(new URL("./worker/start.mjs", import.meta.url))
const client = createClient<typeof registry>(createWorkerTransport(worker))

const { data, meta } = await client.math.fibonacci({ at: 50 })
console.log(data, meta.source)
// #endregion

// #region stream
for await (const { data: prime } of client.math.primes({})) {
  console.log("prime", prime)
  if (prime > 5) break
}
// #endregion

// #region error
try {
  await client.math.fibonacci({ at: 100 })
} catch (error) {
  if (isCallError(error)) console.log(error.code, error.details)
}
// #endregion

// #region cancel
const thinking = client.math.ponder({})
thinking.abort("no longer needed")
await thinking.catch((error: Error) => console.log(error.message))

const limited = client.math.ponder({}, { timeout: 100 })
await limited.catch((error: unknown) => console.log(isCallError(error) && error.code))

console.log("stopped:", (await client.thread.stopped({})).data)
// #endregion

// #region loss
const lost = client.math.ponder({})
setTimeout(() => void worker.terminate(), 50)
await lost.catch((error: unknown) => {
  if (isCallError(error)) console.log(error.code, error.mayHaveExecuted)
})
await client.close()
// #endregion
