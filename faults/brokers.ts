import { provideNats, provideRedis, startNats, startRedis } from "../test/support/brokers.ts"
import type { Broker } from "../test/support/brokers.ts"
import type { Engine } from "./engines.ts"

/** Starts a broker of a kind. */
export async function startBroker(engine: Engine): Promise<Broker> {
  return engine === "nats" ? await startNats() : await startRedis()
}

/** Whether there is one to start. */
export async function provideBroker(engine: Engine): Promise<boolean> {
  return engine === "nats" ? await provideNats() : await provideRedis()
}
