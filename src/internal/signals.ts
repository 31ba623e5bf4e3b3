/** Work that ends when a signal fires. */
export interface SignalListener {
  handleEvent(): void
  /** Whether its work may have had effects by now; unknown if absent. */
  mayHaveExecuted?(): boolean
}

/**
 * A signal without the platform's events, which the call protocol passes to each call it serves.
 *
 * A real `AbortController` costs more than all the rest of a small call. This one has a single
 * listener, which is all a call needs; handlers get a real signal from their context.
 */
export class CancelToken implements Pick<
  AbortSignal,
  "aborted" | "reason" | "addEventListener" | "removeEventListener"
> {
  aborted = false
  reason: unknown = undefined
  listener: SignalListener | undefined = undefined

  get isCancelToken(): true {
    return true
  }

  /** The token, typed as the signal it stands for. */
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

  // For registries that are not of this package.
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

/** Sets how the token of a context is looked up; called by the engine. */
export function setTokenLookup(find: (context: object) => CancelToken | undefined): void {
  tokenOf = find
}

/**
 * The cheapest signal of a context, for the library's own handlers: the token of its call if the context is a
 * genuine one. A token takes a single listener.
 *
 * Only for `addSignalListener`, `aborted` and `reason`; functions of the platform need `context.signal`.
 */
export function lightSignal(context: {
  readonly signal?: AbortSignal | undefined
}): AbortSignal | undefined {
  return tokenOf(context)?.signal ?? context.signal
}

// `instanceof` would bring the class into pages, which have no tokens.
function isToken(signal: AbortSignal | CancelToken): signal is CancelToken {
  return "isCancelToken" in signal
}

const groups = new WeakMap<AbortSignal, SignalGroup>()

/**
 * Notifies an entry when a signal fires, until `removeSignalListener`.
 *
 * One platform listener serves all entries of a signal: platforms warn of a leak when a long-lived signal,
 * such as a server's, has one for each running call.
 */
export function addSignalListener(signal: AbortSignal, entry: SignalListener): void {
  if (isToken(signal)) {
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

export function removeSignalListener(signal: AbortSignal, entry: SignalListener): void {
  if (isToken(signal)) signal.listener = undefined
  else groups.get(signal)?.remove(entry)
}

/**
 * Fires when one of two signals does, until it is released.
 *
 * Instead of `AbortSignal.any`: on Node.js 20 each result of it leaves an entry on its sources for as long as they
 * live, which for a server's signal is forever.
 */
export class JoinedSignals extends CancelToken {
  readonly #sources: readonly AbortSignal[]
  readonly #entry: SignalListener = { handleEvent: () => this.#update() }

  constructor(left: AbortSignal, right: AbortSignal) {
    super()
    this.#sources = [left, right]
    for (const source of this.#sources) addSignalListener(source, this.#entry)
    this.#update()
  }

  release(): void {
    for (const source of this.#sources) removeSignalListener(source, this.#entry)
  }

  #update(): void {
    const fired = this.#sources.find(({ aborted }) => aborted)
    if (fired !== undefined) this.cancel(fired.reason)
  }
}

class SignalGroup {
  // Weak: the group must not keep its signal alive.
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
