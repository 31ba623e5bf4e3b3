import { provideNats, provideRedis, startNats, startRedis } from "../test/support/brokers.ts"
import type { Broker } from "../test/support/brokers.ts"
import type { Engine } from "./engines.ts"

/** What a broker is started with. */
export interface StartOptions {
  /** The one that it asks for; it lets anybody in when left out. */
  readonly password?: string | undefined
  readonly port?: number | undefined
}

/** Starts a broker of a kind. */
export async function startBroker(engine: Engine, options: StartOptions = {}): Promise<Broker> {
  const { password, port } = options
  if (engine === "nats") {
    const config = `authorization { user: "lab", password: "${password}" }\n`
    return await startNats({ port, config: password === undefined ? "" : config })
  }
  const config = `requirepass ${password}\n`
  return await startRedis({ port, config: password === undefined ? "" : config })
}

/** Whether there is one to start. */
export async function provideBroker(engine: Engine): Promise<boolean> {
  return engine === "nats" ? await provideNats() : await provideRedis()
}
