// What happened in the last calls: the form in which it is served, its bounds, and what fills it.
import type {
  CallOutcome,
  CallScope,
  CallTracer,
  TraceAttributes,
  TraceDestination,
  TracedCall,
} from "../../core/tracing.ts"
import type { CallWay, OperationType } from "../../core/types.ts"
import { wallTimeOf } from "../../internal/clock.ts"
import type { Clock } from "../../internal/platform.ts"
import { redactText } from "../../internal/redact.ts"

/** Something that happened within a call. */
export interface TimelinePart {
  readonly kind: "queue" | "attempt" | "cache" | "breaker" | "answer" | "exchange" | "log"
  /** Milliseconds after the call began. */
  readonly at: number
  /** 0 for what takes no time. */
  readonly durationMs: number
  readonly name: string
  /** The error code, or the status of an exchange. */
  readonly code?: string | undefined
  /** Whether it failed. */
  readonly isFailed?: boolean | undefined
  /** The text of a log line; only where calls are recorded. */
  readonly text?: string | undefined
}

/** A call, and what happened in it. */
export interface TimelineCall {
  readonly requestId: string
  /** The place in the list of the call that made this one. */
  readonly parent?: number | undefined
  readonly operationId: string
  readonly type: OperationType | undefined
  /** The source that its operation comes from. */
  readonly source?: string | undefined
  /** How its outermost call came in. */
  readonly via: CallWay
  readonly identity?: string | undefined
  readonly traceId?: string | undefined
  /** When it began, in milliseconds since 1970. */
  readonly at: number
  /** Absent while it runs. */
  readonly durationMs?: number | undefined
  readonly outcome?: CallOutcome["outcome"] | undefined
  readonly code?: string | undefined
  readonly items: number
  readonly parts: readonly TimelinePart[]
  /** Number of parts that were not kept. */
  readonly dropped: number
}

/** An outermost call and the calls below it, in the order in which they began. */
export interface Timeline {
  readonly calls: readonly TimelineCall[]
  /** Number of calls that were not kept. */
  readonly dropped: number
}

/** Outermost calls that are kept, whatever they are. */
const MAX_TREES = 200
/** Outermost calls that failed or were slow, which are kept longer. */
const MAX_NOTABLE = 100
const SLOW_MS = 1000
const MAX_CALLS = 200
const MAX_PARTS = 100
const MAX_TEXT = 200
/** Timelines with one request id that are found: clients choose these ids. */
const MAX_FOUND = 20

interface Tree {
  /** When it began: the date, and the time of the clock. */
  readonly at: number
  readonly began: number
  readonly calls: KeptCall[]
  dropped: number
}

interface KeptCall extends Omit<TimelineCall, "parts" | "dropped"> {
  traceId: string | undefined
  durationMs: number | undefined
  outcome: CallOutcome["outcome"] | undefined
  code: string | undefined
  items: number
  readonly parts: TimelinePart[]
  dropped: number
}

/** What timelines need to know. */
export interface TimelineOptions {
  readonly clock: Clock
  readonly sourceOf?: ((id: string) => string | undefined) | undefined
  /** Keeps the text of log lines, which may have data of callers. */
  readonly keepsTexts: boolean
}

/**
 * What happened in the last calls, in bounded memory: never an input, a result or a message of an error.
 *
 * Calls that failed or took more than a second are kept longer than others.
 */
export class Timelines implements CallTracer {
  readonly #options: TimelineOptions
  /** Oldest first. */
  readonly #recent = new Set<Tree>()
  readonly #notable = new Set<Tree>()

  constructor(options: TimelineOptions) {
    this.#options = options
  }

