import type { NodeConnectionOptions } from "@nats-io/transport-node"
import { withoutUndefined } from "../../internal/own.ts"
import { checkSafety, isSafe } from "../bus/broker.ts"

type Options = Omit<NodeConnectionOptions, "servers">

/** Options of the NATS client, except for servers. */
export type NatsConnectOptions = { readonly [TKey in keyof Options]?: Options[TKey] | undefined }

/** Where to connect, and with which options. */
export interface NatsTarget {
  /** `host:port` of each server, without credentials, so that messages may contain it. */
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
 * Resolves the servers and options for the client, including credentials and TLS from the addresses.
 *
 * Throws a `TypeError` for an invalid address, and for a server that is not safe to use.
 */
export function resolveTarget(
  user: string,
  servers: string | readonly string[],
  connect: NatsConnectOptions = {},
  insecure?: boolean,
): NatsTarget {
  const all = (typeof servers === "string" ? servers.split(",") : servers).map((server) =>
    parseServer(user, server),
  )
  if (all.length === 0) throw new TypeError(`${user}({ servers }) must name at least one server.`)
  const options: NodeConnectionOptions = { ...credentials(all), ...withoutUndefined(connect) }
  if (options.tls === undefined && all.some(({ hasTls }) => hasTls)) options.tls = {}
  const safety = {
    hosts: all.map(({ host }) => host),
    hasTls: typeof options.tls === "object" && options.tls !== null,
    hasCredentials: hasCredentials(options),
  }
  checkSafety(user, { ...safety, insecure })
  // Servers that a broker announces are on other machines, and need TLS and credentials to be safe.
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
    // The URL parser needs a web scheme; it would drop the default port of that scheme.
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
    // An address may contain a password.
    const redacted = JSON.stringify(String(server).replace(/^(.*:\/\/)?.*@/s, "$1"))
    throw new TypeError(
      `${user}({ servers }) takes addresses such as "nats://127.0.0.1:4222" or "tls://broker.example:4222", got ${redacted}.`,
    )
  }
}

/** The credentials in an address: user and password, or a token. */
function credentials(servers: readonly Server[]): NodeConnectionOptions {
  const withUser = servers.find(({ user }) => user !== "")
  if (withUser === undefined) return {}
  return withUser.pass === ""
    ? { token: withUser.user }
    : { user: withUser.user, pass: withUser.pass }
}

function hasCredentials(options: NodeConnectionOptions): boolean {
  const { user, token, authenticator, tls } = options
  // A client certificate is a credential, too.
  const hasCertificate = tls?.cert !== undefined || tls?.certFile !== undefined
  return Boolean(user) || Boolean(token) || authenticator !== undefined || hasCertificate
}

/** Releases that fix the advisories of 2026; every later line contains the fixes. */
const FIXED: readonly (readonly [minor: number, patch: number])[] = [
  [11, 16],
  [12, 7],
]
const SINCE = 14

/** Why a server should be replaced, from its version, without the final period; `undefined` when it need not be. */
export function versionWarning(version: string): string | undefined {
  const parts = /^v?(\d+)\.(\d+)\.(\d+)/.exec(version)
  if (parts === null) return undefined
  const [major = 0, minor = 0, patch = 0] = parts.slice(1).map(Number)
  if (major > 2 || (major === 2 && minor >= SINCE)) return undefined
  const fixed = FIXED.find(([line]) => major === 2 && minor === line)
  if (fixed !== undefined && patch >= fixed[1]) return undefined
  return (
    `The NATS server is version ${version}, whose permissions can be bypassed in known ways. ` +
    `Install 2.11.16, 2.12.7, 2.14.0 or a later release of these lines`
  )
}
