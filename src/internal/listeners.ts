import type { Logger } from "./logger.ts"
import { notify } from "./notify.ts"

/**
 * The listeners of one kind of event. Listeners added or removed during a notification are not called by it.
 */
export class Listeners<TEvent = void> {
  readonly #entries = new Set<(event: TEvent) => unknown>()

  get size(): number {
    return this.#entries.size
  }

  /** Adds a listener; returns a function that removes it. A listener that is added twice is called twice. */
  readonly add = (listener: (event: TEvent) => unknown): (() => void) => {
    const entry = (event: TEvent): unknown => listener(event)
    this.#entries.add(entry)
    return () => void this.#entries.delete(entry)
  }

  /** Calls internal listeners. An error of a listener is thrown here. */
  notify(event: TEvent): void {
    for (const entry of [...this.#entries]) if (this.#entries.has(entry)) entry(event)
  }

  /** Calls listeners of the user. An error of a listener is logged as `what`, and has no other effect. */
  notifyLogged(
    event: TEvent,
    logger: Logger,
    what: string,
    fields?: Readonly<Record<string, unknown>>,
  ): void {
    for (const entry of [...this.#entries]) {
      if (this.#entries.has(entry)) notify(logger, what, () => entry(event), fields)
    }
  }

  clear(): void {
    this.#entries.clear()
  }
}
