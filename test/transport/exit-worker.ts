// Serves a registry to the thread that started it, for exit-run.ts.
import { parentPort } from "node:worker_threads"
import { serveCalls } from "../../src/protocol/server/serve.ts"
import { createWorkerTransport } from "../../src/worker.ts"
import type { PortLike } from "../../src/worker.ts"
import { count, greet, quietRegistry } from "../support/operations.ts"

serveCalls(quietRegistry([greet, count]), {
  transport: createWorkerTransport(parentPort as PortLike),
})
