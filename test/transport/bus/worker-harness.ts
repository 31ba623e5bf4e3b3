import type { CallEvent, CallRequestedEvent } from "../../../src/core/events.ts"
import { refusal } from "../../../src/core/errors.ts"
import type { CallError } from "../../../src/core/errors.ts"
import type { CallerMessage, WorkerMessage } from "../../../src/transport/bus/wire/messages.ts"
import { resolveGuardSettings } from "../../../src/transport/bus/options.ts"
import type { BusOptions, GuardOptions } from "../../../src/transport/bus/options.ts"
import type { Bus, MessageOrigin } from "../../../src/transport/bus/types.ts"
import { readWorkerFrame } from "../../../src/transport/bus/wire/wire.ts"
import { frameText, messageText } from "./messages.ts"
import { BusWorker } from "../../../src/transport/bus/worker/worker.ts"
import type {
  ServedOperation,
  ServedOperations,
  TransportPeer,
} from "../../../src/protocol/transport.ts"
import { VirtualClock } from "../../support/virtual-clock.ts"

/** A bus that goes nowhere and remembers everything. */
class RecordingBus implements Bus {
  readonly address = "worker1"
  readonly hasQueues = true
  isConnected = true
  maxPayload = 64 * 1024
  readonly answers: { readonly reply: string; readonly text: string }[] = []
  readonly announced: WorkerMessage[][] = []
  readonly served: (readonly string[] | undefined)[] = []
  /** What `answer` throws from now on. */
  fault: CallError | undefined

  open(): void {}
  toAny(): void {}
  toWorker(): void {}
  control(): void {}
  toAll(): void {}
  ask(): void {}

  answer(reply: string, text: string): void {
    if (this.fault !== undefined) throw this.fault
    this.answers.push({ reply, text })
  }

  announce(text: string): void {
    this.announced.push([...(readWorkerFrame(text)?.messages ?? [])])
  }

  serve(operationIds: readonly string[] | undefined): void {
    this.served.push(operationIds)
  }

  async close(): Promise<void> {}
}

/** What is served, to be changed at will. */
class Offered implements ServedOperations {
  operations: ServedOperation[] = [
    { id: "orders.add", isIdempotent: false },
    { id: "orders.get", isIdempotent: true },
    { id: "orders.watch", isIdempotent: false },
  ]
  error: CallError | undefined
  readonly listeners = new Set<() => void>()

  list(): readonly ServedOperation[] {
    return this.operations
  }

  onChange(listener: () => void): () => void {
    this.listeners.add(listener)
    return () => void this.listeners.delete(listener)
  }

  refuse(): CallError | undefined {
    return this.error
  }
}

export interface HarnessOptions extends Pick<BusOptions, "identify" | "verifier"> {
  readonly guard?: GuardOptions | undefined
  readonly isIdle?: boolean | undefined
}

/** A worker whose callers are this test. */
export class Harness {
  readonly clock = new VirtualClock()
  readonly bus = new RecordingBus()
  readonly offered = new Offered()
  /** What the worker handed on. */
  readonly events: { readonly event: CallEvent; readonly peer: TransportPeer | undefined }[] = []
  readonly logged: string[] = []
  /** What happens as soon as the worker has handed something on. */
  whenReceived: () => void = () => undefined
  readonly worker: BusWorker
  #read = 0

  constructor({ guard, identify, verifier, isIdle = false }: HarnessOptions = {}) {
    const log = (message: string): void => void this.logged.push(message)
    const logger = { debug: log, info: log, warn: log, error: log }
    const parts = { clock: this.clock, logger, random: () => 0.5, identify, verifier }
    this.worker = new BusWorker({ ...parts, bus: this.bus, settings: resolveGuardSettings(guard) })
    this.worker.open({
      event: (event, peer) => {
        this.events.push({ event: event as CallEvent, peer })
        this.whenReceived()
      },
      undelivered() {},
      lost() {},
      restored() {},
    })
    if (!isIdle) this.worker.serve(this.offered)
  }

