import type { CallEvent } from "../../core/events.ts"
import type { RemoteSource, SettledSource } from "../../config/model.ts"
import { CallError, isCallError } from "../../core/errors.ts"
import { reasonOf } from "../../internal/describe.ts"
import type { BusOptions } from "../../transport/bus/options.ts"
import type { BusTransport } from "../../transport/bus/transport.ts"
import type { CallFate, Transport, TransportReceiver } from "../../protocol/transport.ts"
import type { Identity } from "../../core/types.ts"
import { fill } from "../fill.ts"
import { nobody } from "./caller-links.ts"
import type { SourceContext } from "../model.ts"

/** A way to a broker, and what is told of it. */
export interface BrokerTransport {
  readonly transport: BusTransport
  /** Where it is, without anything secret. */
  readonly shown: string
  /** Who the hub itself is when it asks what there is; `undefined` where nobody signs that. */
  readonly identity: Identity | undefined
}

/** The transport that a source describes. It connects when it is first used. */
export async function createBrokerTransport(
  source: SettledSource,
  place: string,
  context: SourceContext,
): Promise<BrokerTransport> {
  const { token, user, password, prefix, tls, insecure, ticket } = source.config as RemoteSource
  const filled = await fill(
    { token, user, password, prefix, tls, ticket },
    context.resolve,
    source.name,
  )
  try {
    const { signal } = context
    // Workers hear of callers by tickets: the token is the hub's own.
    const own =
      typeof filled.token === "function" ? await filled.token(nobody(signal)) : filled.token
    return await make(place, { ...filled, token: own, insecure }, context)
  } catch (cause) {
    const code = isCallError(cause) ? cause.code : "VALIDATION_ERROR"
    throw new CallError(code, `Source "${source.name}": ${inOurWords(cause)}`, {
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
          connect: defined({ username: login, password, tls: tls && defined(tls) }),
          insecure,
        })
      : entry.createNatsTransport({
          ...options,
          servers: place,
          connect: defined({ user: login, pass: password, token, tls: tls && defined(tls) }),
          insecure,
        })
  return { transport, shown, identity }
}

/** Without what was not given: clients take that for something. */
function defined<TValue extends object>(
  value: TValue,
): { [TKey in keyof TValue]?: NonNullable<TValue[TKey]> } {
  const given = Object.entries(value).filter(([, item]) => item !== undefined)
  return Object.fromEntries(given) as { [TKey in keyof TValue]?: NonNullable<TValue[TKey]> }
}

/** An address without the user and the password that a reference may have put there. */
function withoutLogin(place: string): string {
  return place.replaceAll(/\/\/[^/@,]*@/g, "//")
}

/** What is wrong, in the words of a configuration. */
function inOurWords(cause: unknown): string {
  return reasonOf(cause)
    .replace(/^create\w+Transport: the/, "The")
    .replace('(see "connect")', '("tls" or tls://, "user" and "password")')
    .replace("{ insecure: true }", '"insecure": true')
}

/** A broker's transport as the hub uses it: it asks for lists in its own name, and asks anew when told to. */
export class BrokerLink implements Transport {
  readonly mayLose: boolean | undefined
  readonly #name: string
  readonly #transport: BusTransport
  readonly #identity: Identity | undefined
  #receiver: TransportReceiver | undefined

  constructor(name: string, transport: BusTransport, identity: Identity | undefined) {
    this.#name = name
    this.#transport = transport
    this.#identity = identity
    this.mayLose = transport.mayLose
  }

  open(receiver: TransportReceiver): void {
    this.#receiver = receiver
    this.#transport.open(receiver)
  }

  send(event: CallEvent): void {
    const isList =
      event.type === "call.requested" &&
      event.identity === undefined &&
      event.operationId.startsWith("services.")
    try {
      this.#transport.send(
        isList && this.#identity !== undefined ? { ...event, identity: this.#identity } : event,
      )
    } catch (error) {
      throw this.#named(error)
    }
  }

  ready(): Promise<void> | undefined {
    return this.#transport.ready?.()
  }

  deliveryStatus(requestId: string): CallFate | undefined {
    return this.#transport.deliveryStatus?.(requestId)
  }

  /** Callers of a hub know its sources, and nothing of its brokers. */
  #named(error: unknown): unknown {
    if (!isCallError(error, "UNAVAILABLE")) return error
    const { retryable, mayHaveExecuted } = error
    const message = `Source "${this.#name}" is unavailable: ${error.message}`
    return new CallError("UNAVAILABLE", message, { retryable, mayHaveExecuted, cause: error })
  }

  /** Whoever follows what there is lists it again. */
  restored(): void {
    this.#receiver?.restored()
  }

  close(): Promise<void> {
    return this.#transport.close()
  }
}
