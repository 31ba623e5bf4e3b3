// The entry `@alkdev/operations/worker`: calls between threads.

export { createWorkerTransport } from "./transport/worker.ts"
export type { PortLike, WorkerTransport, WorkerTransportOptions } from "./transport/worker.ts"
