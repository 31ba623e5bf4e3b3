import type { CallerCore } from "./state.ts"
import type { CallEntry } from "./model.ts"
import { FrameBuilder, wholeText } from "../wire/frame-builder.ts"
import type { MessageText } from "../wire/frame-builder.ts"
import type { KnownWorker } from "./model.ts"
import { frameText } from "../wire/wire.ts"
import type { MarkedGroup } from "./model.ts"

interface Waiting {
  readonly entry: CallEntry
  readonly attempt: number
  readonly message: MessageText
}

/** Requests to the same address. */
interface Heap {
  readonly operationId: string
  readonly worker: KnownWorker | undefined
  waiting: Waiting[]
  /** Frames of which nothing has been heard so far. */
  underWay: number
  /** One of those was heard of. */
  readonly over: () => void
}

/** While no more than so many wait for answers, the first one of a turn is sent at once. */
const FEW = 4
/** While no more than so many wait for answers, none waits for others to travel with. */
const SOME = 16
/** So many requests travel in one frame at most. */
const MOST = 64
/** So many frames there are for each worker that could take one, so that each gets its share. */
const SHARES = 4
/** So many frames there are where only one worker could take them: one it reads while the other is on its way. */
const ALTERNATING = 2
/** Milliseconds that a request waits at most for an earlier one to be heard of. */
const PATIENCE = 2
/** Addresses that are remembered; beyond that, those that nothing is under way to are forgotten. */
const MOST_HEAPS = 1000

/**
 * Sends requests: of few the first of a turn at once, and those that follow in the same turn in frames of several.
 *
 * Where many are under way, those that come wait until an earlier frame was heard of, and travel together: a frame
 * costs its sender, the broker and the worker far more than what is in it. A frame goes to one worker. So few travel
 * together that many workers share them all the same.
 */
export class RequestBatch {
  readonly #core: CallerCore
  readonly #failed: (entry: CallEntry, thrown: unknown) => void
  readonly #heaps = new Map<string, Heap>()
  readonly #filled = new Set<Heap>()
  #isTurn = false
  #timer: unknown

  /** `failed` is told of requests that could not leave after all. */
  constructor(core: CallerCore, failed: (entry: CallEntry, thrown: unknown) => void) {
    this.#core = core
    this.#failed = failed
  }

  /** Throws a `CallError` when it cannot leave at once. */
  send(entry: CallEntry, worker: KnownWorker | undefined, message: MessageText): void {
    const heap = this.#heapOf(entry.operationId, worker)
    // Where much is under way, one that goes ahead would only cost its worker a turn of its own.
    if (this.#startTurn() && this.#core.pending.size <= FEW) {
      this.#post(heap, [entry], frameText(this.#core.bus.address, [wholeText(message)]))
      return
    }
    heap.waiting.push({ entry, attempt: entry.attempt, message })
    this.#filled.add(heap)
  }

  /** Sends nothing any more. */
  close(): void {
    this.#disarm()
    this.#filled.clear()
    this.#heaps.clear()
  }

  #heapOf(operationId: string, worker: KnownWorker | undefined): Heap {
    const key = worker === undefined ? operationId : `${worker.address} ${operationId}`
    const known = this.#heaps.get(key)
    if (known !== undefined) return known
    if (this.#heaps.size >= MOST_HEAPS) this.#forgetIdle()
    const heap: Heap = {
      ...{ operationId, worker, waiting: [], underWay: 0 },
      over: () => {
        heap.underWay--
        if (heap.waiting.length > 0) this.#startTurn()
      },
    }
    this.#heaps.set(key, heap)
    return heap
  }

  #forgetIdle(): void {
    for (const [key, { waiting, underWay }] of this.#heaps) {
      if (waiting.length === 0 && underWay === 0) this.#heaps.delete(key)
    }
  }

  /** Whether this turn had not begun. */
  #startTurn(): boolean {
    if (this.#isTurn) return false
    this.#isTurn = true
    const { clock } = this.#core
    if (clock.defer === undefined) clock.setTimeout(this.#onTurn, 0)
    else clock.defer(this.#onTurn)
    return true
  }

  readonly #onTurn = (): void => {
    this.#isTurn = false
    for (const heap of [...this.#filled]) if (!this.#mayWait(heap)) this.#empty(heap)
    if (this.#filled.size === 0) this.#disarm()
    else this.#timer ??= this.#core.clock.setTimeout(this.#onLate, PATIENCE)
  }

  readonly #onLate = (): void => {
    this.#timer = undefined
    for (const heap of [...this.#filled]) this.#empty(heap)
  }

  #disarm(): void {
    if (this.#timer !== undefined) this.#core.clock.clearTimeout(this.#timer)
    this.#timer = undefined
  }

  /** An earlier frame will be heard of soon, and until then there may be more to send. */
  #mayWait({ worker, waiting, underWay }: Heap): boolean {
    const [first] = waiting
    if (first === undefined || underWay === 0 || waiting.length >= MOST) return false
    if (this.#core.pending.size <= SOME) return false
    const takers = takersOf(first, worker)
    return underWay >= (takers === 1 ? ALTERNATING : SHARES * takers)
  }

  #empty(heap: Heap): void {
    const { bus } = this.#core
    const still = heap.waiting.filter(
      ({ entry, attempt }) => !entry.isOver && entry.state === "sent" && entry.attempt === attempt,
    )
    heap.waiting = []
    this.#filled.delete(heap)
    const [first] = still
    if (first === undefined) return
    const takers = takersOf(first, heap.worker)
    // Where there is but one to take them they need not be shared.
    const share = takers === 1 ? MOST : Math.floor(still.length / (SHARES * takers))
    const most = Math.min(MOST, Math.max(1, share))
    const frame = new FrameBuilder(bus.address)
    let entries: CallEntry[] = []
    const post = (): void => {
      if (entries.length > 0) this.#try(heap, entries, frame.take())
      entries = []
    }
    for (const { entry, message } of still) {
      const { text, head } = message
      if (entries.length >= most || !frame.fits(text, head, bus.maxPayload)) post()
      entries.push(entry)
      frame.add(text, head)
    }
    post()
  }

  #try(heap: Heap, entries: readonly CallEntry[], frame: string): void {
    try {
      this.#post(heap, entries, frame)
    } catch (thrown) {
      for (const entry of entries) this.#failed(entry, thrown)
    }
  }

  #post(heap: Heap, entries: readonly CallEntry[], frame: string): void {
    const core = this.#core
    const { operationId, worker, over } = heap
    const group: MarkedGroup = { mark: core.newMark("r"), entries, open: entries.length, over }
    for (const entry of entries) entry.group = group
    core.groups.set(group.mark, group)
    heap.underWay++
    if (worker === undefined) core.bus.toAny(operationId, frame, group.mark)
    else core.bus.toWorker(worker.address, operationId, frame, group.mark)
  }
}

/** How many workers could take a request, as far as that is known. */
function takersOf({ entry }: Waiting, worker: KnownWorker | undefined): number {
  return worker === undefined ? Math.max(1, entry.offer.workers.length) : 1
}
