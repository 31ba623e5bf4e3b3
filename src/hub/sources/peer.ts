import type { AnyRegistry } from "../../engine/registry.ts"
import { Listeners } from "../../internal/listeners.ts"
import type { FromCallOptions } from "../../protocol/from-call.ts"
import type { DeliveryStatus, Transport, TransportReceiver } from "../../protocol/transport.ts"
import type { OpenSource, SourceContext } from "../model.ts"
import type { Mirror } from "./mirror.ts"

/** How a peer is opened. */
export interface PeerOptions extends Pick<FromCallOptions, "linkFor"> {
  /** Waits until the operations are there. */
  readonly wait?: ((attached: Promise<void>) => Promise<void>) | undefined
  /** The error for what failed. Called before the link is closed. */
  readonly explain: (error: unknown) => Error
}

/** Imports the operations of a peer into a mirror, and follows their changes until it is closed. */
export async function openPeer(
  link: Transport,
  mirror: Mirror,
  { clock, logger, signal }: SourceContext,
  { linkFor, wait = (attached) => attached, explain }: PeerOptions,
): Promise<OpenSource> {
  const { fromCall } = await import("../../protocol/from-call.ts")
  const { PendingRequestMap } = await import("../../protocol/pending/request-map.ts")
  // Closing it also ends the requests that are under way, such as a listing.
  const map = new PendingRequestMap(link, { logger, clock })
  const giveUp = (): void => void map.close()
  let detach: (() => Promise<void>) | undefined
  const attach = async (): Promise<void> => {
    const peer = await fromCall(map, { signal, logger, linkFor })
    detach = await peer.attach(mirror as unknown as AnyRegistry)
  }
  signal.addEventListener("abort", giveUp)
  try {
    await wait(attach())
    signal.throwIfAborted()
  } catch (error) {
    const explained = explain(error)
    mirror.close()
    await map.close()
    throw explained
  } finally {
    signal.removeEventListener("abort", giveUp)
  }
  return {
    operations: () => mirror.operations,
    report: () => mirror.report(),
    onChange: (listener) => mirror.onChange(listener),
    async close() {
      mirror.close()
      await map.close()
      await detach?.()
    },
  }
}

/** A transport that also reports whether its peer is reachable. */
export class WatchedTransport implements Transport {
  readonly #transport: Transport
  readonly #listeners = new Listeners<string | undefined>()
  #receiver: TransportReceiver | undefined

  constructor(transport: Transport) {
    this.#transport = transport
  }

  get resumeMs(): number | undefined {
    return this.#transport.resumeMs
  }

  open(receiver: TransportReceiver): void {
    this.#receiver = receiver
    this.#transport.open({
      event: (event, peer) => receiver.event(event, peer),
      undelivered: (event, error) => receiver.undelivered(event, error),
      lost: (error) => {
        receiver.lost(error)
        this.#listeners.notify(error.message)
      },
      restored: () => this.restored(),
    })
  }

  send(event: Parameters<Transport["send"]>[0]): void {
    this.#transport.send(event)
  }

  ready(): Promise<void> | undefined {
    return this.#transport.ready?.()
  }

  deliveryStatus(requestId: string): DeliveryStatus | undefined {
    return this.#transport.deliveryStatus?.(requestId)
  }

  /** The peer is back: its operations are listed again. */
  restored(): void {
    this.#receiver?.restored()
    this.#listeners.notify(undefined)
  }

  onHealth(listener: (reason: string | undefined) => void): () => void {
    return this.#listeners.add(listener)
  }

  close(): Promise<void> {
    this.#listeners.clear()
    return this.#transport.close()
  }
}
