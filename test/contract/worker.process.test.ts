import { fileURLToPath } from "node:url"
import { Worker } from "node:worker_threads"
import { build } from "esbuild"
import { PendingRequestMap } from "../../src/index.ts"
import { silentLogger } from "../../src/testing.ts"
import { createWorkerTransport } from "../../src/worker.ts"
import { testTransport } from "./transport.ts"

// Threads do not share the loader of the tests: what they run is put together once, for all of them.
const { outputFiles } = await build({
  entryPoints: [fileURLToPath(new URL("worker-registry.ts", import.meta.url))],
  bundle: true,
  platform: "node",
  format: "cjs",
  write: false,
})
const script = outputFiles[0]?.text ?? ""

testTransport("a real worker thread", async (options) => {
  const worker = new Worker(script, { eval: true, workerData: options })
  const map = new PendingRequestMap(createWorkerTransport(worker), { logger: silentLogger })
  // A thread takes its time to start: what is timed begins afterwards.
  await map.call("demo.nothing")
  return {
    map,
    countsClaims: options.isTrusted,
    lose: async () => void (await worker.terminate()),
    close: async () => {
      await map.close()
      await worker.terminate()
    },
  }
})