  /** Says something as a caller. */
  say(messages: CallerMessage | readonly CallerMessage[], from: Partial<MessageOrigin> = {}): void {
    const list = Array.isArray(messages)
      ? (messages as CallerMessage[])
      : [messages as CallerMessage]
    const caller = callerOf(from)
    this.raw(frameText(caller.address, list.map(messageText)), caller)
  }

  raw(text: string, from: Partial<MessageOrigin> = {}): void {
    this.worker.fromCaller(text, callerOf(from))
  }

  /** Asks for an operation, at its address. */
  request(event: Partial<CallRequestedEvent> = {}, options: RequestOptions = {}): void {
    const { attempt = 1, now, ticket, ...from } = options
    const whole = requestOf(event)
    this.say(
      { type: "request", attempt, event: whole, now, ticket },
      { operationId: whole.operationId, ...from },
    )
  }

  /** What was answered since this was last asked, to whomever. */
  async received(): Promise<WorkerMessage[]> {
    await this.clock.advance(0)
    const fresh = this.bus.answers.slice(this.#read)
    this.#read = this.bus.answers.length
    return fresh.flatMap(({ text }) => readWorkerFrame(text)?.messages ?? [])
  }

  /** Asks for an operation and gives the key that it was accepted with. */
  async accepted(
    event: Partial<CallRequestedEvent> = {},
    options?: RequestOptions,
  ): Promise<string> {
    this.request(event, options)
    const received = await this.received()
    const message = received.find(({ type }) => type === "accepted")
    if (message?.type !== "accepted") throw new Error(`not accepted: ${JSON.stringify(received)}`)
    return message.key
  }

  /** Asks for an operation, and lets it run. */
  async running(
    event: Partial<CallRequestedEvent> = {},
    from?: Partial<MessageOrigin>,
  ): Promise<string> {
    const key = await this.accepted(event, from)
    const id = event.requestId ?? "r1"
    this.say({ type: "go", id, key, left: 4000 }, from)
    return key
  }

  /** Answers as a handler. */
  respond(requestId = "r1", data: unknown = "result"): void {
    this.worker.send({ type: "call.responded", requestId, output: envelope(data) })
  }

  item(seq: number, requestId = "s1", data: unknown = seq): void {
    this.worker.send({ type: "call.responded", requestId, output: envelope(data), seq })
  }

  /** The requests that the worker handed on to be run. */
  get runs(): string[] {
    return this.events
      .filter(({ event }) => event.type === "call.requested")
      .map(({ event }) => event.requestId)
  }

  get aborts(): string[] {
    return this.events
      .filter(({ event }) => event.type === "call.aborted")
      .map(({ event }) => event.requestId)
  }
}

export interface RequestOptions extends Partial<MessageOrigin> {
  readonly attempt?: number | undefined
  readonly now?: boolean | undefined
  readonly ticket?: string | undefined
}

export function requestOf(event: Partial<CallRequestedEvent> = {}): CallRequestedEvent {
  return {
    type: "call.requested",
    requestId: "r1",
    operationId: "orders.add",
    input: { item: "tea" },
    timeout: 5000,
    ...event,
  }
}

/** A stream's request. */
export function streamOf(event: Partial<CallRequestedEvent> = {}): Partial<CallRequestedEvent> {
  return { requestId: "s1", operationId: "orders.watch", kind: "stream", window: 4, ...event }
}

function envelope(data: unknown): {
  data: unknown
  meta: { source: "local"; operationId: string; timestamp: number }
} {
  return { data, meta: { source: "local", operationId: "orders.add", timestamp: 0 } }
}

export function overloaded(): CallError {
  return refusal("OVERLOADED", "full", { retryAfterMs: 1000 })
}

function callerOf(from: Partial<MessageOrigin>): MessageOrigin {
  const { user = "ann", address = "caller1", operationId } = from
  return { user, address, reply: from.reply ?? `${user}/${address}`, operationId }
}
