import { silentLogger } from "../src/index.ts"
import type { Logger } from "../src/index.ts"
import type { GuardOptions } from "../src/transport/bus/options.ts"
import type { BusTransport } from "../src/transport/bus/transport.ts"
import { createNatsTransport } from "../src/transport/nats.ts"
import { createRedisTransport } from "../src/transport/redis.ts"

export const ENGINES = ["nats", "redis"] as const

/** The brokers that the matrix is run on. */
export type Engine = (typeof ENGINES)[number]

/** The same limit on both, the one that NATS has. */
const MAX_PAYLOAD = 1024 * 1024

/** What a process needs to know of a broker. Plain data: it is told to children. */
export interface BusAddress {
  readonly engine: Engine
  readonly port: number
  /** Of the user "lab", where the broker asks for one. */
  readonly password?: string | undefined
  readonly guard?: GuardOptions | undefined
}

/** A transport to a broker on loopback. */
export function createTransport(
  { engine, port, password, guard }: BusAddress,
  logger: Logger = silentLogger,
): BusTransport {
  if (engine === "nats") {
    const login = password === undefined ? "" : `lab:${password}@`
    return createNatsTransport({ servers: `nats://${login}127.0.0.1:${port}`, guard, logger })
  }
  const login = password === undefined ? "" : `:${password}@`
  const url = `redis://${login}127.0.0.1:${port}`
  return createRedisTransport({ url, guard, logger, maxPayload: MAX_PAYLOAD })
}
