// The options of a remote source: another hub, or workers behind a broker.

import { CALL_HEADERS, type CallHeaders } from "../../core/call-headers.ts"
import type { Secret } from "../../sources/openapi/config.ts"
import { field, fields, isGiven, listOf, type Shape, text } from "../field-checks.ts"
import { address, nameOfAddress, placeOf, textOf } from "../names.ts"
import type { CommonSource, SourceDescription } from "./kind.ts"

/** The operations of another hub, or of the workers behind a broker. */
export interface RemoteSource extends CommonSource {
  /**
   * The address of a hub: `https://tools.example.com`, or its WebSocket, `wss://…/ws`.
   *
   * The address of a broker: `nats://…` or `tls://…` (separate the servers of a cluster by commas), `redis://…`
   * or `rediss://…`.
   */
  readonly remote: string
  /**
   * A token or API key, by reference: `"${env:TOKEN}"`. NATS accepts tokens, too. A function receives
   * the caller: callers with their own tokens get their own connections to the hub.
   */
  readonly token?: Secret | undefined
  /** Sent when a connection to a hub is opened. Functions receive the caller, like that of `token`. */
  readonly headers?: CallHeaders | undefined
  /** For a broker: the name under which the hub calls; with a `password`, also its login. */
  readonly user?: string | undefined
  readonly password?: string | undefined
  /** The prefix of the workers' subjects or channels; default: "operations". */
  readonly prefix?: string | undefined
  /** The CA for the broker's certificate, and the hub's own certificate: PEM texts, by reference. */
  readonly tls?:
    | {
        readonly ca?: string | undefined
        readonly cert?: string | undefined
        readonly key?: string | undefined
      }
    | undefined
  /**
   * Allow a broker on another machine without TLS and credentials, and sending `token` and `headers` to a hub
   * without TLS: for private networks.
   */
  readonly insecure?: boolean | undefined
  /** Refuse a hub on a private address, including public names that resolve to one. */
  readonly blockPrivate?: boolean | undefined
  /** Sends signed caller identities to the workers; without it they see the hub as the caller. */
  readonly ticket?: TicketConfig | undefined
}

/** How a hub signs the identity of its callers. */
export interface TicketConfig {
  /** The issuer that the workers' verifiers expect. */
  readonly issuer: string
  /** The audience that the workers' verifiers expect. */
  readonly audience: string
  /** The private key, Ed25519, as PEM (PKCS #8) or JWK, by reference: `"${file:./hub-key.pem}"`. */
  readonly key: string
  /** The id of the matching key, when the verifiers have several. */
  readonly keyId?: string | undefined
  /** The hub's own scopes when it lists the operations. */
  readonly scopes?: readonly string[] | undefined
}

const HUBS = ["https", "http", "wss", "ws"] as const
const BROKERS = ["nats", "tls", "redis", "rediss"] as const
const SEGMENT = /^[A-Za-z0-9_-]{1,64}$/
const LOGIN = 'Write them as "user" and "password", and refer to the latter: ${env:NAME}.'

const secret = (description: string): Shape =>
  field({ either: ["text", "function"] }, description, { refers: true, secret: true })
const pem = (description: string): Shape => text(description, { refers: true })
const expected = (description: string): Shape =>
  field({ required: "text" }, description, { refers: true })
const segment = (description: string): Shape =>
  text(description, {
    refers: true,
    refuse: (value) =>
      SEGMENT.test(value) ? undefined : `must be 1 to 64 letters, digits, "_" and "-".`,
  })

const OF_BROKERS = ["user", "password", "prefix", "tls", "ticket"] as const

