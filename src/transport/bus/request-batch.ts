import type { CallerCore } from "./caller-core.ts"
import type { CallEntry } from "./caller-entry.ts"
import type { KnownWorker } from "./known-worker.ts"
import { frameText } from "./wire.ts"

/** Entries whose requests left together: the broker names them together when nobody listened. */
export interface MarkedGroup {
  readonly mark: string
  readonly entries: readonly CallEntry[]
  /** How many of them still go by this mark. */
  open: number
}

interface Waiting {
  readonly entry: CallEntry
  readonly attempt: number
  readonly text: string
}

interface Heap {
  readonly operationId: string
  readonly worker: KnownWorker | undefined
  readonly waiting: Waiting[]
}

/** While no more than so many wait for answers, the first one of a turn is sent at once. */
const FEW = 4
/** So many requests travel in one frame at most. */
const MOST = 32
/** So many frames there are for each worker that could take one, so that each gets its share. */
const SHARES = 4
/** A character is at most three bytes, so that texts need not be measured. */
const BYTES_PER_CHARACTER = 3
const OVERHEAD = 128

/**
 * Sends requests: of few the first of a turn at once, and those that follow in the same turn in frames of several.
 *
 * A frame goes to one worker. So few travel together that many workers share them all the same.
 */
export class RequestBatch {
  readonly #core: CallerCore
  readonly #failed: (entry: CallEntry, thrown: unknown) => void
  #heaps = new Map<string, Heap>()
  #isTurn = false

  /** `failed` is told of requests that could not leave after all. */
  constructor(core: CallerCore, failed: (entry: CallEntry, thrown: unknown) => void) {
    this.#core = core
    this.#failed = failed
  }

  /** Throws a `CallError` when it cannot leave at once. */
  send(entry: CallEntry, worker: KnownWorker | undefined, text: string): void {
    const { operationId, attempt } = entry
    if (!this.#isTurn) {
      this.#isTurn = true
      const { clock, pending } = this.#core
      if (clock.defer === undefined) clock.setTimeout(this.#onTurn, 0)
      else clock.defer(this.#onTurn)
      // Where much is under way, one that goes ahead would only cost its worker a turn of its own.
      if (pending.size <= FEW) {
        this.#post(operationId, worker, [entry], [text])
        return
      }
    }
    const key = worker === undefined ? operationId : `${worker.address} ${operationId}`
    let heap = this.#heaps.get(key)
    if (heap === undefined) {
      heap = { operationId, worker, waiting: [] }
      this.#heaps.set(key, heap)
    }
    heap.waiting.push({ entry, attempt, text })
  }

  readonly #onTurn = (): void => {
    this.#isTurn = false
    if (this.#heaps.size === 0) return
    const heaps = this.#heaps
    this.#heaps = new Map()
    for (const heap of heaps.values()) this.#empty(heap)
  }

  #empty({ operationId, worker, waiting }: Heap): void {
    const { bus } = this.#core
    const still = waiting.filter(
      ({ entry, attempt }) => !entry.isOver && entry.state === "sent" && entry.attempt === attempt,
    )
    const [first] = still
    if (first === undefined) return
    const takers = worker === undefined ? first.entry.offer.workers.length : 1
    // Where there is but one to take them they need not be shared.
    const share = takers === 1 ? MOST : Math.floor(still.length / (SHARES * Math.max(1, takers)))
    const most = Math.min(MOST, Math.max(1, share))
    let entries: CallEntry[] = []
    let texts: string[] = []
    let length = OVERHEAD
    const post = (): void => {
      if (entries.length > 0) this.#try(operationId, worker, entries, texts)
      entries = []
      texts = []
      length = OVERHEAD
    }
    for (const { entry, text } of still) {
      const size = (text.length + 1) * BYTES_PER_CHARACTER
      if (entries.length >= most || length + size > bus.maxPayload) post()
      entries.push(entry)
      texts.push(text)
      length += size
    }
    post()
  }

  #try(
    operationId: string,
    worker: KnownWorker | undefined,
    entries: readonly CallEntry[],
    texts: readonly string[],
  ): void {
    try {
      this.#post(operationId, worker, entries, texts)
    } catch (thrown) {
      for (const entry of entries) this.#failed(entry, thrown)
    }
  }

  #post(
    operationId: string,
    worker: KnownWorker | undefined,
    entries: readonly CallEntry[],
    texts: readonly string[],
  ): void {
    const core = this.#core
    const group: MarkedGroup = { mark: core.newMark("r"), entries, open: entries.length }
    for (const entry of entries) entry.group = group
    core.groups.set(group.mark, group)
    const frame = frameText(core.bus.address, texts)
    if (worker === undefined) core.bus.toAny(operationId, frame, group.mark)
    else core.bus.toWorker(worker.address, operationId, frame, group.mark)
  }
}
