import type { CallEvent } from "../../core/events.ts"
import type { RemoteSource } from "../../config/kinds/remote.ts"
import type { ResolvedSource } from "../../config/model.ts"
import { changedError } from "../../core/error-changes.ts"
import { CallError, isCallError } from "../../core/errors.ts"
import { reasonOf } from "../../internal/message-text.ts"
import { withoutUndefined } from "../../internal/own.ts"
import type { BusOptions } from "../../transport/bus/options.ts"
import type { BusTransport } from "../../transport/bus/transport.ts"
import type { Identity } from "../../core/types.ts"
import { fill } from "../resolve-references.ts"
import { anonymousContext } from "./caller-links.ts"
import { WatchedTransport } from "./peer.ts"
import type { SourceContext } from "../model.ts"

/** A transport to a broker, and how it is described. */
export interface BrokerTransport {
  readonly transport: BusTransport
  /** Address of the broker, without secrets. */
  readonly shown: string
  /** Identity of the hub itself when it lists operations; `undefined` without tickets. */
  readonly identity: Identity | undefined
}

/** Creates the transport of a source. It connects on first use. */
export async function createBrokerTransport(
  source: ResolvedSource<RemoteSource>,
  place: string,
  context: SourceContext,
): Promise<BrokerTransport> {
  const { token, user, password, prefix, tls, insecure, ticket } = source.config
  const filled = await fill(
    { token, user, password, prefix, tls, ticket },
    context.resolve,
    source.name,
  )
  try {
    const { signal } = context
    // Workers identify callers by tickets: the token is the hub's own.
    const own =
      typeof filled.token === "function"
        ? await filled.token(anonymousContext(signal))
        : filled.token
    return await make(place, { ...filled, token: own, insecure }, context)
  } catch (cause) {
    const code = isCallError(cause) ? cause.code : "VALIDATION_ERROR"
    throw new CallError(code, `Source "${source.name}": ${configReason(cause)}`, {
      cause,
      retryable: false,
    })
  }
}

type Filled = Pick<RemoteSource, "user" | "password" | "prefix" | "tls" | "insecure" | "ticket"> & {
  readonly token: string | undefined
}

async function make(
  place: string,
  { token, user, password, prefix, tls, insecure, ticket }: Filled,
  { clock, logger }: SourceContext,
): Promise<BrokerTransport> {
  const shown = withoutLogin(place)
  const login = password === undefined ? undefined : user
  const isRedis = /^redis/i.test(place)
  const entry = isRedis
    ? await import("../../transport/redis/transport.ts")
    : await import("../../transport/nats/transport.ts")
  let signer: BusOptions["signer"]
  let identity: Identity | undefined
  if (ticket !== undefined) {
    const { scopes = [], ...signing } = ticket
    const { createTicketSigner } = await import("../../transport/bus/tickets/signer.ts")
    signer = createTicketSigner({ ...signing, clock })
    identity = { id: user ?? ticket.issuer, scopes: [...scopes] }
  }
  const options: BusOptions = { user, prefix, signer, clock, logger }
  const transport =
    "createRedisTransport" in entry
      ? entry.createRedisTransport({
          ...options,
          url: place,
          connect: withoutUndefined({
            username: login,
            password,
            tls: tls && withoutUndefined(tls),
          }),
          insecure,
        })
      : entry.createNatsTransport({
          ...options,
          servers: place,
          connect: withoutUndefined({
            user: login,
            pass: password,
            token,
            tls: tls && withoutUndefined(tls),
          }),
          insecure,
        })
  return { transport, shown, identity }
}

/** An address without user and password. */
function withoutLogin(place: string): string {
  return place.replaceAll(/\/\/[^/@,]*@/g, "//")
}

/** The reason of an error, with the option names of a configuration. */
function configReason(cause: unknown): string {
  return reasonOf(cause)
    .replace(/^create\w+Transport: the/, "The")
    .replace('(see "connect")', '("tls" or tls://, "user" and "password")')
    .replace("{ insecure: true }", '"insecure": true')
}

/** A broker's transport as the hub uses it: listings carry the hub's identity, and `restored` repeats them. */
export class BrokerLink extends WatchedTransport {
  readonly #name: string
  readonly #identity: Identity | undefined

  constructor(name: string, transport: BusTransport, identity: Identity | undefined) {
    super(transport)
    this.#name = name
    this.#identity = identity
  }

  override send(event: CallEvent): void {
    const isList =
      event.type === "call.requested" &&
      event.identity === undefined &&
      event.operationId.startsWith("services.")
    try {
      super.send(
        isList && this.#identity !== undefined ? { ...event, identity: this.#identity } : event,
      )
    } catch (error) {
      if (!isCallError(error, "UNAVAILABLE")) throw error
      // Callers of a hub know its sources, not its brokers.
      const message = `Source "${this.#name}" is unavailable: ${error.message}`
      throw changedError(error, { message, cause: error })
    }
  }
}
