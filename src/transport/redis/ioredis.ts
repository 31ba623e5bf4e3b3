import { importError } from "../../internal/import-peer.ts"
import type { OptionsSchema } from "../../internal/options.ts"

/**
 * A client of the package `ioredis` that you created: a `Redis`, or a `Cluster`.
 *
 * Described by its shape, here and below, so that the core needs no types of Node.
 */
export interface RedisClientLike {
  readonly options: object
  readonly isCluster: boolean
  duplicate(override?: object): unknown
}

/** Options of `ioredis` for the server and the credentials. */
export interface RedisConnectOptions {
  readonly host?: string | undefined
  readonly port?: number | undefined
  readonly family?: number | undefined
  /** A Unix socket. */
  readonly path?: string | undefined
  readonly username?: string | undefined
  readonly password?: string | undefined
  /** Options of Node's `tls.connect`; `{}` for TLS with defaults. */
  readonly tls?: object | undefined
  readonly connectTimeout?: number | undefined
  readonly keepAlive?: number | undefined
  /** The name in `CLIENT LIST`: "operations". */
  readonly connectionName?: string | undefined
  readonly protocol?: 2 | 3 | undefined
  readonly sentinels?:
    | readonly { readonly host?: string | undefined; readonly port?: number | undefined }[]
    | undefined
  readonly name?: string | undefined
  readonly sentinelUsername?: string | undefined
  readonly sentinelPassword?: string | undefined
  readonly sentinelTLS?: object | undefined
  readonly enableTLSForSentinelMode?: boolean | undefined
}

export const CONNECT_OPTIONS: OptionsSchema<RedisConnectOptions> = {
  host: "text",
  port: "port",
  family: { oneOf: [0, 4, 6] },
  path: "text",
  username: "string",
  password: "string",
  tls: { record: "any" },
  connectTimeout: { min: 0 },
  keepAlive: { min: 0 },
  connectionName: "string",
  protocol: { oneOf: [2, 3] },
  sentinels: { list: { members: { host: "text", port: "port" }, open: true } },
  name: "text",
  sentinelUsername: "string",
  sentinelPassword: "string",
  sentinelTLS: { record: "any" },
  enableTLSForSentinelMode: "boolean",
}

/** One connection of `ioredis`. */
export interface RedisLike {
  readonly status: string
  readonly stream?: SocketLike | undefined
  on(event: string, listener: (...args: never[]) => void): unknown
  connect(): Promise<void>
  disconnect(): void
  publish(channel: string, text: string): Promise<unknown>
  pipeline(): PipelineLike
  subscribe(channel: string): Promise<unknown>
  psubscribe(...patterns: string[]): Promise<unknown>
  punsubscribe(...patterns: string[]): Promise<unknown>
  call(command: string, ...args: string[]): Promise<unknown>
  /** The subscriptions that the server has confirmed, by their names in its answers. */
  readonly condition?: {
    readonly subscriber?: false | { channels(command: "subscribe" | "psubscribe"): string[] }
  } | null
}

/** Commands that are sent together. */
export interface PipelineLike {
  publish(channel: string, text: string): unknown
  exec(): Promise<readonly PipelineResult[] | null>
}

export type PipelineResult = readonly [error: Error | null, result?: unknown]

/** The socket of a connection. */
export interface SocketLike {
  readonly bytesRead?: number | undefined
  emit?(event: string, ...args: unknown[]): boolean
  destroy(): unknown
}

interface RedisModule {
  readonly Redis: new (options: object) => RedisLike
}

/** A `Cluster`, which has a connection to every node. */
interface ClusterLike extends RedisClientLike {
  readonly status: string
  connect(): Promise<void>
  nodes(role: "master" | "all"): RedisClientLike[]
}

/** Creates a connection, with options of this transport on top. */
export type MakeConnection = (override: object) => Promise<RedisLike>

/** Creates connections with these options. */
export function connectionsTo(options: object): MakeConnection {
  return async (override) => {
    const { Redis } = await loadIoredis()
    return new Redis({ ...options, ...override, ...readyCheck(options) })
  }
}

/** Creates connections to the server of an existing client. */
export function connectionsLike(client: RedisClientLike): MakeConnection {
  return async (override) => {
    const like = client.isCluster ? anyNode(client as ClusterLike) : client
    return like.duplicate({ ...override, ...readyCheck(like.options) }) as RedisLike
  }
}

/**
 * The option for the ready check: a server that sentinels found has to be checked for its role. Others need no check:
 * publishing works even while they load their data.
 */
function readyCheck(options: object): object {
  const { sentinels } = options as { readonly sentinels?: unknown }
  return { enableReadyCheck: Array.isArray(sentinels) }
}

/** Any node of a cluster: messages published at one node reach all nodes. */
function anyNode(cluster: ClusterLike): RedisClientLike {
  // It connects on first use, and may have no other user.
  if (cluster.status === "wait") cluster.connect().catch(() => {})
  const masters = cluster.nodes("master")
  const nodes = masters.length > 0 ? masters : cluster.nodes("all")
  const node = nodes[Math.floor(Math.random() * nodes.length)]
  if (node === undefined) throw new Error("the cluster client has no node yet")
  return node
}

async function loadIoredis(): Promise<RedisModule> {
  try {
    // Unknown: without its types the name would be that of this module.
    const module: unknown = await import("ioredis")
    return module as RedisModule
  } catch (error) {
    throw importError("transport/redis", "ioredis", error)
  }
}
