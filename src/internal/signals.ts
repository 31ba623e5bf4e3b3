/** Something that ends when a signal fires. */
export interface SignalListener {
  handleEvent(): void
}

const groups = new WeakMap<AbortSignal, SignalGroup>()

/**
 * Tells an entry when a signal fires, until `ignoreSignal`.
 *
 * One listener serves all entries of a signal: platforms warn of a leak when a long-lived signal,
 * such as a server's, collects one for each call that runs.
 */
export function heedSignal(signal: AbortSignal, entry: SignalListener): void {
  let group = groups.get(signal)
  if (group === undefined) {
    group = new SignalGroup(signal)
    groups.set(signal, group)
  }
  group.add(entry)
}

export function ignoreSignal(signal: AbortSignal, entry: SignalListener): void {
  groups.get(signal)?.remove(entry)
}

class SignalGroup {
  // Weak: a signal that lives only here must be free to go.
  readonly #signal: WeakRef<AbortSignal>
  readonly #entries = new Set<SignalListener>()

  constructor(signal: AbortSignal) {
    this.#signal = new WeakRef(signal)
  }

  add(entry: SignalListener): void {
    if (this.#entries.size === 0) this.#signal.deref()?.addEventListener("abort", this)
    this.#entries.add(entry)
  }

  remove(entry: SignalListener): void {
    if (!this.#entries.delete(entry) || this.#entries.size > 0) return
    this.#signal.deref()?.removeEventListener("abort", this)
  }

  handleEvent(): void {
    const entries = [...this.#entries]
    this.#entries.clear()
    this.#signal.deref()?.removeEventListener("abort", this)
    for (const entry of entries) entry.handleEvent()
  }
}
