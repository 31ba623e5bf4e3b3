import { provideNats, provideRedis, startNats, startRedis } from "../../test/support/brokers.ts"
import type { Broker } from "../../test/support/brokers.ts"
import type { Engine } from "./engines.ts"

/** The options for starting a broker. */
export interface StartOptions {
  /** The password that clients need; none by default. */
  readonly password?: string | undefined
  readonly port?: number | undefined
}

/** Starts a broker. */
export async function startBroker(engine: Engine, options: StartOptions = {}): Promise<Broker> {
  const { password, port } = options
  if (engine === "nats") {
    const config = `authorization { user: "lab", password: "${password}" }\n`
    return await startNats({ port, config: password === undefined ? "" : config })
  }
  const config = `requirepass ${password}\n`
  return await startRedis({ port, config: password === undefined ? "" : config })
}

/** Whether the broker is installed. */
export async function provideBroker(engine: Engine): Promise<boolean> {
  return engine === "nats" ? await provideNats() : await provideRedis()
}
