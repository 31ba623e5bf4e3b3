// One idea: the life of one source, from opening it to letting go of it.
import type { ResolvedSource } from "../config/model.ts"
import { CallError } from "../core/errors.ts"
import { setRef } from "../internal/defer.ts"
import type { Logger } from "../internal/logger.ts"
import type { Clock } from "../internal/platform.ts"
import { reasonOf } from "../internal/describe.ts"
import { backoff } from "./backoff.ts"
import type { Ledger } from "./ledger.ts"
import type { OpenSource, OpenSourceOf, SourceReport, SourceState, SourceStatus } from "./model.ts"
import { filesOf, originOf } from "./origin.ts"
import { reportOf } from "./report.ts"
import { Running } from "./running.ts"
import { Shaper } from "./shape.ts"
import type { Shaped } from "./shape.ts"
import { sameData, isSameOpening } from "./same.ts"
import type { Watching } from "./watch.ts"
import { systemClock, wallTimeOf } from "../internal/clock.ts"

/** What a source has of its hub. */
export interface RunnerHost {
  readonly logger: Logger
  readonly clock: Clock
  readonly env: Readonly<Record<string, string | undefined>>
  readonly retries: boolean
  readonly baseDir: string
  readonly ledger: Ledger
  readonly open: OpenSourceOf
  readonly resolve: (text: string) => Promise<string>
  readonly mask: (text: string) => string
  /** Told of each change of state. */
  changed(status: SourceStatus): void
  /** Follows files; `undefined` where nobody asked for that. */
  readonly watch:
    | ((paths: readonly string[], since: number, changed: () => void) => Watching)
    | undefined
  /** Closes a source once its calls are over; the hub waits for it when it is closed. */
  retire(running: Running, source: OpenSource): void
}

/** A source that is open, and what is made of it. */
interface Live {
  readonly source: OpenSource
  readonly running: Running
  readonly openedAs: string
  readonly stops: (() => void)[]
  shaper: Shaper
  shaped: Shaped
}

/** One source: opens it, tries again when that fails, and keeps its operations registered. */
export class SourceRunner {
  readonly name: string
  /** Settles when the source has become ready or failed once. */
  readonly first: Promise<void>
  readonly #host: RunnerHost
  #settled: ResolvedSource
  #state: SourceState
  #reason: string | undefined
  #attempts = 0
  #retryAt: number | undefined
  #timer: unknown
  #live: Live | undefined
  #opening: AbortController | undefined
  #watching: Watching | undefined
  #watched: readonly string[] = []
  /** When it was last begun to be read; what is written later has not been seen. */
  #openedAt = 0
  /** Why what is open went away. */
  #lost: string | undefined
  #isClosed = false
  #settleFirst: () => void = () => {}

  constructor(settled: ResolvedSource, host: RunnerHost) {
    this.name = settled.name
    this.#settled = settled
    this.#host = host
    this.#state = settled.disabled ? "disabled" : "loading"
    this.first = new Promise((resolve) => {
      this.#settleFirst = resolve
    })
  }

