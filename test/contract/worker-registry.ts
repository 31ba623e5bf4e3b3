// Run in a thread of its own: serves what tests of the contract call.
import { parentPort, workerData } from "node:worker_threads"
import { PendingRequestMap, serveCalls } from "../../src/index.ts"
import { silentLogger } from "../../src/testing.ts"
import { createWorkerTransport } from "../../src/worker.ts"
import type { LinkOptions } from "./link.ts"
import { contractOperations, identityRule } from "./operations.ts"

if (parentPort === null) throw new Error("worker-registry.ts is run in a worker thread.")
const { rule, isTrusted } = workerData as LinkOptions
const transport = createWorkerTransport(parentPort, { isTrusted })
serveCalls(contractOperations().registry, {
  callMap: new PendingRequestMap(transport, { logger: silentLogger }),
  resolveIdentity: identityRule(rule),
})
