import { validateOptions, type OptionsSchema } from "../../internal/options.ts"
import { withoutUndefined } from "../../internal/own.ts"
import { systemClock } from "../../internal/clock.ts"
import { checkSafety } from "../bus/broker.ts"
import { BUS_OPTIONS, type BusOptions } from "../bus/options.ts"
import { createBusTransport, type BusTransport } from "../bus/transport.ts"
import { RedisBus } from "./bus.ts"
import { RedisChannels } from "./channels.ts"
import { CONNECT_OPTIONS, connectionsLike, connectionsTo } from "./ioredis.ts"
import type { RedisClientLike, RedisConnectOptions } from "./ioredis.ts"
import { optionsOfUrl, reachOf, reachOfClient } from "./reach.ts"
import { isolatedLogger } from "../../internal/notify.ts"

/** Options of `createRedisTransport`. */
export interface RedisTransportOptions extends BusOptions {
  /** The URL of the server: "redis://127.0.0.1:6379". With TLS it begins with "rediss:". */
  readonly url?: string | undefined
  /** Further options of `ioredis`. */
  readonly connect?: RedisConnectOptions | undefined
  /**
   * An existing client instead of both; a `Cluster`, too. The transport opens connections with the same options, and
   * neither uses nor closes the client itself.
   */
  readonly client?: RedisClientLike | undefined
  /** Allows a server on another machine without TLS or password. Set it only if the network keeps others out. */
  readonly insecure?: boolean | undefined
  /**
   * The maximum size of a message in bytes: 8 MiB. Use the same for all ends of a system; several such messages have to
   * fit into the server's `client-output-buffer-limit` for `pubsub`, 32 MB by default.
   */
  readonly maxPayload?: number | undefined
}

/** The maximum of `maxPayload` is what a server accepts by default. */
export const REDIS_OPTIONS: OptionsSchema<RedisTransportOptions> = {
  ...BUS_OPTIONS,
  url: { secret: "text" },
  connect: { secret: { members: CONNECT_OPTIONS, open: true } },
  client: { methods: ["duplicate"], expected: 'a Redis or a Cluster of the package "ioredis"' },
  insecure: "boolean",
  maxPayload: { min: 1024, max: 512 * 1024 * 1024, whole: true },
}

const USER = "createRedisTransport"
const DEFAULT_URL = "redis://127.0.0.1:6379"
const MIB = 1024 * 1024
const CONNECT_TIMEOUT = 5000

/**
 * Creates a transport over Redis or Valkey publish/subscribe; nothing is stored there.
 *
 * Needs the package `ioredis`. The server may be absent: the transport connects in the background, forever, and calls
 * wait for it until their deadline. Close the transport when you no longer need it.
 */
export function createRedisTransport(options: RedisTransportOptions = {}): BusTransport {
  validateOptions(USER, options, REDIS_OPTIONS)
  const { clock = systemClock, insecure, url, client, connect = {} } = options
  const logger = isolatedLogger(options.logger)
  const { prefix = "operations", user = "anyone", maxPayload = 8 * MIB } = options
  if (client !== undefined && (url ?? options.connect) !== undefined) {
    throw new TypeError(`${USER}({ client }): give either a client, or url and connect.`)
  }
  const target: RedisConnectOptions = {
    connectionName: "operations",
    ...optionsOfUrl(url ?? DEFAULT_URL),
    ...withoutUndefined(connect),
  }
  const { peer, ...reach } = client === undefined ? reachOf(target) : reachOfClient(client)
  checkSafety(USER, { ...reach, insecure })
  const make = client === undefined ? connectionsTo(target) : connectionsLike(client)
  const { connectTimeout = CONNECT_TIMEOUT } = target
  const address = crypto.randomUUID().replaceAll("-", "")
  const channels = new RedisChannels(prefix, user, address)
  const shared = { clock, logger, maxPayload, channels, address }
  const bus = new RedisBus({ ...shared, make, connectTimeout, peer })
  return createBusTransport(bus, options, "redis")
}
