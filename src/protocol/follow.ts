import { idOf, isSameImport, type AnyOperation } from "../core/define.ts"
import type { AnyRegistry } from "../engine/registry.ts"
import { endpointOver, type PendingSubscription } from "./pending/requests.ts"
import type { PendingRequestMap } from "./pending/request-map.ts"
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
  const { restoredListeners, settings } = endpointOver(map)
  const { logger } = settings
  /** The operations that came from the peer, by their local ids. */
  const owned = new Map<string, AnyOperation>()
  let current: PendingSubscription | undefined
  let isStopped = false

  const add = (operation: AnyOperation): void => {
    const id = idOf(operation)
    const before = owned.get(id)
    // After a reconnect, the peer lists all of them again.
    if (before !== undefined && isSameImport(before, operation)) return
    try {
      registry.registerAll([operation], { replace: before !== undefined })
      owned.set(id, operation)
    } catch (error) {
      logger.warn("An operation of a peer was not registered", { id, error })
    }
  }

  const remove = (id: string): void => {
    if (owned.delete(id)) registry.unregister(id)
  }

  /** Registers and unregisters operations until they match the peer's. */
  const synchronize = (operations: readonly AnyOperation[]): void => {
    if (isStopped) return
    const ids = new Set(operations.map(idOf))
    for (const id of [...owned.keys()]) if (!ids.has(id)) remove(id)
    for (const operation of operations) add(operation)
  }

  const apply = async (change: ServiceChange): Promise<void> => {
    if (!("id" in change)) {
      if (change.type === "reset") synchronize(await load())
      return
    }
    const [operation] = change.type === "removed" ? [] : await load([change.id])
    if (isStopped) return
    if (operation === undefined) remove(localId(change.id))
    else add(operation)
  }

  const follow = async (stream: PendingSubscription): Promise<void> => {
    try {
      for await (const { data } of stream) {
        if (isStopped) return
        await apply(data as ServiceChange).catch((error: unknown) => {
          // The next change may succeed; until then the registered operations stay.
          logger.warn("A change of a peer's operations could not be read", { error })
        })
      }
    } catch (error) {
      // The peer is gone, as callers see from their errors. Following resumes when it is back.
      logger.debug("Changes of a peer are no longer followed", { error })
    }
  }

  /** Subscribes before it lists, so that no change is missed in between. */
  const open = async (register: (operations: readonly AnyOperation[]) => void): Promise<void> => {
    const stream = (current = map.subscribe("services.changes"))
    await stream.next()
    if (isStopped) return
    register(await load())
    // Ends with the stream. Callers see the error that ended it.
    void follow(stream)
  }

  const reopen = async (): Promise<void> => {
    try {
      await current?.return()
      if (!isStopped) await open(synchronize)
    } catch (error) {
      logger.warn("The operations of a peer could not be listed after a reconnect", { error })
    }
  }

  const restored = (): void => void reopen()

  const stop = async (): Promise<void> => {
    isStopped = true
    restoredListeners.delete(restored)
    await current?.return()
    for (const id of owned.keys()) registry.unregister(id)
    owned.clear()
  }

  restoredListeners.add(restored)
  try {
    await open((operations) => {
      registry.registerAll(operations)
      for (const operation of operations) owned.set(idOf(operation), operation)
    })
  } catch (error) {
    await stop()
    throw error
  }
  return stop
}
