// The life of one source, from opening to closing it.
import { setImmediate as nextTurn } from "node:timers/promises"
import type { ResolvedSource } from "../config/model.ts"
import type { AnyOperation } from "../core/define.ts"
import { CallError, isCallError } from "../core/errors.ts"
import { setRef } from "../internal/defer.ts"
import { reasonOf } from "../internal/message-text.ts"
import type { SourceOwnership } from "./source-ownership.ts"
import type {
  OpenSource,
  SourceDetails,
  SourceLogLine,
  SourceReport,
  SourceState,
  SourceStatus,
  SourceContext,
} from "./model.ts"
import { missingVariableOf, SourceDiagnosis } from "./source-diagnosis.ts"
import { filesOf, originOf } from "./origin.ts"
import { HUB_SOURCES } from "./sources/index.ts"
import type { Listeners } from "../internal/listeners.ts"
import { Running } from "./running-calls.ts"
import { isSameOpening, reportOf, Shaper, type Shaped } from "./apply-source-config.ts"
import { sameData } from "../internal/same-data.ts"
import { watchFiles, type Watching } from "./watch.ts"
import type { MCPLogReader } from "../sources/mcp/client/log-lines.ts"
import { systemClock, wallTimeOf } from "../internal/clock.ts"
import { backOff, withJitter } from "../internal/back-off.ts"
import { deferred } from "../internal/wait.ts"

/** What a source needs from its hub. */
export interface RunnerHost extends Pick<
  SourceContext,
  "logger" | "clock" | "retries" | "baseDir" | "resolve"
> {
  readonly ownership: SourceOwnership
  readonly mask: (text: string) => string
  /** Called at each change of status. */
  changed(status: SourceStatus): void
  /** Who reads what the servers of sources log. */
  readonly logReaders: Listeners<SourceLogLine>
  /** Sources are opened again when their files change. */
  readonly isWatching: boolean
  /** Closes a source when its calls have finished; `close` of the hub waits for that. */
  retire(running: Running, source: OpenSource): void
}

/** An open source and its registered operations. */
interface Live {
  readonly source: OpenSource
  readonly running: Running
  readonly openedAs: string
  readonly stops: (() => void)[]
  shaper: Shaper
  shaped: Shaped
  /** Its operations changed before it was in use. */
  isStale: boolean
}

/** Operations of a large source that are registered in one turn of the event loop, at least. */
const PART_SIZE = 1000
const MAX_PARTS = 20

/** Opens one source, retries when that fails, and keeps its operations registered. */
export class SourceRunner {
  readonly name: string
  readonly #host: RunnerHost
  readonly #diagnosis: SourceDiagnosis
  #definition: ResolvedSource
  #state: SourceState
  #reason: string | undefined
  #attempts = 0
  #retryAt: number | undefined
  #timer: unknown
  #live: Live | undefined
  #opening: AbortController | undefined
  #watching: Watching | undefined
  #watched: readonly string[] = []
  /** When the last opening began; later changes of files have not been read. */
  #openedAt = 0
  /** Why the open source was lost. */
  #lost: string | undefined
  #isClosed = false
  readonly #first = deferred()

  constructor(definition: ResolvedSource, host: RunnerHost) {
    this.name = definition.name
    this.#definition = definition
    this.#host = host
    this.#diagnosis = new SourceDiagnosis(host.clock, host.mask)
    this.#state = definition.disabled ? "disabled" : "loading"
  }

  /** Resolves when the source has become ready or failed once. */
  get first(): Promise<void> {
    return this.#first.promise
  }

