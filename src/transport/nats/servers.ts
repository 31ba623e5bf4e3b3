import type { NodeConnectionOptions } from "@nats-io/transport-node"
import { checkSafety, isSafe } from "../bus/broker-safety.ts"

type Options = Omit<NodeConnectionOptions, "servers">

/** What the client takes besides servers. */
export type NatsConnectOptions = { readonly [TKey in keyof Options]?: Options[TKey] | undefined }

/** Where to connect, and with what. */
export interface NatsTarget {
  /** `host:port` of each server, without credentials: fit for messages. */
  readonly servers: string[]
  readonly options: NodeConnectionOptions
}

interface Server {
  readonly host: string
  readonly port: string
  readonly hasTls: boolean
  readonly user: string
  readonly pass: string
}

const DEFAULT_PORT = "4222"

/**
 * The servers and the options for the client; credentials and TLS of the addresses are among them.
 *
 * Throws a `TypeError` for what is no address of a NATS server, and for a server that is not safe to use.
 */
export function settleTarget(
  user: string,
  servers: string | readonly string[],
  given: NatsConnectOptions = {},
  insecure?: boolean,
): NatsTarget {
  const all = (typeof servers === "string" ? servers.split(",") : servers).map((server) =>
    parseServer(user, server),
  )
  if (all.length === 0) throw new TypeError(`${user}({ servers }) must name at least one server.`)
  const said = Object.fromEntries(Object.entries(given).filter(([, value]) => value !== undefined))
  const options: NodeConnectionOptions = { ...credentials(all), ...said }
  if (options.tls === undefined && all.some(({ hasTls }) => hasTls)) options.tls = {}
  const safety = {
    hosts: all.map(({ host }) => host),
    hasTls: typeof options.tls === "object" && options.tls !== null,
    hasCredentials: hasCredentials(options),
  }
  checkSafety(user, { ...safety, insecure })
  // Servers that a broker tells of are elsewhere: they are as safe as what they are used with.
  if (insecure !== true && !isSafe({ ...safety, hosts: ["elsewhere"] })) {
    options.ignoreClusterUpdates = true
  }
  return { servers: all.map(({ host, port }) => `${host}:${port}`), options }
}

function parseServer(user: string, server: string): Server {
  const [, scheme = "nats", rest = ""] =
    /^(?:([a-z][a-z\d+.-]*):\/\/)?(.*)$/is.exec(String(server).trim()) ?? []
  const isTls = /^tls$/i.test(scheme)
  try {
    if (!isTls && !/^nats$/i.test(scheme)) throw new TypeError(scheme)
    // The parser knows hosts of web addresses only; their usual ports would get lost.
    const url = new URL(`http://${rest}`)
    const port = /:(\d{1,5})\/?$/.exec(rest)?.[1] ?? DEFAULT_PORT
    if (url.pathname !== "/" || url.search !== "" || url.hash !== "") throw new TypeError(rest)
    return {
      host: url.hostname,
      port,
      hasTls: isTls,
      user: decodeURIComponent(url.username),
      pass: decodeURIComponent(url.password),
    }
  } catch {
    // As little of it as helps: an address may hold a password.
    const shown = JSON.stringify(String(server).replace(/^(.*:\/\/)?.*@/s, "$1"))
    throw new TypeError(
      `${user}({ servers }) takes addresses such as "nats://127.0.0.1:4222" or "tls://broker.example:4222", got ${shown}.`,
    )
  }
}

/** What an address says before "@": a user and a password, or a token. */
function credentials(servers: readonly Server[]): NodeConnectionOptions {
  const found = servers.find(({ user }) => user !== "")
  if (found === undefined) return {}
  return found.pass === "" ? { token: found.user } : { user: found.user, pass: found.pass }
}

function hasCredentials(options: NodeConnectionOptions): boolean {
  const { user, token, authenticator, tls } = options
  // A certificate of one's own says who one is, too.
  const hasCertificate = tls?.cert !== undefined || tls?.certFile !== undefined
  return Boolean(user) || Boolean(token) || authenticator !== undefined || hasCertificate
}
