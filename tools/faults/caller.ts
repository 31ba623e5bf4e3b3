import { setTimeout as sleep } from "node:timers/promises"
import { withTimeout } from "../../src/internal/wait.ts"
import { PendingRequestMap } from "../../src/index.ts"
import { silentLogger } from "../../src/testing.ts"
import type { BusTransport } from "../../src/transport/bus/transport.ts"
import type { Transport } from "../../src/protocol/transport.ts"
import { consume } from "./consume.ts"
import type { StreamOrder } from "./consume.ts"
import { now } from "./now.ts"
import { recordError } from "./records.ts"
import type { CallerRecords, CallRecord, StreamRecord } from "./records.ts"

/** One call to make. */
export interface CallOrder {
  /** Without the namespace. */
  readonly operation?: "work" | "read" | "crash" | "block" | "relay" | undefined
  /** The duration and the timeout, in milliseconds. */
  readonly ms?: number | undefined
  readonly timeout?: number | undefined
  readonly data?: string | undefined
  readonly bytes?: number | undefined
  /** The requested version; any when left out. */
  readonly version?: string | undefined
}

/** A load: a rate of calls, for a time. */
export interface RateOrder extends CallOrder {
  readonly perSecond: number
  readonly seconds: number
}

/** The interval at which due calls are made, in milliseconds. */
const TICK = 10
/** The pause before a call with a key is repeated, in milliseconds. */
const RETRY_AFTER = 200
/** The time after its deadline at which a call counts as hung, in milliseconds. */
export const HANGS_AFTER = 10_000

/** A caller that records the outcome of its calls. */
export class LabCaller<TTransport extends Transport = BusTransport> implements AsyncDisposable {
  readonly transport: TTransport
  readonly #prefix: string
  readonly #map: PendingRequestMap
  readonly #name: string
  readonly #calls: CallRecord[] = []
  readonly #streams: StreamRecord[] = []
  readonly #open = new Set<Promise<void>>()
  /** Attempts of `repeat` that failed. */
  refused = 0
  #isClosed = false

  /** `prefix`: the prefix of the lab's operation ids for this caller. */
  constructor(name: string, transport: TTransport, prefix = "lab.") {
    this.#name = name
    this.#prefix = prefix
    this.transport = transport
    this.#map = new PendingRequestMap(this.transport, { logger: silentLogger })
  }

  get records(): CallerRecords {
    return { calls: this.#calls, streams: this.#streams }
  }

  /** Makes a call, and resolves with its record; never rejects. */
  async call(order: CallOrder = {}): Promise<CallRecord> {
    const record = this.#begin(order)
    const { ms = 300, data, bytes } = order
    const input = {
      id: record.id,
      ms,
      ...(data !== undefined && { data }),
      ...(bytes !== undefined && { bytes }),
    }
    const answer = this.#map.call(record.operationId, input, {
      timeout: record.timeout,
      ...(order.version !== undefined && { version: order.version }),
    })
    const settled = answer.then(
      (envelope) => {
        settle(record)
        takeAnswer(record, envelope.data, order)
      },
      (error: unknown) => {
        settle(record)
        record.error = recordError(error)
      },
    )
    await this.#tracked(settled)
    return record
  }

  /**
   * Makes a call with an idempotency key, again while it runs, and again when it has ended; each of them until it succeeds
   * or this time is over. All get the answer of one run.
   */
  async repeat(order: CallOrder, within: number): Promise<CallRecord> {
    const record = this.#begin(order)
    const { id, timeout, operationId } = record
    const { ms = 300 } = order
    const until = now() + within
    const attempt = async (): Promise<void> => {
      const options = { timeout, idempotencyKey: id }
      for (; ; await sleep(RETRY_AFTER)) {
        const error = await this.#map
          .call(operationId, { id, ms }, options)
          .then(({ data }) => takeAnswer(record, data, order), recordError)
        if (error !== undefined) this.refused++
        if (error !== undefined && now() < until) continue
        record.error ??= error
        return
      }
    }
    await Promise.all([attempt(), sleep(ms * 0.7).then(attempt)])
    await attempt()
    settle(record)
    return record
  }

  /** Makes calls at a rate, whatever their outcome. Resolves when the last one was made. */
  async rate({ perSecond, seconds, ...order }: RateOrder, signal?: AbortSignal): Promise<void> {
    const began = performance.now()
    const all = Math.round(perSecond * seconds)
    for (let made = 0; made < all && signal?.aborted !== true;) {
      const due = Math.min(all, Math.ceil(((performance.now() - began) / 1000) * perSecond))
      for (; made < due; made++) void this.call(order)
      if (made < all) await sleep(TICK)
    }
  }

  /** Makes many calls at once. */
  burst(count: number, order: CallOrder = {}): void {
    for (let made = 0; made < count; made++) void this.call(order)
  }

  /** Opens a stream and reads its items; resolves when it has ended, and never rejects. */
  async stream(order: StreamOrder): Promise<StreamRecord> {
    const id = `${this.#name}-s${this.#streams.length + 1}`
    const record: StreamRecord = {
      id,
      sentAt: now(),
      expected: order.count,
      received: 0,
      gaps: 0,
      repeats: 0,
      wrong: 0,
      longestWait: 0,
    }
    this.#streams.push(record)
    await this.#tracked(consume(this.#map, record, order))
    return record
  }

  /** Waits for all open calls and streams; `grace` is how long after its deadline a hung call is waited for. */
  async settled(grace = HANGS_AFTER): Promise<void> {
    const open = this.#calls.filter(({ settledAt }) => settledAt === undefined)
    const last = Math.max(now(), ...open.map(({ sentAt, timeout }) => sentAt + timeout))
    await withTimeout(Promise.all(this.#open), last - now() + grace, () => undefined)
  }

  async [Symbol.asyncDispose](): Promise<void> {
    if (this.#isClosed) return
    this.#isClosed = true
    await this.#map.close()
  }

  #begin({ operation = "work", timeout = 5000 }: CallOrder): CallRecord {
    const record: CallRecord = {
      id: `${this.#name}-${this.#calls.length + 1}`,
      operationId: this.#prefix + operation,
      isIdempotent: operation === "read",
      sentAt: now(),
      timeout,
      settled: 0,
    }
    this.#calls.push(record)
    return record
  }

  async #tracked(work: Promise<void>): Promise<void> {
    this.#open.add(work)
    await work
    this.#open.delete(work)
  }
}

function settle(record: CallRecord): void {
  record.settled++
  record.settledAt ??= now()
}

function takeAnswer(
  record: CallRecord,
  data: unknown,
  { data: sent = "", bytes }: CallOrder,
): undefined {
  const { id, run, worker, size, text } = (data ?? {}) as Readonly<Record<string, unknown>>
  record.run = typeof run === "string" ? run : undefined
  record.worker = typeof worker === "string" ? worker : undefined
  const hasText = bytes === undefined || (typeof text === "string" && text.length === bytes)
  record.isWrong = id !== record.id || size !== sent.length || !hasText
}
