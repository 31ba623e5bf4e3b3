/** Something that ends when a signal fires. */
export interface SignalListener {
  handleEvent(): void
  /** Whether ending it now may leave something done; not known when left out. */
  mayHaveExecuted?(): boolean
}

/**
 * A signal without the platform's events: what a call protocol gives to each call it serves.
 *
 * A real `AbortController` costs more than all the rest of a small call. This one knows a single
 * listener, which is all a call needs; handlers get a real signal from their context.
 */
export class CancelToken implements Pick<
  AbortSignal,
  "aborted" | "reason" | "addEventListener" | "removeEventListener"
> {
  aborted = false
  reason: unknown = undefined
  listener: SignalListener | undefined = undefined

  /** The token where a signal is expected. */
  get signal(): AbortSignal {
    return this as unknown as AbortSignal
  }

  cancel(reason: unknown): void {
    if (this.aborted) return
    this.aborted = true
    this.reason = reason
    const { listener } = this
    this.listener = undefined
    listener?.handleEvent()
  }

  // For a registry that is not this package's own.
  addEventListener(_type: string, listener: unknown): void {
    this.listener =
      typeof listener === "function"
        ? { handleEvent: listener as () => void }
        : (listener as SignalListener)
  }

  removeEventListener(): void {
    this.listener = undefined
  }
}

let tokenOf: (context: object) => CancelToken | undefined = () => undefined

/** Says how to find the token of a call behind a context; the engine does. */
export function findTokensWith(find: (context: object) => CancelToken | undefined): void {
  tokenOf = find
}

/**
 * The signal of a context, for handlers of our own that are in a hurry: the token of its call, if it
 * is a genuine one, which a single listener may heed.
 *
 * Only for `heedSignal`, `aborted` and `reason`; a platform's function needs `context.signal`.
 */
export function lightSignal(context: {
  readonly signal?: AbortSignal | undefined
}): AbortSignal | undefined {
  return tokenOf(context)?.signal ?? context.signal
}

const groups = new WeakMap<AbortSignal, SignalGroup>()

/**
 * Tells an entry when a signal fires, until `ignoreSignal`.
 *
 * One listener serves all entries of a signal: platforms warn of a leak when a long-lived signal,
 * such as a server's, collects one for each call that runs.
 */
export function heedSignal(signal: AbortSignal, entry: SignalListener): void {
  if (signal instanceof CancelToken) {
    signal.listener = entry
    return
  }
  let group = groups.get(signal)
  if (group === undefined) {
    group = new SignalGroup(signal)
    groups.set(signal, group)
  }
  group.add(entry)
}

export function ignoreSignal(signal: AbortSignal, entry: SignalListener): void {
  if (signal instanceof CancelToken) signal.listener = undefined
  else groups.get(signal)?.remove(entry)
}

/**
 * Fires when one of two signals does, until it is released.
 *
 * Instead of `AbortSignal.any`: on Node.js 20 each result of it leaves an entry on its sources for as long as they
 * live, which for a server's signal is for ever.
 */
export class JoinedSignals extends CancelToken {
  readonly #sources: readonly AbortSignal[]
  readonly #entry: SignalListener = { handleEvent: () => this.#update() }

  constructor(left: AbortSignal, right: AbortSignal) {
    super()
    this.#sources = [left, right]
    for (const source of this.#sources) heedSignal(source, this.#entry)
    this.#update()
  }

  release(): void {
    for (const source of this.#sources) ignoreSignal(source, this.#entry)
  }

  #update(): void {
    const fired = this.#sources.find(({ aborted }) => aborted)
    if (fired !== undefined) this.cancel(fired.reason)
  }
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