export const remote: SourceDescription<RemoteSource> = {
  about: "The operations of another hub, or of the workers behind a broker.",
  example: "hub",
  fields: {
    remote: field(
      { required: "text" },
      "Another hub: https://tools.example.com, or its WebSocket, wss://…/ws. Workers behind a broker: nats://…, tls://…, redis://… or rediss://….",
      { refers: true, refuse: refuseRemote },
    ),
    token: secret("A token or API key, by reference: ${env:TOKEN}."),
    headers: field(CALL_HEADERS, "Sent with each request to a hub.", { isHeaders: true }),
    user: segment(
      "For a broker: the name under which the hub calls; with a password, also its login.",
    ),
    password: secret("The password of user at the broker, by reference: ${env:PASSWORD}."),
    prefix: segment("The prefix of the workers' subjects or channels; default: operations."),
    tls: fields("The CA for the broker's certificate, and the hub's own certificate.", {
      ca: pem("Text of a PEM file, by reference: ${file:ca.pem}."),
      cert: pem("The hub's own certificate, by reference: ${file:hub.pem}."),
      key: secret("The key of that certificate, by reference: ${file:hub-key.pem}."),
    }),
    insecure: field(
      "boolean",
      "Allows a broker on another machine without TLS and credentials, and sending a hub its token without TLS.",
    ),
    blockPrivate: field(
      "boolean",
      "Refuses a hub on a private address, including public names that resolve to one.",
    ),
    ticket: fields("Sends signed caller identities to workers behind a broker.", {
      issuer: expected("The issuer that the workers' verifiers expect."),
      audience: expected("The audience that the workers' verifiers expect."),
      key: {
        ...secret("A private key, Ed25519, as PEM or JWK, by reference: ${file:ticket-key.pem}."),
        isRequired: true,
      },
      keyId: text("The id of the matching key, when the verifiers have several."),
      scopes: listOf("The hub's own scopes when it lists operations.", text("A scope.")),
    }),
  },
  /** Reports fields that do not apply to its kind of address. */
  check(source, keys, report) {
    const scheme = schemeOf(source["remote"])
    if (scheme === undefined) return
    const hasBroker = (BROKERS as readonly string[]).includes(scheme)
    for (const name of hasBroker ? ["headers", "blockPrivate"] : OF_BROKERS) {
      if (!isGiven(source, name)) continue
      const whose = hasBroker ? "another hub" : "a broker, such as nats://…"
      report.error([...keys, name], `is for ${whose}; "remote" begins with "${scheme}://".`)
    }
    if (!hasBroker) return
    if (scheme.startsWith("redis") && isGiven(source, "token")) {
      report.error([...keys, "token"], `is not supported by Redis. Use "password".`)
    }
    if (isGiven(source, "password") && !isGiven(source, "user") && !scheme.startsWith("redis")) {
      report.error([...keys, "password"], `needs "user", whose password it is.`)
    }
  },
  hints: {
    hub: `Write "remote".`,
    broker: `Write "remote": "nats://…" or "redis://…".`,
    servers: `Write "remote": "nats://…", several with commas between.`,
    nats: `Write "remote": "nats://…".`,
    redis: `Write "remote": "redis://…".`,
  },
  // A cluster is named after its first server.
  nameOf: (source) => nameOfAddress(textOf(source.remote).split(",", 1)[0] ?? ""),
  originOf: (source) => source.remote.split(",").map(placeOf).join(","),
  namespaces: "nested",
}

/** Whether an address is a broker's, with workers behind it, rather than a hub's. */
export function isBroker(place: string): boolean {
  return BROKERS.some((scheme) => place.toLowerCase().startsWith(`${scheme}://`))
}

/** The scheme of an address; `undefined` when it is neither that of a hub nor of a broker. */
function schemeOf(value: unknown): string | undefined {
  const scheme =
    typeof value === "string" ? /^([a-z]+):\/\//i.exec(value)?.[1]?.toLowerCase() : undefined
  return scheme !== undefined && ([...HUBS, ...BROKERS] as string[]).includes(scheme)
    ? scheme
    : undefined
}

function refuseRemote(value: string): string | undefined {
  const scheme = schemeOf(value)
  if (scheme !== "nats" && scheme !== "tls") {
    const isRedis = scheme === "redis" || scheme === "rediss"
    return isRedis ? address(BROKERS, LOGIN)(value) : address([...HUBS, ...BROKERS])(value)
  }
  for (const one of value.split(",")) {
    const refusal = address(["nats", "tls"], LOGIN)(one.trim())
    if (refusal !== undefined) return refusal
  }
  return undefined
}
