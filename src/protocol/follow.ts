import { idOf, isSameImport } from "../core/define.ts"
import type { AnyOperation } from "../core/define.ts"
import type { AnyRegistry } from "../engine/registry.ts"
import { endpointOver } from "./pending/requests.ts"
import type { PendingRequestMap } from "./pending/request-map.ts"
import type { PendingSubscription } from "./pending/requests.ts"
import type { ServiceChange } from "./services.ts"

/** Loads a peer's operations: those with these ids, or all. */
type Load = (ids?: readonly string[]) => Promise<AnyOperation[]>

/**
 * Registers a peer's operations and follows its changes, also after a reconnect.
 *
 * Rejects when the first registration fails. Returns a function that stops following and unregisters the operations.
 */
export async function followPeer(
  map: PendingRequestMap,
  registry: AnyRegistry,
  load: Load,
  localId: (id: string) => string,
): Promise<() => Promise<void>> {
  const follower = new Follower(map, registry, load, localId)
  try {
    await follower.start()
  } catch (error) {
    await follower.stop()
    throw error
  }
  return () => follower.stop()
}

class Follower {
  readonly #map: PendingRequestMap
  readonly #registry: AnyRegistry
  readonly #load: Load
  readonly #localId: (id: string) => string
  /** The operations that came from the peer, by their local ids. */
  readonly #owned = new Map<string, AnyOperation>()
  #stream: PendingSubscription | undefined
  #isStopped = false
  readonly #watch = (state: "lost" | "restored"): void => {
    if (state === "restored") void this.#reopen()
  }

  constructor(
    map: PendingRequestMap,
    registry: AnyRegistry,
    load: Load,
    localId: (id: string) => string,
  ) {
    this.#map = map
    this.#registry = registry
    this.#load = load
    this.#localId = localId
  }

  async start(): Promise<void> {
    endpointOver(this.#map).watchers.add(this.#watch)
    await this.#open(true)
  }

  async stop(): Promise<void> {
    this.#isStopped = true
    endpointOver(this.#map).watchers.delete(this.#watch)
    await this.#stream?.return()
    for (const id of this.#owned.keys()) this.#registry.unregister(id)
    this.#owned.clear()
  }

  /** Subscribes before it lists, so that no change is missed in between. */
  async #open(isFirst: boolean): Promise<void> {
    const stream = this.#map.subscribe("services.changes")
    this.#stream = stream
    await stream.next()
    const operations = await this.#load()
    if (isFirst) {
      this.#registry.registerAll(operations)
      for (const operation of operations) this.#owned.set(idOf(operation), operation)
    } else {
      this.#synchronize(operations)
    }
    // Ends with the stream. Callers see the error that ended it.
    void this.#follow(stream)
  }

  async #reopen(): Promise<void> {
    if (this.#isStopped) return
    try {
      await this.#stream?.return()
      await this.#open(false)
    } catch (error) {
      this.#log("The operations of a peer could not be listed after a reconnect", { error })
    }
  }

  async #follow(stream: PendingSubscription): Promise<void> {
    try {
      for await (const { data } of stream) {
        if (this.#isStopped) return
        await this.#apply(data as ServiceChange).catch((error: unknown) => {
          // The next change may succeed; until then the registered operations stay.
          this.#log("A change of a peer's operations could not be read", { error })
        })
      }
    } catch (error) {
      // The peer is gone, as callers see from their errors. Following resumes when it is back.
      endpointOver(this.#map).settings.logger.debug("Changes of a peer are no longer followed", {
        error,
      })
    }
  }

  async #apply(change: ServiceChange): Promise<void> {
    if (!("id" in change)) {
      if (change.type === "reset") this.#synchronize(await this.#load())
      return
    }
    const id = this.#localId(change.id)
    const [operation] = change.type === "removed" ? [] : await this.#load([change.id])
    if (this.#isStopped) return
    if (operation === undefined) this.#remove(id)
    else this.#add(operation)
  }

  /** Registers and unregisters operations until they match the peer's. */
  #synchronize(operations: readonly AnyOperation[]): void {
    if (this.#isStopped) return
    const ids = new Set(operations.map(idOf))
    for (const id of [...this.#owned.keys()]) if (!ids.has(id)) this.#remove(id)
    for (const operation of operations) this.#add(operation)
  }

  #add(operation: AnyOperation): void {
    const id = idOf(operation)
    const current = this.#owned.get(id)
    // After a reconnect, the peer lists all of them again.
    if (current !== undefined && isSameImport(current, operation)) return
    try {
      this.#registry.registerAll([operation], { replace: current !== undefined })
      this.#owned.set(id, operation)
    } catch (error) {
      this.#log("An operation of a peer was not registered", { id, error })
    }
  }

  #remove(id: string): void {
    if (this.#owned.delete(id)) this.#registry.unregister(id)
  }

  #log(message: string, fields: Readonly<Record<string, unknown>>): void {
    endpointOver(this.#map).settings.logger.warn(message, fields)
  }
}
