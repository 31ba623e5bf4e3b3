import type { RemoteSource } from "../../config/kinds/remote.ts"
import type { ResolvedSource } from "../../config/model.ts"
import { CallError, isCallError } from "../../core/errors.ts"
import type { Clock } from "../../internal/platform.ts"
import { reasonOf } from "../../internal/message-text.ts"
import { Listeners } from "../../internal/listeners.ts"
import type { BusTransport } from "../../transport/bus/transport.ts"
import type { OpenSource, SourceContext } from "../model.ts"
import { BrokerLink, createBrokerTransport } from "./broker-link.ts"
import { Mirror } from "./mirror.ts"
import { openPeer } from "./peer.ts"

/** Milliseconds that an operation stays after its last worker left: workers may be restarting. */
const LINGER_MS = 60_000
/** Milliseconds after the first failure in which a broker may still connect, or report why not. */
const CONNECT_GRACE_MS = 1000

/**
 * Opens the operations of the workers behind a broker, which come and go.
 *
 * An operation without workers stays for a minute, and as long as there is no worker at all. Until then
 * calls fail with "unavailable" rather than "not found".
 */
export async function openBroker(
  source: ResolvedSource<RemoteSource>,
  place: string,
  context: SourceContext,
): Promise<OpenSource> {
  const { clock, retries } = context
  const broker = await createBrokerTransport(source, place, context)
  const { transport, shown } = broker
  const link = new BrokerLink(source.name, transport, broker.identity)
  const mirror = new Mirror(context.originId, { clock, ms: LINGER_MS })
  const noWorker = noWorkerAt(shown, source.config.prefix)
  const peer = await openPeer(link, mirror, context, {
    async wait(attached) {
      await unlessUnreachable(attached, transport, shown, clock)
      // Without retries no worker is waited for, so an empty list is an error.
      if (!retries && mirror.isAbandoned) throw new CallError("UNAVAILABLE", noWorker)
    },
    explain: (error) => unreachable(source.name, place, error, transport.isConnected),
  })
  const lost = `${shown} is out of reach: calls wait for it until their deadlines. Is it running?`
  const messages = { lost, noWorker }
  // The list may have changed while the broker was unreachable.
  const health = watchHealth(transport, mirror, messages, () => link.restored())
  return {
    ...peer,
    workers: () => transport.stats().calling.workers,
    onHealth: (listener) => health.listen(listener),
    close() {
      health.close()
      return peer.close()
    },
  }
}

/** Resolves with the import, or rejects as soon as the broker turns out to be unreachable. */
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
        timer = clock.setTimeout(fail, CONNECT_GRACE_MS)
      })
      // Permanent failures, such as refused credentials, reject with their own error.
      transport.whenConnected().catch(reject)
      importing.then(resolve, reject)
    })
  } finally {
    stop?.()
    clock.clearTimeout(timer)
  }
}

/** Reports whether the broker is reachable and has workers; calls `onReached` when it is back. */
function watchHealth(
  transport: BusTransport,
  mirror: Mirror,
  messages: { readonly lost: string; readonly noWorker: string },
  onReached: () => void,
): { listen: NonNullable<OpenSource["onHealth"]>; close(): void } {
  const listeners = new Listeners<string | undefined>()
  let isReached = transport.isConnected
  /** The broker's reason for refusing the credentials. */
  let refusal: string | undefined
  const currentReason = (): string | undefined => {
    if (!isReached) return refusal ?? messages.lost
    return mirror.isAbandoned ? messages.noWorker : undefined
  }
  let last = currentReason()
  const notify = (): void => {
    const reason = currentReason()
    if (reason === last) return
    last = reason
    listeners.notify(reason)
  }
  const stops = [
    transport.onHealth((reason) => {
      const isBack = reason === undefined && !isReached
      isReached = reason === undefined
      refusal = / refuses /.test(reason ?? "") ? reason : undefined
      notify()
      if (isBack) onReached()
    }),
    mirror.onChange(notify),
  ]
  return {
    listen(listener) {
      // The source may have been opened without a worker.
      if (last !== undefined) queueMicrotask(() => listeners.notify(last))
      return listeners.add(listener)
    },
    close() {
      listeners.clear()
      for (const stop of stops) stop()
    },
  }
}

function noWorkerAt(shown: string, prefix = "operations"): string {
  return `No worker at ${shown} serves anything that this hub may see. Start one there, with the prefix "${prefix}".`
}

function unreachable(name: string, place: string, cause: unknown, isConnected: boolean): CallError {
  const code = isCallError(cause) ? cause.code : "UNAVAILABLE"
  // The internal request that failed does not matter here, and options have other names in a configuration.
  const reason = reasonOf(cause)
    .replace(/^"services\.\w+" (?:was not sent|got no answer): /, "")
    .replace(/ (?:Check|Give) "(?:connect|username)".*$/s, "")
  const cure = cureOf(code, /^redis/i.test(place), isConnected)
  // The reason may already say what to do.
  const hasCure = code === "UNAVAILABLE" && / (?:Install|Start) /.test(reason)
  return new CallError(code, `Source "${name}": ${reason}${hasCure ? "" : cure}`, { cause })
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