  begin(call: TracedCall): CallScope {
    const parent = call.parent as TimelineScope | undefined
    const tree = parent?.tree ?? this.#plant()
    const { clock, sourceOf } = this.#options
    const id: unknown = call.identity?.id
    const { operationId, type, via, requestId = "" } = call
    const kept: KeptCall = {
      requestId,
      parent: parent?.index,
      operationId,
      type,
      source: sourceOf?.(operationId),
      via,
      identity: typeof id === "string" ? id.slice(0, MAX_TEXT) : undefined,
      traceId: undefined,
      // Not the date of now: calls stay in their order while the date is set.
      at: tree.at + clock.now() - tree.began,
      durationMs: undefined,
      outcome: undefined,
      code: undefined,
      items: 0,
      parts: [],
      dropped: 0,
    }
    const isKept = tree.calls.length < MAX_CALLS
    if (isKept) tree.calls.push(kept)
    else tree.dropped++
    // A call that is not kept hangs those that it makes below its own caller.
    const index = isKept ? tree.calls.length - 1 : parent?.index
    const isRoot = parent === undefined
    return new TimelineScope(this.#options, tree, index, kept, call, () => {
      if (isRoot && isNotable(kept)) this.#keep(tree)
    })
  }

  /** The timelines that have a call with a request id, the newest first; texts only of operations that their reader may call. */
  find(requestId: string, canCall: (operationId: string) => boolean): Timeline[] {
    return [...new Set([...this.#notable, ...this.#recent])]
      .filter(({ calls }) => calls.some((call) => call.requestId === requestId))
      .toSorted((left, right) => (right.calls[0]?.at ?? 0) - (left.calls[0]?.at ?? 0))
      .slice(0, MAX_FOUND)
      .map(({ calls, dropped }) => ({
        calls: calls.map((call) =>
          canCall(call.operationId) ? call : { ...call, parts: call.parts.map(withoutText) },
        ),
        dropped,
      }))
  }

  #plant(): Tree {
    const { clock } = this.#options
    const tree: Tree = { at: wallTimeOf(clock), began: clock.now(), calls: [], dropped: 0 }
    this.#recent.add(tree)
    dropOldest(this.#recent, MAX_TREES)
    return tree
  }

  #keep(tree: Tree): void {
    this.#notable.add(tree)
    dropOldest(this.#notable, MAX_NOTABLE)
  }
}

class TimelineScope implements CallScope {
  readonly tree: Tree
  readonly index: number | undefined
  readonly #options: TimelineOptions
  readonly #kept: KeptCall
  readonly #onEnd: () => void
  readonly #began: number
  /** Dropped at the end: it refers to the call. */
  #call: TracedCall | undefined
  /** Of the attempt that runs: its number, and when it began. */
  #attempt = 1
  #attemptAt = 0

  constructor(
    options: TimelineOptions,
    tree: Tree,
    index: number | undefined,
    kept: KeptCall,
    call: TracedCall,
    onEnd: () => void,
  ) {
    this.#options = options
    this.tree = tree
    this.index = index
    this.#kept = kept
    this.#call = call
    this.#onEnd = onEnd
    this.#began = options.clock.now()
  }

  run<T>(work: () => T): T {
    return work()
  }

  end({ outcome, error, items, envelope }: CallOutcome): void {
    const kept = this.#kept
    const durationMs = this.#elapsed()
    // An error without a code is that of an MCP tool, which reports it as its result.
    const code = error?.code ?? (envelope === undefined ? undefined : "EXECUTION_ERROR")
    const isFailed = outcome === "error"
    if (this.#attempt > 1 && this.#attemptAt <= durationMs)
      this.#endAttempt(durationMs, isFailed, code)
    kept.durationMs = durationMs
    kept.outcome = outcome
    kept.items = items
    if (outcome !== "ok") kept.code = cut(code ?? "UNKNOWN_ERROR")
    kept.traceId = this.#call?.traceId
    this.#call = undefined
    this.#onEnd()
  }

  event(name: string, attributes: TraceAttributes): void {
    // Work that callers share may go on after the call that started it.
    if (this.#call === undefined) return
    const now = this.#elapsed()
    const waited = Number(attributes["wait_ms"] ?? 0)
    const code = textOf(attributes["code"])
    switch (name) {
      case "operations.retry":
        this.#endAttempt(now, true, code)
        this.#attempt = Number(attributes["attempt"])
        this.#attemptAt = now + Number(attributes["delay_ms"])
        return
      case "operations.retry.denied":
        return this.#add({ kind: "attempt", at: now, name: "retry denied by the budget", code })
      case "operations.hedge":
        return this.#add({ kind: "attempt", at: now, name: `hedge ${attributes["attempt"]}` })
      case "operations.queue":
        this.#add({ kind: "queue", at: now - waited, durationMs: waited, name: "queue" })
        this.#attemptAt = Math.max(this.#attemptAt, now)
        return
      case "operations.question":
        return this.#add({
          ...{ kind: "answer", at: now - waited, durationMs: waited, name: "waits for an answer" },
        })
      case "operations.cache":
        this.#attemptAt = Math.max(this.#attemptAt, now)
        return this.#add({ kind: "cache", at: now, name: `cache ${attributes["result"]}` })
      case "operations.breaker":
        return this.#add({ kind: "breaker", at: now, name: `breaker ${attributes["state"]}` })
      default:
    }
  }

  log(level: string, message: string): void {
    const text = this.#options.keepsTexts && typeof message === "string"
    const part = { kind: "log", at: this.#elapsed(), name: level } as const
    this.#add({ ...part, ...(text && { text: cut(redactText(message)) }) })
  }

  child(name: string, to: TraceDestination, attributes: TraceAttributes): CallScope {
    const at = this.#elapsed()
    const { clock } = this.#options
    const began = clock.now()
    const server = textOf(attributes["server.address"])
    const text = server === undefined ? name : `${name} (${server})`
    return {
      run: (work) => work(),
      end: ({ outcome, error, attributes: known = {} }) => {
        const status = known["http.response.status_code"]
        this.#add({
          ...{ kind: "exchange", at, durationMs: clock.now() - began, name: text },
          code: status === undefined ? error?.code : String(status),
          isFailed: outcome === "error" || Number(status) >= 400,
        })
      },
    }
  }

  #endAttempt(now: number, isFailed: boolean, code: string | undefined): void {
    const at = this.#attemptAt
    this.#add({
      ...{ kind: "attempt", at, durationMs: now - at, name: `attempt ${this.#attempt}` },
      ...(isFailed && { code, isFailed }),
    })
  }

  #add(part: Omit<TimelinePart, "durationMs"> & { readonly durationMs?: number }): void {
    const kept = this.#kept
    if (kept.parts.length >= MAX_PARTS) {
      kept.dropped++
      return
    }
    const { kind, at, durationMs = 0, name, code, isFailed, text } = part
    kept.parts.push({
      ...{ kind, at: Math.max(0, at), durationMs, name: cut(name) },
      ...(code !== undefined && { code: cut(code) }),
      ...(isFailed === true && { isFailed }),
      ...(text !== undefined && { text }),
    })
  }

  #elapsed(): number {
    return this.#options.clock.now() - this.#began
  }
}

function isNotable({ outcome, type, durationMs = 0 }: KeptCall): boolean {
  // A subscription lasts as long as its reader stays.
  return outcome === "error" || (type !== "subscription" && durationMs >= SLOW_MS)
}

function dropOldest(trees: Set<Tree>, max: number): void {
  for (const oldest of trees) {
    if (trees.size <= max) return
    trees.delete(oldest)
  }
}

function withoutText(part: TimelinePart): TimelinePart {
  return { ...part, text: undefined }
}

function textOf(value: unknown): string | undefined {
  return typeof value === "string" ? value : undefined
}

function cut(text: string): string {
  return text.slice(0, MAX_TEXT)
}
