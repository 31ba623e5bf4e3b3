// #region worker
import { createClient } from "@alkdev/operations"
import { createWorkerTransport } from "@alkdev/operations/worker"
import type { registry } from "./worker.ts"

const worker = new Worker(new URL("./worker.ts", import.meta.url), { type: "module" })
const inWorker = createClient<typeof registry>(createWorkerTransport(worker, { terminate: true }))

document.title = (await inWorker.text.shout({ text: "hello" })).data
await inWorker.close()
// #endregion

// #region websocket
import { createWebSocketTransport } from "@alkdev/operations/websocket"

const online = createClient<typeof registry>(
  createWebSocketTransport("/calls", { token: () => sessionStorage.getItem("token") ?? "" }),
)

document.title = (await online.text.shout({ text: "hello" })).data
// #endregion
