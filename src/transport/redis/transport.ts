import { validateOptions } from "../../internal/options.ts"
import type { OptionsSchema } from "../../internal/options.ts"
import { systemClock } from "../../internal/clock.ts"
import { checkSafety } from "../bus/broker-safety.ts"
import { BUS_OPTIONS } from "../bus/options.ts"
import type { BusOptions } from "../bus/options.ts"
import { createBusTransport } from "../bus/transport.ts"
import type { BusTransport } from "../bus/transport.ts"
import { RedisBus } from "./bus.ts"
import { RedisChannels } from "./channels.ts"
import { CONNECT_OPTIONS, connectionsLike, connectionsTo } from "./ioredis.ts"
import type { MakeConnection, RedisClientLike, RedisConnectOptions } from "./ioredis.ts"
import { optionsOfUrl, reachOf, reachOfClient } from "./reach.ts"
import type { Reach } from "./reach.ts"
import { isolatedLogger } from "../../internal/notify.ts"

/** Options of `createRedisTransport`. */
export interface RedisTransportOptions extends BusOptions {
  /** Where the server is: "redis://127.0.0.1:6379". With TLS it begins with "rediss:". */
  readonly url?: string | undefined
  /** What `ioredis` is to be told besides the URL. */
  readonly connect?: RedisConnectOptions | undefined
  /**
   * Instead of both: a client that you made, a `Cluster` too. Connections like it are made and closed; it stays
   * as it is, and yours.
   */
  readonly client?: RedisClientLike | undefined
  /** Uses a server elsewhere without TLS or password. Say so only where the network keeps others out. */
  readonly insecure?: boolean | undefined
  /**
   * Bytes that one message may have: 8 MiB. All ends of a system have the same, and several such messages fit into
   * the `client-output-buffer-limit` that the server has for `pubsub`, 32 MB.
   */
  readonly maxPayload?: number | undefined
}

/** The largest message is what a server takes, unless it is configured otherwise. */
export const REDIS_OPTIONS: OptionsSchema<RedisTransportOptions> = {
  ...BUS_OPTIONS,
  url: { secret: "text" },
  connect: { secret: { members: CONNECT_OPTIONS, open: true } },
  client: {
    methods: ["duplicate"],
    expected: 'a Redis or a Cluster of the package "ioredis"',
  },
  insecure: "boolean",
  maxPayload: { min: 1024, max: 512 * 1024 * 1024, whole: true },
}

const USER = "createRedisTransport"
const DEFAULT_URL = "redis://127.0.0.1:6379"
const MIB = 1024 * 1024
const CONNECT_TIMEOUT = 5000

/**
 * Calls over Redis or Valkey, with publish and subscribe: nothing is stored there.
 *
 * Needs the package `ioredis`. The server may be absent: it is connected to in the background, for ever, and calls
 * wait for it until their deadline. Close the transport when it is no longer used.
 */
export function createRedisTransport(options: RedisTransportOptions = {}): BusTransport {
  validateOptions(USER, options, REDIS_OPTIONS)
  const { clock = systemClock, insecure } = options
  const logger = isolatedLogger(options.logger)
  const { prefix = "operations", user = "anyone", maxPayload = 8 * MIB } = options
  const { make, reach, connectTimeout } = settleTarget(options)
  checkSafety(USER, { ...reach, insecure })
  const address = crypto.randomUUID().replaceAll("-", "")
  const channels = new RedisChannels(prefix, user, address)
  const shared = { clock, logger, maxPayload, channels, address }
  const bus = new RedisBus({ ...shared, make, connectTimeout, peer: reach.peer })
  return createBusTransport(USER, bus, options, "redis")
}

interface Target {
  readonly make: MakeConnection
  readonly reach: Reach
  readonly connectTimeout: number
}

function settleTarget({ url, client, connect }: RedisTransportOptions): Target {
  if (client === undefined) {
    const target = {
      connectionName: "operations",
      ...optionsOfUrl(url ?? DEFAULT_URL),
      ...withoutUndefined(connect),
    }
    const { connectTimeout = CONNECT_TIMEOUT } = target
    return { make: connectionsTo(target), reach: reachOf(target), connectTimeout }
  }
  if (url !== undefined || connect !== undefined) {
    throw new TypeError(`${USER}({ client }): give either a client, or url and connect.`)
  }
  return {
    make: connectionsLike(client),
    reach: reachOfClient(client),
    connectTimeout: CONNECT_TIMEOUT,
  }
}

function withoutUndefined(options: RedisConnectOptions = {}): RedisConnectOptions {
  return Object.fromEntries(Object.entries(options).filter(([, value]) => value !== undefined))
}
