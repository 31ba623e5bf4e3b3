import { setTimeout as sleep } from "node:timers/promises"
import { PendingRequestMap, silentLogger } from "../src/index.ts"
import type { BusTransport } from "../src/transport/bus/transport.ts"
import type { Transport } from "../src/protocol/transport.ts"
import { consume } from "./consume.ts"
import type { StreamOrder } from "./consume.ts"
import { now } from "./now.ts"
import { toldError } from "./told.ts"
import type { Told, ToldCall, ToldStream } from "./told.ts"

/** One call to make. */
export interface CallOrder {
  /** Without the namespace. */
  readonly operation?: "work" | "read" | "crash" | "block" | "relay" | undefined
  /** Milliseconds that it takes, and those that its caller waits. */
  readonly ms?: number | undefined
  readonly timeout?: number | undefined
  readonly data?: string | undefined
  readonly bytes?: number | undefined
  /** The version that it asks for; any. */
  readonly version?: string | undefined
}

/** A load: so many calls each second, for so long. */
export interface RateOrder extends CallOrder {
  readonly perSecond: number
  readonly seconds: number
}

/** Milliseconds between the looks at how many calls are due. */
const TICK = 10
/** So long after its deadline a call hangs. */
export const HANGS_AFTER = 10_000

/** A caller that writes down what it is told. */
export class LabCaller<TTransport extends Transport = BusTransport> implements AsyncDisposable {
  readonly transport: TTransport
  readonly #prefix: string
  readonly #map: PendingRequestMap
  readonly #name: string
  readonly #calls: ToldCall[] = []
  readonly #streams: ToldStream[] = []
  readonly #open = new Set<Promise<void>>()
  #isClosed = false

  /** `prefix`: how ids of the lab's operations begin for this caller. */
  constructor(name: string, transport: TTransport, prefix = "lab.") {
    this.#name = name
    this.#prefix = prefix
    this.transport = transport
    this.#map = new PendingRequestMap(this.transport, { logger: silentLogger })
  }

  get told(): Told {
    return { calls: this.#calls, streams: this.#streams }
  }

  /** Calls, and resolves with what it was told; never rejects. */
  async call(order: CallOrder = {}): Promise<ToldCall> {
    const told = this.#begin(order)
    const { ms = 300, data, bytes } = order
    const input = {
      id: told.id,
      ms,
      ...(data !== undefined && { data }),
      ...(bytes !== undefined && { bytes }),
    }
    const answer = this.#map.call(told.operationId, input, {
      timeout: told.timeout,
      ...(order.version !== undefined && { version: order.version }),
    })
    const settled = answer.then(
      (envelope) => {
        settle(told)
        takeAnswer(told, envelope.data, order)
      },
      (error: unknown) => {
        settle(told)
        told.error = toldError(error)
      },
    )
    await this.#tracked(settled)
    return told
  }

  /** Makes so many calls each second, whatever becomes of them. Resolves when the last one was made. */
  async rate({ perSecond, seconds, ...order }: RateOrder, signal?: AbortSignal): Promise<void> {
    const began = performance.now()
    const all = Math.round(perSecond * seconds)
    for (let made = 0; made < all && signal?.aborted !== true;) {
      const due = Math.min(all, Math.ceil(((performance.now() - began) / 1000) * perSecond))
      for (; made < due; made++) void this.call(order)
      if (made < all) await sleep(TICK)
    }
  }

  /** Makes so many calls at once. */
  burst(count: number, order: CallOrder = {}): void {
    for (let made = 0; made < count; made++) void this.call(order)
  }

  /** Opens a stream and takes its items; resolves when it is over, and never rejects. */
  async stream(order: StreamOrder): Promise<ToldStream> {
    const id = `${this.#name}-s${this.#streams.length + 1}`
    const told: ToldStream = {
      id,
      sentAt: now(),
      expected: order.count,
      received: 0,
      gaps: 0,
      repeats: 0,
      wrong: 0,
      longestWait: 0,
    }
    this.#streams.push(told)
    await this.#tracked(consume(this.#map, told, order))
    return told
  }

  /** Waits for all that was begun; for what hangs no longer than that takes to be sure. */
  async settled(patience = HANGS_AFTER): Promise<void> {
    const open = this.#calls.filter(({ settledAt }) => settledAt === undefined)
    const last = Math.max(now(), ...open.map(({ sentAt, timeout }) => sentAt + timeout))
    const waiting = new AbortController()
    await Promise.race([
      Promise.all(this.#open),
      sleep(last - now() + patience, undefined, { signal: waiting.signal }).catch(() => {}),
    ])
    waiting.abort()
  }

  async [Symbol.asyncDispose](): Promise<void> {
    if (this.#isClosed) return
    this.#isClosed = true
    await this.#map.close()
  }

  #begin({ operation = "work", timeout = 5000 }: CallOrder): ToldCall {
    const told: ToldCall = {
      id: `${this.#name}-${this.#calls.length + 1}`,
      operationId: this.#prefix + operation,
      isIdempotent: operation === "read",
      sentAt: now(),
      timeout,
      settled: 0,
    }
    this.#calls.push(told)
    return told
  }

  async #tracked(work: Promise<void>): Promise<void> {
    this.#open.add(work)
    await work
    this.#open.delete(work)
  }
}

function settle(told: ToldCall): void {
  told.settled++
  told.settledAt ??= now()
}

function takeAnswer(told: ToldCall, data: unknown, { data: sent = "", bytes }: CallOrder): void {
  const { id, run, worker, size, text } = (data ?? {}) as Readonly<Record<string, unknown>>
  told.run = typeof run === "string" ? run : undefined
  told.worker = typeof worker === "string" ? worker : undefined
  const hasText = bytes === undefined || (typeof text === "string" && text.length === bytes)
  told.isWrong = id !== told.id || size !== sent.length || !hasText
}
