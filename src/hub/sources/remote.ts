import type { RemoteSource } from "../../config/model.ts"
import type { AnyOperation } from "../../define.ts"
import { CallError, isCallError } from "../../errors.ts"
import type { AnyRegistry } from "../../registry.ts"
import { reasonOf } from "../../schema/describe.ts"
import type { Transport } from "../../transport/types.ts"
import { fill } from "../fill.ts"
import type { OpenSourceOf } from "../model.ts"
import { idOf } from "../shape.ts"

/** The operations of another hub. Its connection comes back by itself, and then it is listed again. */
export const openRemote: OpenSourceOf = async (source, context) => {
  const { fromCall } = await import("../../index.ts")
  const { createWebSocketTransport } = await import("../../websocket.ts")
  const given = source.config as RemoteSource
  const { remote, token, headers } = await fill(
    { remote: given.remote, token: given.token, headers: given.headers },
    context.resolve,
    source.name,
  )
  const { clock, logger, signal, retries } = context
  const transport = createWebSocketTransport(socketUrl(remote), {
    token,
    headers,
    clock,
    logger,
    reconnect: retries,
  })
  const watched = new WatchedTransport(transport)
  const mirror = new Mirror()
  const giveUp = (): void => void transport.close()
  signal.addEventListener("abort", giveUp)
  try {
    const peer = await fromCall(watched, { signal, logger })
    const detach = await peer.attach(mirror as unknown as AnyRegistry)
    signal.throwIfAborted()
    return {
      operations: () => mirror.operations,
      report: () => ({
        items: mirror.operations.map((operation) => {
          const id = idOf(operation)
          return { id, origin: id, status: "kept" as const, notes: [] }
        }),
        warnings: [],
      }),
      onChange: (listener) => mirror.onChange(listener),
      onHealth: (listener) => watched.onHealth(listener),
      async close() {
        mirror.close()
        await watched.close()
        await detach()
      },
    }
  } catch (error) {
    await transport.close()
    throw unreachable(source.name, remote, error)
  } finally {
    signal.removeEventListener("abort", giveUp)
  }
}

/** Where a hub takes calls, from where it is. */
function socketUrl(remote: string): string {
  const url = new URL(remote)
  if (/^https?:$/.test(url.protocol) && !/\/ws\/?$/.test(url.pathname)) {
    url.pathname = `${url.pathname.replace(/\/$/, "")}/ws`
  }
  return url.href
}

function unreachable(name: string, remote: string, cause: unknown): CallError {
  const code = isCallError(cause) ? cause.code : "UNAVAILABLE"
  const cure =
    code === "UNAUTHENTICATED"
      ? ` Give its "token", such as "\${env:TOKEN}".`
      : ` Is a hub served there? Try: operations list --hub ${new URL(remote).origin}`
  // Which of its questions was not answered is of no interest.
  const reason = reasonOf(cause).replace(/^"services\.\w+" was not sent: /, "")
  return new CallError(code, `Source "${name}": ${reason}${cure}`, { cause })
}

/** A transport that also tells whether its peer is there. */
class WatchedTransport implements Transport {
  readonly #transport: Transport
  readonly #listeners = new Set<(reason: string | undefined) => void>()

  constructor(transport: Transport) {
    this.#transport = transport
  }

  open(receiver: Parameters<Transport["open"]>[0]): void {
    this.#transport.open({
      event: (event) => receiver.event(event),
      undelivered: (event, error) => receiver.undelivered(event, error),
      lost: (error) => {
        receiver.lost(error)
        this.#tell(error.message)
      },
      restored: () => {
        receiver.restored()
        this.#tell(undefined)
      },
    })
  }

  send(event: Parameters<Transport["send"]>[0]): void {
    this.#transport.send(event)
  }

  ready(): Promise<void> | undefined {
    return this.#transport.ready?.()
  }

  onHealth(listener: (reason: string | undefined) => void): () => void {
    this.#listeners.add(listener)
    return () => void this.#listeners.delete(listener)
  }

  close(): Promise<void> {
    this.#listeners.clear()
    return this.#transport.close()
  }

  #tell(reason: string | undefined): void {
    for (const listener of this.#listeners) listener(reason)
  }
}

/** As much of a registry as following a peer takes: it keeps definitions as they come. */
class Mirror implements Pick<AnyRegistry, "registerAll" | "unregister"> {
  readonly #operations = new Map<string, AnyOperation>()
  readonly #listeners = new Set<() => void>()
  #isTold = false

  get operations(): readonly AnyOperation[] {
    return [...this.#operations.values()]
  }

  registerAll(operations: readonly AnyOperation[]): void {
    for (const operation of operations) {
      const id = idOf(operation)
      const known = this.#operations.get(id)
      // A peer that came back is listed anew; what is as it was stays, for whoever looks for changes.
      if (known !== undefined && JSON.stringify(known) === JSON.stringify(operation)) continue
      this.#operations.set(id, operation)
      this.#changed()
    }
  }

  unregister(id: string): boolean {
    const isKnown = this.#operations.delete(id)
    if (isKnown) this.#changed()
    return isKnown
  }

  onChange(listener: () => void): () => void {
    this.#listeners.add(listener)
    return () => void this.#listeners.delete(listener)
  }

  close(): void {
    this.#listeners.clear()
  }

  /** Changes of one turn are told once. */
  #changed(): void {
    if (this.#isTold) return
    this.#isTold = true
    queueMicrotask(() => {
      this.#isTold = false
      for (const listener of this.#listeners) listener()
    })
  }
}
