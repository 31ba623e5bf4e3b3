import type { RemoteSource, ResolvedSource } from "../../config/model.ts"
import { CallError, isCallError } from "../../core/errors.ts"
import type { Clock } from "../../internal/platform.ts"
import type { AnyRegistry } from "../../engine/registry.ts"
import { reasonOf } from "../../internal/describe.ts"
import type { BusTransport } from "../../transport/bus/transport.ts"
import type { OpenSource, SourceContext } from "../model.ts"
import { BrokerLink, createBrokerTransport } from "./broker-link.ts"
import { Mirror } from "./mirror.ts"

/** Milliseconds that an operation stays whose workers are gone: they may just be starting anew. */
const LINGER = 60_000
/** Milliseconds after a first failure in which a broker may still be reached, or say why not. */
const PATIENCE = 1000

/**
 * The operations of the workers behind a broker, as they come and go.
 *
 * What no worker serves any more stays for a minute, and while there is no worker at all: until then it is
 * not unknown, but unavailable.
 */
export async function openBroker(
  source: ResolvedSource,
  place: string,
  context: SourceContext,
): Promise<OpenSource> {
  const { fromCall } = await import("../../protocol/from-call.ts")
  const { clock, logger, signal, retries } = context
  const broker = await createBrokerTransport(source, place, context)
  const { transport, shown } = broker
  const link = new BrokerLink(source.name, transport, broker.identity)
  const mirror = new Mirror({ clock, ms: LINGER })
  const giveUp = (): void => void transport.close()
  signal.addEventListener("abort", giveUp)
  try {
    const peer = await unlessUnreachable(
      fromCall(link, { signal, logger }),
      transport,
      shown,
      clock,
    )
    const detach = await peer.attach(mirror as unknown as AnyRegistry)
    signal.throwIfAborted()
    const nobody = nobodyAt(shown, (source.config as RemoteSource).prefix)
    // Whoever does not wait for workers wants to know why there is nothing.
    if (!retries && mirror.isDeserted) throw new CallError("UNAVAILABLE", nobody)
    const health = new Health(transport, mirror, { lost: lostAt(shown), nobody })
    // What was said while nobody could be reached is asked again.
    health.onReached = () => link.restored()
    return {
      operations: () => mirror.operations,
      report: () => mirror.report(),
      onChange: (listener) => mirror.onChange(listener),
      onHealth: (listener) => health.listen(listener),
      async close() {
        health.close()
        mirror.close()
        await detach()
        await transport.close()
      },
    }
  } catch (error) {
    const { isConnected } = transport
    mirror.close()
    await transport.close()
    throw unreachable(source.name, place, error, isConnected)
  } finally {
    signal.removeEventListener("abort", giveUp)
  }
}

/** What is imported, or why the broker cannot be reached, whichever is known first. */
async function unlessUnreachable<TValue>(
  importing: Promise<TValue>,
  transport: BusTransport,
  shown: string,
  clock: Clock,
): Promise<TValue> {
  let timer: unknown
  let stop: (() => void) | undefined
  try {
    return await new Promise<TValue>((resolve, reject) => {
      stop = transport.onHealth((reason) => {
        if (reason === undefined || timer !== undefined) return
        const fail = (): void => reject(new CallError("UNAVAILABLE", `${shown} cannot be reached.`))
        timer = clock.setTimeout(fail, PATIENCE)
      })
      // What will not change, such as credentials that are refused, comes with an error that says so.
      transport.whenConnected().catch(reject)
      importing.then(resolve, reject)
    })
  } finally {
    stop?.()
    clock.clearTimeout(timer)
  }
}

/** Tells whether the broker is there, and workers behind it. */
class Health {
  onReached: (() => void) | undefined
  readonly #mirror: Mirror
  readonly #words: { readonly lost: string; readonly nobody: string }
  readonly #listeners = new Set<(reason: string | undefined) => void>()
  readonly #stops: readonly (() => void)[]
  #isReached = true
  /** What the broker says against the credentials. */
  #refusal: string | undefined
  #told: string | undefined

  constructor(
    transport: BusTransport,
    mirror: Mirror,
    words: { readonly lost: string; readonly nobody: string },
  ) {
    this.#mirror = mirror
    this.#words = words
    this.#stops = [
      transport.onHealth((reason) => {
        const isBack = reason === undefined && !this.#isReached
        this.#isReached = reason === undefined
        this.#refusal = / refuses /.test(reason ?? "") ? reason : undefined
        this.#tell()
        if (isBack) this.onReached?.()
      }),
      mirror.onChange(() => this.#tell()),
    ]
    this.#isReached = transport.isConnected
    this.#told = this.#reason
  }

  listen(listener: (reason: string | undefined) => void): () => void {
    this.#listeners.add(listener)
    // It may have begun without a worker.
    if (this.#told !== undefined) queueMicrotask(() => this.#toldTo(listener))
    return () => void this.#listeners.delete(listener)
  }

  close(): void {
    this.#listeners.clear()
    for (const stop of this.#stops) stop()
  }

  get #reason(): string | undefined {
    if (!this.#isReached) return this.#refusal ?? this.#words.lost
    return this.#mirror.isDeserted ? this.#words.nobody : undefined
  }

  #toldTo(listener: (reason: string | undefined) => void): void {
    if (this.#listeners.has(listener)) listener(this.#told)
  }

  #tell(): void {
    const reason = this.#reason
    if (reason === this.#told) return
    this.#told = reason
    for (const listener of this.#listeners) listener(reason)
  }
}

function lostAt(shown: string): string {
  return `${shown} is out of reach: calls wait for it until their deadlines. Is it running?`
}

function nobodyAt(shown: string, prefix = "operations"): string {
  return `No worker at ${shown} serves anything that this hub may see. Start one there, with the prefix "${prefix}".`
}

function unreachable(name: string, place: string, cause: unknown, isConnected: boolean): CallError {
  const code = isCallError(cause) ? cause.code : "UNAVAILABLE"
  // Which of its questions was not answered is of no interest, and options are called otherwise here.
  const reason = reasonOf(cause)
    .replace(/^"services\.\w+" (?:was not sent|got no answer): /, "")
    .replace(/ (?:Check|Give) "(?:connect|username)".*$/s, "")
  const cure = cureOf(code, /^redis/i.test(place), isConnected)
  // What comes with a cure of its own needs no other.
  const isTold = code === "UNAVAILABLE" && / (?:Install|Start) /.test(reason)
  return new CallError(code, `Source "${name}": ${reason}${isTold ? "" : cure}`, { cause })
}

function cureOf(code: string, isRedis: boolean, isConnected: boolean): string {
  if (code !== "UNAUTHENTICATED") {
    const server = isRedis ? "redis-server" : "nats-server"
    return isConnected ? "" : ` Is ${server} running there? Start it, or correct "remote".`
  }
  if (isConnected) {
    return ` See to its "ticket": the workers expect another issuer, audience or key.`
  }
  return isRedis
    ? ` Give "user" and "password", such as "\${env:REDIS_PASSWORD}".`
    : ` Give "user" and "password", or "token", such as "\${env:NATS_PASSWORD}".`
}
