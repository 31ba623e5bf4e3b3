// The options of a remote source: another hub, or workers behind a broker.

import { isRecord } from "../internal/guards.ts"
import { address } from "./address-shape.ts"
import { headers } from "./secret-shapes.ts"
import { field, fields, isGiven, listOf, type Shape, text } from "./field-checks.ts"

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

/** The fields of a remote source. */
export const remote: Readonly<Record<string, Shape>> = {
  remote: field(
    { required: "text" },
    "Another hub: https://tools.example.com, or its WebSocket, wss://…/ws. Workers behind a broker: nats://…, tls://…, redis://… or rediss://….",
    { refers: true, refuse: refuseRemote },
  ),
  token: secret("A token or API key, by reference: ${env:TOKEN}."),
  headers: headers("Sent with each request to a hub."),
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
}

const OF_BROKERS = ["user", "password", "prefix", "tls", "ticket"] as const

/** Extends the shape of a remote source: reports fields that do not apply to its kind of address. */
export function checkRemote(shape: Shape): Shape {
  return {
    schema: shape.schema,
    check(value, keys, report) {
      shape.check(value, keys, report)
      if (!isRecord(value)) return
      const scheme = schemeOf(value["remote"])
      if (scheme === undefined) return
      const isBroker = (BROKERS as readonly string[]).includes(scheme)
      for (const name of isBroker ? ["headers", "blockPrivate"] : OF_BROKERS) {
        if (!isGiven(value, name)) continue
        const whose = isBroker ? "another hub" : "a broker, such as nats://…"
        report.error([...keys, name], `is for ${whose}; "remote" begins with "${scheme}://".`)
      }
      if (!isBroker) return
      if (scheme.startsWith("redis") && isGiven(value, "token")) {
        report.error([...keys, "token"], `is not supported by Redis. Use "password".`)
      }
      if (isGiven(value, "password") && !isGiven(value, "user") && !scheme.startsWith("redis")) {
        report.error([...keys, "password"], `needs "user", whose password it is.`)
      }
    },
  }
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
