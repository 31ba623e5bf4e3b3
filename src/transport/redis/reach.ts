import { isText } from "../../internal/guards.ts"
import { percentDecoded } from "../../internal/percent.ts"
import type { RedisClientLike, RedisConnectOptions } from "./ioredis.ts"

const EXAMPLE = "redis://127.0.0.1:6379"

/** The server that a connection reaches, and how. */
interface Reach {
  /** The server's name in messages, without secrets. */
  readonly peer: string
  /** Empty for a Unix socket. */
  readonly hosts: readonly string[]
  readonly hasTls: boolean
  readonly hasCredentials: boolean
}

/** The options in a URL. Throws a `TypeError` that does not contain the URL, which may hold a password. */
export function optionsOfUrl(text: string): RedisConnectOptions {
  // The password before the last "@" may contain anything.
  if (/^[^/]*:\/\/([^/]*@)?[^/@]*,/.test(text)) {
    throw invalidUrl(
      `a URL names one server. Give sentinels in "connect", or a Cluster of ioredis as "client".`,
    )
  }
  if (!URL.canParse(text)) throw invalidUrl(`not a URL. Give one such as "${EXAMPLE}".`)
  const url = new URL(text)
  const scheme = /^(redis|valkey)(s?):$/.exec(url.protocol)
  if (scheme === null) {
    throw invalidUrl(`"${url.protocol}" is not a protocol of Redis; use redis: or rediss:.`)
  }
  if (url.search + url.hash !== "") throw invalidUrl(`give options in "connect", not in the URL.`)
  if (url.hostname === "") throw invalidUrl(`there is no host. Give one such as "${EXAMPLE}".`)
  return {
    host: url.hostname.replace(/^\[(.*)\]$/, "$1"),
    port: url.port === "" ? 6379 : Number(url.port),
    ...(url.username !== "" && { username: percentDecoded(url.username) }),
    ...(url.password !== "" && { password: percentDecoded(url.password) }),
    ...(scheme[2] === "s" && { tls: {} }),
  }
}

function invalidUrl(why: string): TypeError {
  return new TypeError(`createRedisTransport({ url }): ${why}`)
}

/** The server that options of `ioredis` reach. */
export function reachOf(options: RedisConnectOptions): Reach {
  const { host = "localhost", port = 6379, path, sentinels, password } = options
  const hasTls = isGiven(options.tls)
  const hasCredentials = isText(password)
  if (isText(path)) return { peer: `Redis at ${path}`, hosts: [], hasTls, hasCredentials }
  if (Array.isArray(sentinels)) {
    return {
      peer: `Redis "${options.name ?? ""}" of ${sentinels.length} sentinels`,
      hosts: sentinels.map(hostOf),
      // Without that option TLS applies only to the sentinels.
      hasTls: hasTls && options.enableTLSForSentinelMode === true,
      hasCredentials,
    }
  }
  const authority = `${host.includes(":") ? `[${host}]` : host}:${port}`
  const peer = `Redis at ${hasTls ? "rediss" : "redis"}://${authority}`
  return { peer, hosts: [host], hasTls, hasCredentials }
}

/** The server that an existing client reaches. */
export function reachOfClient(client: RedisClientLike): Reach {
  if (!client.isCluster) return reachOf(client.options)
  const { redisOptions = {} } = client.options as { readonly redisOptions?: RedisConnectOptions }
  // Present, although not in its types.
  const { startupNodes } = client as { readonly startupNodes?: unknown }
  return {
    peer: "the Redis cluster",
    hosts: Array.isArray(startupNodes) ? startupNodes.map(hostOf) : [""],
    hasTls: isGiven(redisOptions.tls),
    hasCredentials: isText(redisOptions.password),
  }
}

function hostOf(node: unknown): string {
  if (typeof node === "number") return "localhost"
  if (typeof node === "string") {
    const text = node.includes("://") ? node : `redis://${node}`
    return URL.canParse(text) ? new URL(text).hostname.replace(/^\[(.*)\]$/, "$1") : ""
  }
  const { host } = node as { readonly host?: unknown }
  return typeof host === "string" ? host : "localhost"
}

// `ioredis` uses null for options that are not set.
function isGiven(value: unknown): boolean {
  return value !== undefined && value !== null && value !== false
}
