// #region worker
import { serveCalls } from "@alkdev/operations"
import { createNatsTransport } from "@alkdev/operations/nats"
import { createShop } from "./shop.ts"

const { NATS_URL = "nats://127.0.0.1:4222", WORKER = "worker", JOURNAL = "journal" } = process.env

const transport = createNatsTransport({ servers: NATS_URL })
const registry = createShop(WORKER, JOURNAL)
const server = serveCalls(registry, { transport, maxInFlight: 256 })

// Accepts no new calls and finishes running ones; then nothing keeps the process alive.
process.once("SIGTERM", () => void server.drain({ grace: 10_000 }))
// #endregion

await transport.whenConnected()
process.send?.("ready")
