/** A call or an attempt that runs the handler. */
interface Running {
  readonly workHasBegun: boolean
}

/** The attempts of one call with middleware: how often its handler ran, and whether there may be effects. */
export class AttemptLog {
  /** The call was made without an access check. */
  readonly isTrusted: boolean
  /** How often the handler was started. */
  started = 0
  /** An attempt that has ended may have had effects. */
  hasExecuted = false
  /** Noted by a policy: work for this call goes on without it, and may be done by another call. */
  hasSharedWork = false
  readonly #sharing: { readonly isShared: boolean }
  #running = 0
  #last: Running | undefined

  constructor(sharing: { readonly isShared: boolean }, isTrusted: boolean) {
    this.#sharing = sharing
    this.isTrusted = isTrusted
  }

  /** Whether work outside of the attempts of this call may be done for it. */
  get isShared(): boolean {
    return this.hasSharedWork || this.#sharing.isShared
  }

  /** Whether a handler of this call runs. */
  get isRunning(): boolean {
    return this.#running > 0
  }

  /** Whether an attempt of this call may have had effects by now. */
  get hasEffects(): boolean {
    if (this.hasExecuted || this.#running > 1) return true
    return this.#running === 1 && this.#last?.workHasBegun === true
  }

  /** The same, including work that other calls may do for it. */
  get mayHaveExecuted(): boolean {
    return this.hasEffects || (this.#running === 0 && this.isShared)
  }

  /** Notes that the handler starts. */
  begin(running: Running): void {
    this.started++
    this.#running++
    this.#last = running
  }

  /** Notes that the handler has ended. */
  end(mayHaveExecuted: boolean): void {
    this.#running--
    if (mayHaveExecuted) this.hasExecuted = true
  }
}
