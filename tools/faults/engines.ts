import { silentLogger } from "../../src/testing.ts"
import type { Logger } from "../../src/index.ts"
import type { GuardOptions } from "../../src/transport/bus/options.ts"
import type { BusTransport } from "../../src/transport/bus/transport.ts"
import { createNatsTransport } from "../../src/nats.ts"
import { createRedisTransport } from "../../src/redis.ts"

export const ENGINES = ["nats", "redis"] as const

/** The brokers that the matrix is run on. */
export type Engine = (typeof ENGINES)[number]

/** The maximum message size of NATS, used for both brokers. */
const MAX_PAYLOAD = 1024 * 1024

/** How to connect to a broker. Plain data, because it is sent to child processes. */
export interface BusAddress {
  readonly engine: Engine
  readonly port: number
  /** The password of the user "lab", if the broker requires one. */
  readonly password?: string | undefined
  /** The other servers of a NATS cluster, or the sentinels of Redis. */
  readonly others?: readonly number[] | undefined
  /** Listeners and loggers throw. */
  readonly hasBadListeners?: boolean | undefined
  readonly guard?: GuardOptions | undefined
}

/** The URL of a broker on loopback, with its credentials. */
export function urlOf({ engine, port, password }: BusAddress): string {
  const user = engine === "nats" ? "lab" : ""
  const login = password === undefined ? "" : `${user}:${password}@`
  return `${engine}://${login}127.0.0.1:${port}`
}

/** The logger of everything that uses a broker. */
export function loggerOf({ hasBadListeners = false }: BusAddress): Logger {
  return hasBadListeners
    ? { debug: throws, info: throws, warn: throws, error: throws }
    : silentLogger
}

/** A transport to a broker on loopback. */
export function createTransport(address: BusAddress): BusTransport {
  const transport = connectTo(address)
  if (address.hasBadListeners === true) transport.onHealth(throws)
  return transport
}

function connectTo(address: BusAddress): BusTransport {
  const { engine, others = [], guard } = address
  const logger = loggerOf(address)
  const url = urlOf(address)
  if (engine === "nats") {
    const servers = [url, ...others.map((port) => urlOf({ ...address, port }))]
    return createNatsTransport({ servers, guard, logger })
  }
  const options = { guard, logger, maxPayload: MAX_PAYLOAD }
  if (others.length === 0) return createRedisTransport({ url, ...options })
  const sentinels = others.map((port) => ({ host: "127.0.0.1", port }))
  return createRedisTransport({ connect: { sentinels, name: "main" }, ...options })
}

/** A listener that always throws. */
export function throws(): never {
  throw new Error("A listener throws on purpose.")
}
