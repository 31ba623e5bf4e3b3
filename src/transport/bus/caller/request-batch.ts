import { deferOn } from "../../../internal/clock.ts"
import type { CallerState } from "./state.ts"
import type { CallEntry, KnownWorker, SentGroup } from "./model.ts"
import { FrameBuilder, wholeText, type MessageText } from "../wire/frames.ts"

interface Waiting {
  readonly entry: CallEntry
  readonly attempt: number
  readonly message: MessageText
}

/** Requests to the same address. */
interface RequestQueue {
  readonly operationId: string
  readonly worker: KnownWorker | undefined
  waiting: Waiting[]
  /** Frames without a response so far. */
  underWay: number
  /** Called when one of them got a response. */
  readonly over: () => void
}

/** While at most this many calls are pending, and came in the turn before, the first request of a turn is sent at once. */
const FEW = 4
/** While at most this many calls are pending, requests are not delayed for batching. */
const SOME = 16
/** The maximum number of requests in one frame. */
const MAX_BATCH = 64
/** Frames per eligible worker, so that each gets its share. */
const SHARES = 4
/** Frames in flight when only one worker is eligible: it reads one while the other is on its way. */
const ALTERNATING = 2
/** How long a request waits at most for the response to an earlier frame, in milliseconds. */
const MAX_WAIT_MS = 2
/** The number of queues; beyond it, idle queues are dropped. */
const MAX_QUEUES = 1000

/**
 * Sends requests in batches. At low load the first request of a turn is sent at once, and later ones of the same turn
 * share a frame.
 *
 * At high load requests wait until an earlier frame got a response, and are then sent together: a frame costs its
 * sender, the broker and the worker far more than its contents. A frame goes to one worker, so that batches are kept
 * small enough for all workers to get a share.
 */
export class RequestBatch {
  readonly #state: CallerState
  readonly #failed: (entry: CallEntry, thrown: unknown) => void
  readonly #queues = new Map<string, RequestQueue>()
  readonly #filled = new Set<RequestQueue>()
  #isTurn = false
  /** Requests of this turn, and of the one before. */
  #count = 0
  #lastCount = 0
  #timer: unknown

  /** `failed` receives requests that could not be sent after all. */
  constructor(state: CallerState, failed: (entry: CallEntry, thrown: unknown) => void) {
    this.#state = state
    this.#failed = failed
  }

  /** Throws a `CallError` when it cannot be sent at once. */
  send(entry: CallEntry, worker: KnownWorker | undefined, message: MessageText): void {
    const queue = this.#queueOf(entry.operationId, worker)
    this.#count++
    // At high load a request that is sent alone would only cost its worker an extra turn. Nothing may be pending then,
    // because all answers came in one frame.
    if (this.#startTurn() && this.#lastCount <= FEW && this.#state.pending.size <= FEW) {
      return this.#post(queue, [entry], this.#state.frame(wholeText(message)))
    }
    queue.waiting.push({ entry, attempt: entry.attempt, message })
    this.#filled.add(queue)
  }

  close(): void {
    this.#disarm()
    this.#filled.clear()
    this.#queues.clear()
  }

  #queueOf(operationId: string, worker: KnownWorker | undefined): RequestQueue {
    const key = worker === undefined ? operationId : `${worker.address} ${operationId}`
    const existing = this.#queues.get(key)
    if (existing !== undefined) return existing
    if (this.#queues.size >= MAX_QUEUES) this.#forgetIdle()
    const queue: RequestQueue = {
      ...{ operationId, worker, waiting: [], underWay: 0 },
      over: () => {
        queue.underWay--
        if (queue.waiting.length > 0) this.#startTurn()
      },
    }
    this.#queues.set(key, queue)
    return queue
  }

  #forgetIdle(): void {
    for (const [key, { waiting, underWay }] of this.#queues) {
      if (waiting.length === 0 && underWay === 0) this.#queues.delete(key)
    }
  }

  /** Starts a turn; returns whether none had begun. */
  #startTurn(): boolean {
    if (this.#isTurn) return false
    this.#isTurn = true
    deferOn(this.#state.clock, this.#onTurn)
    return true
  }

  readonly #onTurn = (): void => {
    this.#isTurn = false
    this.#lastCount = this.#count
    this.#count = 0
    for (const queue of [...this.#filled]) if (!this.#mayWait(queue)) this.#empty(queue)
    if (this.#filled.size === 0) this.#disarm()
    else this.#timer ??= this.#state.clock.setTimeout(this.#onLate, MAX_WAIT_MS)
  }

  readonly #onLate = (): void => {
    this.#timer = undefined
    for (const queue of [...this.#filled]) this.#empty(queue)
  }

  #disarm(): void {
    if (this.#timer !== undefined) this.#state.clock.clearTimeout(this.#timer)
    this.#timer = undefined
  }

  /** Whether to wait for the response to an earlier frame, because there may be more to send by then. */
  #mayWait({ worker, waiting, underWay }: RequestQueue): boolean {
    const [first] = waiting
    if (first === undefined || underWay === 0 || waiting.length >= MAX_BATCH) return false
    if (this.#state.pending.size <= SOME) return false
    const takers = takersOf(first, worker)
    return underWay >= (takers === 1 ? ALTERNATING : SHARES * takers)
  }

  #empty(queue: RequestQueue): void {
    const { bus } = this.#state
    const still = queue.waiting.filter(
      ({ entry, attempt }) => !entry.isOver && entry.state === "sent" && entry.attempt === attempt,
    )
    queue.waiting = []
    this.#filled.delete(queue)
    const [first] = still
    if (first === undefined) return
    const takers = takersOf(first, queue.worker)
    // A single worker takes them all.
    const share = takers === 1 ? MAX_BATCH : Math.floor(still.length / (SHARES * takers))
    const most = Math.min(MAX_BATCH, Math.max(1, share))
    const frame = new FrameBuilder(bus.address)
    let entries: CallEntry[] = []
    const post = (): void => {
      const sent = entries
      entries = []
      try {
        if (sent.length > 0) this.#post(queue, sent, frame.take())
      } catch (thrown) {
        for (const entry of sent) this.#failed(entry, thrown)
      }
    }
    for (const { entry, message } of still) {
      const { text, head } = message
      if (entries.length >= most || !frame.fits(text, head, bus.maxPayload)) post()
      entries.push(entry)
      frame.add(text, head)
    }
    post()
  }

  #post(queue: RequestQueue, entries: readonly CallEntry[], frame: string): void {
    const state = this.#state
    const { operationId, worker, over } = queue
    const correlationId = state.newCorrelationId("r")
    const group: SentGroup = { correlationId, entries, open: entries.length, over }
    for (const entry of entries) entry.group = group
    state.groups.set(correlationId, group)
    queue.underWay++
    if (worker === undefined) state.bus.toAny(operationId, frame, correlationId)
    else state.bus.toWorker(worker.address, operationId, frame, correlationId)
  }
}

/** The number of known workers that are eligible for a request. */
function takersOf({ entry }: Waiting, worker: KnownWorker | undefined): number {
  return worker === undefined ? Math.max(1, entry.offer.workers.length) : 1
}
