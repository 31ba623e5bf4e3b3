// What may be said of a remote source: another hub, or workers behind a broker.

import { isPlainRecord } from "../schema/json.ts"
import { address } from "./address-shape.ts"
import { headers } from "./secret-shapes.ts"
import { fields, flag, isGiven, listOf, type Shape, text } from "./shape.ts"

const HUBS = ["https", "http", "wss", "ws"] as const
const BROKERS = ["nats", "tls", "redis", "rediss"] as const
const SEGMENT = /^[A-Za-z0-9_-]{1,64}$/
const LOGIN = 'Write them as "user" and "password", and refer to the latter: ${env:NAME}.'

const secret = (description: string): Shape => text(description, { refers: true, secret: true })
const pem = (description: string): Shape => text(description, { refers: true })
const segment = (description: string): Shape =>
  text(description, {
    refers: true,
    refuse: (value) =>
      SEGMENT.test(value) ? undefined : `must be 1 to 64 letters, digits, "_" and "-".`,
  })

/** The fields of a remote source. */
export const remote: Readonly<Record<string, Shape>> = {
  remote: text(
    "Another hub: https://tools.example.com, or its WebSocket, wss://…/ws. Workers behind a broker: nats://…, tls://…, redis://… or rediss://….",
    { refers: true, refuse: refuseRemote },
  ),
  token: secret("A token or API key, by reference: ${env:TOKEN}."),
  headers: headers("Sent with each request to a hub."),
  user: segment("At a broker: whom the hub calls as; also its login where there is a password."),
  password: secret("The password of user at the broker, by reference: ${env:PASSWORD}."),
  prefix: segment("What the workers' addresses at the broker begin with; default: operations."),
  tls: fields("What a broker's certificate is checked with, and what the hub shows it.", {
    ca: pem("Text of a PEM file, by reference: ${file:ca.pem}."),
    cert: pem("The hub's own certificate, by reference: ${file:hub.pem}."),
    key: secret("The key of that certificate, by reference: ${file:hub-key.pem}."),
  }),
  insecure: flag(
    "A broker on another machine may do without TLS and credentials, and a hub gets its token without TLS.",
  ),
  blockPrivate: flag(
    "A hub on a private address is refused, also where a public name resolves to one.",
  ),
  ticket: fields(
    "Tells workers behind a broker who calls, signed.",
    {
      issuer: text("Who signs: what the workers' verifiers expect.", { refers: true }),
      audience: text("Whom it is for: what the workers' verifiers expect.", { refers: true }),
      key: secret("A private key, Ed25519, as PEM or JWK, by reference: ${file:ticket-key.pem}."),
      keyId: text("Which of the verifiers' keys it belongs to."),
      scopes: listOf("What the hub itself may see when it lists operations.", text("A scope.")),
    },
    { required: ["issuer", "audience", "key"] },
  ),
}

const OF_BROKERS = ["user", "password", "prefix", "tls", "ticket"] as const

/** The shape of a remote source, that also says which fields are not for the address it has. */
export function checkRemote(shape: Shape): Shape {
  return {
    schema: shape.schema,
    check(value, keys, found) {
      shape.check(value, keys, found)
      if (!isPlainRecord(value)) return
      const scheme = schemeOf(value["remote"])
      if (scheme === undefined) return
      const isBroker = (BROKERS as readonly string[]).includes(scheme)
      for (const name of isBroker ? ["headers", "blockPrivate"] : OF_BROKERS) {
        if (!isGiven(value, name)) continue
        const whose = isBroker ? "another hub" : "a broker, such as nats://…"
        found.fault([...keys, name], `is for ${whose}; "remote" begins with "${scheme}://".`)
      }
      if (!isBroker) return
      if (scheme.startsWith("redis") && isGiven(value, "token")) {
        found.fault([...keys, "token"], `is nothing that Redis knows. Give "password".`)
      }
      if (isGiven(value, "password") && !isGiven(value, "user") && !scheme.startsWith("redis")) {
        found.fault([...keys, "password"], `needs "user", whose password it is.`)
      }
    },
  }
}

/** How a text begins that is an address of a hub or a broker. */
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
