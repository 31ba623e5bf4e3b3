// A thread of protocol-leak-run.ts: serves the registry, and calls its maker where it is asked to.
import { parentPort, workerData } from "node:worker_threads"
import type { MessagePort } from "node:worker_threads"
import { PendingRequestMap, serveCalls } from "../../src/index.ts"
import { createWorkerTransport } from "../../src/worker.ts"
import { createLeakRegistry } from "./leak-operations.ts"

const callMap = new PendingRequestMap(createWorkerTransport(parentPort as MessagePort))
serveCalls(createLeakRegistry().registry, { callMap })
// A thread that is ended keeps nothing of what it compiled for the next.
if (workerData === "ends") process.exit()
if (workerData === "calls back") {
  // Never answered: the thread is ended while it waits.
  callMap.call("leak.hang", {}).catch(() => undefined)
  for await (const _item of callMap.subscribe("leak.drip", {})) continue
}