  get status(): SourceStatus {
    const { name, kind, namespace } = this.#definition
    const { lastError } = this.#diagnosis
    return {
      name,
      kind,
      namespace,
      origin: this.#host.mask(originOf(this.#definition, this.#host.baseDir)),
      state: this.#state,
      operations: this.#host.ownership.count(name),
      ...(this.#reason !== undefined && { reason: this.#reason }),
      attempts: this.#attempts,
      ...(this.#retryAt !== undefined && { retryAt: this.#retryAt }),
      ...(lastError !== undefined && { lastError }),
    }
  }

  get details(): SourceDetails {
    return this.#diagnosis.details(this.#live?.source)
  }

  get report(): SourceReport | undefined {
    const live = this.#live
    if (live === undefined) return undefined
    const { ownership, mask } = this.#host
    return reportOf(live.source.report(), live.shaped, ownership.unregistered(this.name), mask)
  }

  /** Opens the source for the first time. Never throws: a failure becomes its status. */
  start(): void {
    if (this.#definition.disabled) this.#first.resolve()
    else this.#attempt().catch(() => {})
  }

  /** Opens the source again, in any state. Rejects when that fails; then the previous one stays open. */
  async reopen(): Promise<void> {
    if (this.#definition.disabled) {
      throw new CallError(
        "UNAVAILABLE",
        `Source "${this.name}" is disabled. Take "disabled" out of its configuration.`,
        { retryable: false },
      )
    }
    await this.#attempt()
  }

  /** Applies another configuration. The open source serves under the new rules until it is replaced. */
  async change(definition: ResolvedSource, isElsewhere: boolean): Promise<void> {
    const before = this.#definition
    if (!isElsewhere && sameData(before, definition)) return
    this.#definition = definition
    if (definition.disabled) {
      this.#stopOpening()
      this.#release()
      this.#attempts = 0
      this.#set("disabled", undefined)
      this.#first.resolve()
      return
    }
    this.#reshape()
    if (
      !isElsewhere &&
      !before.disabled &&
      this.#live !== undefined &&
      this.#opening === undefined &&
      isSameOpening(before, definition)
    ) {
      this.#set(this.#state, this.#reason)
      return
    }
    await this.#attempt().catch(() => {})
  }

  /** Unregisters the operations, and closes the source when its calls have finished. */
  close(): void {
    this.#isClosed = true
    this.#stopOpening()
    this.#release()
    this.#first.resolve()
  }

  async #attempt(): Promise<void> {
    this.#stopOpening()
    const opening = new AbortController()
    this.#opening = opening
    this.#openedAt = wallTimeOf(systemClock)
    this.#set("loading", this.#reason)
    const { name, namespace } = this.#definition
    try {
      const source = await this.#open(opening.signal)
      try {
        // Reading a large document took its own turn.
        await nextTurn()
        opening.signal.throwIfAborted()
        const live = this.#shape(source, namespace)
        await this.#registerParts(live.shaped.operations, opening.signal)
        this.#opening = undefined
        this.#adopt(live)
      } catch (error) {
        await source.close()
        throw error
      }
    } catch (error) {
      // Otherwise a newer attempt is running, or the source was closed.
      if (!opening.signal.aborted) this.#fail(error)
      throw new CallError("UNAVAILABLE", this.#reason ?? `Source "${name}" was closed.`, {
        cause: error,
        retryable: false,
      })
    }
  }

  async #open(signal: AbortSignal): Promise<OpenSource> {
    const { logReaders, mask, ownership } = this.#host
    const { originId } = ownership
    const source = this.name
    const ownLog: MCPLogReader = {
      get isReading() {
        return logReaders.size > 0
      },
      read: ({ logger: part, ...line }) => {
        const from = part === undefined ? {} : { logger: mask(part) }
        logReaders.notify({ source, ...line, ...from, text: mask(line.text) })
      },
    }
    const context = { ...this.#host, signal, originId, log: ownLog }
    return await HUB_SOURCES[this.#definition.kind].open(this.#definition, context)
  }

  #shape(source: OpenSource, openedAs: string): Live {
    const running = new Running((thrown) => this.#asOwnFailure(thrown))
    const shaper = this.#shaperFor(running, openedAs)
    const shaped = shaper.shape(source.operations())
    const live: Live = { source, running, openedAs, stops: [], shaper, shaped, isStale: false }
    const changed = (): void => {
      if (this.#live === live) this.#publish()
      else live.isStale = true
    }
    live.stops.push(source.onChange(changed))
    return live
  }

  /**
   * Registers all but the last part of a large source, each in its own turn of the event loop. Operations of the
   * previous opening stay until they are replaced.
   */
  async #registerParts(operations: readonly AnyOperation[], signal: AbortSignal): Promise<void> {
    const { ownership } = this.#host
    const previous = (): readonly AnyOperation[] => this.#live?.shaped.operations ?? []
    const size = Math.max(PART_SIZE, Math.ceil(operations.length / MAX_PARTS))
    for (let end = size; end < operations.length; end += size) {
      // The first operation with an id counts.
      ownership.set(this.name, [...operations.slice(0, end), ...previous()])
      await nextTurn()
      if (!signal.aborted) continue
      ownership.set(this.name, previous())
      signal.throwIfAborted()
    }
  }

  #adopt(live: Live): void {
    const before = this.#live
    const { source, shaped } = live
    this.#live = live
    const stopHealth = source.onHealth?.((reason) => this.#onHealth(reason))
    if (stopHealth !== undefined) live.stops.push(stopHealth)
    this.#attempts = 0
    this.#lost = undefined
    this.#diagnosis.opened()
    if (before !== undefined) this.#diagnosis.reloaded(before.shaped, shaped)
    this.#host.ownership.set(this.name, shaped.operations)
    this.#set("ready", undefined)
    if (live.isStale) this.#publish()
    this.#watch()
    this.#first.resolve()
    if (before !== undefined) this.#retire(before)
  }

  /** Counts running calls only for sources with a connection: closing others does not affect calls. */
  #shaperFor(running: Running, openedAs: string): Shaper {
    const { isConnected = false } = HUB_SOURCES[this.#definition.kind]
    return new Shaper(this.#definition, openedAs, isConnected ? running.wrap : undefined)
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
    const before = live.shaped
    live.shaped = live.shaper.shape(live.source.operations())
    this.#diagnosis.reloaded(before, live.shaped)
    this.#host.ownership.set(this.name, live.shaped.operations)
    this.#set(this.#state, this.#reason)
  }

  /** A server that refuses the hub's own credential has not refused the caller's. */
  #asOwnFailure(thrown: unknown): unknown {
    const isRefusal = isCallError(thrown, "UNAUTHENTICATED") || isCallError(thrown, "ACCESS_DENIED")
    const { kind, config } = this.#definition
    if (!isRefusal || HUB_SOURCES[kind].isForCaller?.(config) === true) return thrown
    this.#diagnosis.lost(reasonOf(thrown))
    this.#set(this.#state, this.#reason)
    return new CallError(
      "UNAVAILABLE",
      `The server of source "${this.name}" refuses the credential of this hub. Its administrator finds the reason in the status of the source.`,
      {
        retryable: false,
        mayHaveExecuted: thrown.mayHaveExecuted,
        details: { source: this.name },
        cause: thrown,
      },
    )
  }

  #onHealth(reason: string | undefined): void {
    this.#lost = reason
    if (reason !== undefined) this.#diagnosis.lost(reason)
    if (this.#isClosed || this.#opening !== undefined) return
    this.#attempts = reason === undefined ? 0 : this.#attempts + 1
    this.#set(reason === undefined ? "ready" : "lost", reason)
  }

  #fail(error: unknown): void {
    this.#opening = undefined
    const { clock, logger, mask, retries } = this.#host
    const delay = withJitter(backOff(++this.#attempts, 1000, 30_000))
    const needsRestart = retries && missingVariableOf(error) !== undefined
    const hint = needsRestart ? " A running hub gets no new variables: set it, then restart." : ""
    const reason = mask(reasonOf(error)) + hint
    this.#diagnosis.failed(reason, error)
    logger[this.#attempts === 1 ? "warn" : "debug"]("A source could not be opened", {
      source: this.name,
      reason,
    })
    if (retries && !needsRestart && !this.#isClosed) {
      this.#retryAt = wallTimeOf(clock) + delay
      this.#timer = clock.setTimeout(() => void this.#attempt().catch(() => {}), delay)
      setRef(this.#timer, false)
    }
    this.#set(this.#currentState(), reason)
    this.#watch()
    this.#first.resolve()
  }

  /** The state that follows from the open source, if there is one. */
  #currentState(): SourceState {
    if (this.#live === undefined) return "failed"
    return this.#lost === undefined ? "ready" : "lost"
  }

  /** Watches the files of the source, also when it failed: the missing file may be written any moment. */
  #watch(): void {
    const { isWatching, baseDir, logger } = this.#host
    const paths = this.#live?.source.files ?? filesOf(this.#definition, baseDir)
    // The current watcher knows the previous files; a new one would not notice a deleted file.
    if (this.#watching !== undefined && sameData(paths, this.#watched)) return
    this.#watching?.close()
    this.#watching = undefined
    if (!isWatching || paths.length === 0) return
    this.#watched = paths
    const reopen = (): void => void this.#attempt().catch(() => {})
    this.#watching = watchFiles(paths, reopen, { since: this.#openedAt, logger })
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

  #release(): void {
    this.#watching?.close()
    this.#watching = undefined
    this.#host.ownership.set(this.name, [])
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