  get status(): SourceStatus {
    const { name, kind, namespace } = this.#settled
    return {
      name,
      kind,
      namespace,
      origin: this.#host.mask(originOf(this.#settled)),
      state: this.#state,
      operations: this.#host.ledger.count(name),
      ...(this.#reason !== undefined && { reason: this.#reason }),
      attempts: this.#attempts,
      ...(this.#retryAt !== undefined && { retryAt: this.#retryAt }),
    }
  }

  get report(): SourceReport | undefined {
    const live = this.#live
    if (live === undefined) return undefined
    const { ledger, mask } = this.#host
    return reportOf(live.source.report(), live.shaped, ledger.unregistered(this.name), mask)
  }

  /** Opens it for the first time. Never rejects: what goes wrong is its status. */
  start(): void {
    if (this.#settled.disabled) this.#settleFirst()
    else this.#attempt().catch(() => {})
  }

  /** Opens it anew, whatever it is doing. Rejects when that fails, and then what was open stays so. */
  async reopen(): Promise<void> {
    if (this.#settled.disabled) {
      throw new CallError(
        "UNAVAILABLE",
        `Source "${this.name}" is disabled. Take "disabled" out of its configuration.`,
        { retryable: false },
      )
    }
    await this.#attempt()
  }

  /** Takes another configuration. What was open serves under the new rules until it is replaced. */
  async change(settled: ResolvedSource, isElsewhere: boolean): Promise<void> {
    const before = this.#settled
    if (!isElsewhere && sameData(before, settled)) return
    this.#settled = settled
    if (settled.disabled) {
      this.#stopOpening()
      this.#letGo()
      this.#attempts = 0
      this.#set("disabled", undefined)
      this.#settleFirst()
      return
    }
    this.#reshape()
    if (
      !isElsewhere &&
      !before.disabled &&
      this.#live !== undefined &&
      isSameOpening(before, settled)
    ) {
      this.#set(this.#state, this.#reason)
      return
    }
    await this.#attempt().catch(() => {})
  }

  /** Takes its operations out, and lets go of it once its calls are over. */
  close(): void {
    this.#isClosed = true
    this.#stopOpening()
    this.#letGo()
    this.#settleFirst()
  }

  async #attempt(): Promise<void> {
    this.#stopOpening()
    const opening = new AbortController()
    this.#opening = opening
    this.#openedAt = wallTimeOf(systemClock)
    this.#set("loading", this.#reason)
    const { name, namespace } = this.#settled
    try {
      const source = await this.#open(opening.signal)
      if (opening.signal.aborted) {
        await source.close()
        opening.signal.throwIfAborted()
      }
      this.#opening = undefined
      this.#take(source, namespace)
    } catch (error) {
      // Somebody else opens it now, or nobody wants it any more.
      if (this.#opening === opening) this.#fail(error)
      throw new CallError("UNAVAILABLE", this.#reason ?? `Source "${name}" was closed.`, {
        cause: error,
        retryable: false,
      })
    }
  }

  async #open(signal: AbortSignal): Promise<OpenSource> {
    const { baseDir, logger, clock, env, retries, resolve, open } = this.#host
    const isAgain = this.#live !== undefined || this.#attempts > 0
    const context = { baseDir, logger, clock, env, retries, resolve, signal, isAgain }
    return await open(this.#settled, context)
  }

  #take(source: OpenSource, openedAs: string): void {
    const before = this.#live
    const running = new Running()
    const shaper = this.#shaperFor(running, openedAs)
    const shaped = shaper.shape(source.operations())
    const live: Live = { source, running, openedAs, stops: [], shaper, shaped }
    this.#live = live
    live.stops.push(source.onChange(() => this.#publish()))
    const stopHealth = source.onHealth?.((reason) => this.#heed(reason))
    if (stopHealth !== undefined) live.stops.push(stopHealth)
    this.#attempts = 0
    this.#lost = undefined
    this.#host.ledger.set(this.name, shaped.operations)
    this.#set("ready", undefined)
    this.#watch()
    this.#settleFirst()
    if (before !== undefined) this.#retire(before)
  }

  /** Closing matters to calls only where there is a connection. */
  #shaperFor(running: Running, openedAs: string): Shaper {
    const { kind } = this.#settled
    const isConnected = kind === "mcp" || kind === "remote"
    return new Shaper(this.#settled, openedAs, isConnected ? running.wrap : undefined)
  }

  #reshape(): void {
    const live = this.#live
    if (live === undefined) return
    live.shaper = this.#shaperFor(live.running, live.openedAs)
    this.#publish()
  }

  #publish(): void {
    const live = this.#live
    if (live === undefined || this.#isClosed) return
    live.shaped = live.shaper.shape(live.source.operations())
    this.#host.ledger.set(this.name, live.shaped.operations)
    this.#set(this.#state, this.#reason)
  }

  #heed(reason: string | undefined): void {
    this.#lost = reason
    if (this.#isClosed || this.#opening !== undefined) return
    this.#attempts = reason === undefined ? 0 : this.#attempts + 1
    this.#set(reason === undefined ? "ready" : "lost", reason)
  }

  #fail(error: unknown): void {
    this.#opening = undefined
    const { clock, logger, mask, retries } = this.#host
    const delay = backoff(++this.#attempts)
    const reason = mask(reasonOf(error))
    logger[this.#attempts === 1 ? "warn" : "debug"]("A source could not be opened", {
      source: this.name,
      reason,
    })
    if (retries && !this.#isClosed) {
      this.#retryAt = wallTimeOf(clock) + delay
      this.#timer = clock.setTimeout(() => void this.#attempt().catch(() => {}), delay)
      setRef(this.#timer, false)
    }
    this.#set(this.#stateNow(), reason)
    this.#watch()
    this.#settleFirst()
  }

  /** Where what is open, if anything is, stands. */
  #stateNow(): SourceState {
    if (this.#live === undefined) return "failed"
    return this.#lost === undefined ? "ready" : "lost"
  }

  /** Also of a source that failed: what it needs may be written any moment. */
  #watch(): void {
    const { watch, baseDir } = this.#host
    const paths = this.#live?.source.files ?? filesOf(this.#settled, baseDir)
    // One that goes on knows what there was: a new one would not miss a file that is gone already.
    if (this.#watching !== undefined && sameData(paths, this.#watched)) return
    this.#watching?.close()
    this.#watching = undefined
    if (watch === undefined || paths.length === 0) return
    this.#watched = paths
    this.#watching = watch(paths, this.#openedAt, () => void this.#attempt().catch(() => {}))
  }

  #stopOpening(): void {
    const { clock } = this.#host
    clock.clearTimeout(this.#timer)
    this.#timer = undefined
    this.#retryAt = undefined
    const opening = this.#opening
    this.#opening = undefined
    opening?.abort()
  }

  #letGo(): void {
    this.#watching?.close()
    this.#watching = undefined
    this.#host.ledger.set(this.name, [])
    const live = this.#live
    this.#live = undefined
    if (live !== undefined) this.#retire(live)
  }

  #retire({ stops, running, source }: Live): void {
    for (const stop of stops) stop()
    this.#host.retire(running, source)
  }

  #set(state: SourceState, reason: string | undefined): void {
    this.#state = state
    this.#reason = reason === undefined ? undefined : this.#host.mask(reason)
    this.#host.changed(this.status)
  }
}
