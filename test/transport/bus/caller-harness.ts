import { CallError } from "../../../src/index.ts"
import type {
  CallErrorEvent,
  CallEvent,
  CallRequestedEvent,
  Logger,
  ResponseEnvelope,
} from "../../../src/index.ts"
import { BusCaller } from "../../../src/transport/bus/caller/caller.ts"
import type { CallerMessage, WorkerMessage } from "../../../src/transport/bus/wire/messages.ts"
import { resolveGuardSettings } from "../../../src/transport/bus/options.ts"
import type { BusContext, GuardOptions } from "../../../src/transport/bus/options.ts"
import type { Bus } from "../../../src/transport/bus/types.ts"
import { hashOperationId, readCallerFrame } from "../../../src/transport/bus/wire/wire.ts"
import { frameText, messageText } from "./messages.ts"
import { VirtualClock } from "../../support/virtual-clock.ts"

/** Something that a caller sent. */
export interface Sent {
  readonly to: "any" | "worker" | "control" | "all" | "ask"
  readonly worker: string | undefined
  readonly operationId: string | undefined
  readonly text: string
  readonly correlationId: string
  readonly messages: readonly CallerMessage[]
}

type OfType<TType extends CallerMessage["type"]> = CallerMessage & { readonly type: TType }

/** A bus that writes down what is sent, and on which nothing ever arrives by itself. */
class ScriptedBus implements Bus {
  readonly address = "caller0"
  isConnected = true
  maxPayload = 1024 * 1024
  hasQueues = true
  readonly sent: Sent[] = []
  /** What the next sending throws. */
  fault: unknown

  open(): void {}
  answer(): void {}
  announce(): void {}
  serve(): void {}
  close(): Promise<void> {
    return Promise.resolve()
  }

  toAny(operationId: string, text: string, correlationId: string): void {
    if (!this.hasQueues) throw new Error("toAny without queues")
    this.#send({ to: "any", worker: undefined, operationId, text, correlationId })
  }

  toWorker(worker: string, operationId: string, text: string, correlationId: string): void {
    this.#send({ to: "worker", worker, operationId, text, correlationId })
  }

  control(worker: string, text: string, correlationId: string): void {
    this.#send({ to: "control", worker, operationId: undefined, text, correlationId })
  }

  toAll(operationId: string, text: string, correlationId: string): void {
    this.#send({ to: "all", worker: undefined, operationId, text, correlationId })
  }

  ask(text: string, correlationId: string): void {
    this.#send({ to: "ask", worker: undefined, operationId: undefined, text, correlationId })
  }

  #send(sent: Omit<Sent, "messages">): void {
    const { fault } = this
    this.fault = undefined
    if (fault !== undefined) throw fault
    if (Buffer.byteLength(sent.text) > this.maxPayload) {
      throw new CallError("PAYLOAD_TOO_LARGE", `A message is larger than ${this.maxPayload}.`, {
        details: { limit: this.maxPayload },
      })
    }
    const frame = readCallerFrame(sent.text)
    if (frame === undefined || frame.dropped > 0) throw new Error(`not a frame: ${sent.text}`)
    this.sent.push({ ...sent, messages: frame.messages })
  }
}

/** Virtual time in which a test may end a turn without waiting. */
class LabClock extends VirtualClock {
  readonly #deferred = new Set<() => void>()

  override defer(callback: () => void): void {
    const once = (): void => {
      if (this.#deferred.delete(once)) callback()
    }
    this.#deferred.add(once)
    super.defer(once)
  }

  /** What runs now is over. */
  turn(): void {
    for (const callback of this.#deferred) callback()
  }
}

/** A log line. */
export interface Line {
  readonly message: string
  readonly fields: Readonly<Record<string, unknown>> | undefined
}

/** What a test wants to be different. */
export interface LabOptions extends Partial<
  Pick<BusContext, "clock" | "logger" | "random" | "signer">
> {
  readonly guard?: GuardOptions
  readonly hasQueues?: boolean
  readonly isConnected?: boolean
  /** Nothing was called yet, and messages of workers are ignored. */
  readonly isNew?: boolean
}

/** A caller whose workers, whose broker and whose time are in the hands of a test. */
export class CallerLab {
  readonly clock = new LabClock()
  readonly bus = new ScriptedBus()
  readonly caller: BusCaller
  readonly events: CallEvent[] = []
  readonly undelivered: CallEvent[] = []
  readonly warnings: Line[] = []
  #ids = 0

  constructor(options: LabOptions = {}) {
    const { guard, hasQueues = true, isConnected = true, isNew = false, ...parts } = options
    this.bus.hasQueues = hasQueues
    this.bus.isConnected = isConnected
    this.clock.time = 1_000_000
    const warn = (message: string, fields?: Line["fields"]): void =>
      void this.warnings.push({ message, fields })
    const logger: Logger = { debug() {}, info() {}, warn, error: warn }
    const settings = resolveGuardSettings(guard)
    this.caller = new BusCaller({
      ...{ bus: this.bus, settings },
      ...{ clock: this.clock, logger, random: () => 0.5 },
      ...parts,
    })
    this.caller.open({
      event: (event) => void this.events.push(event as CallEvent),
      undelivered: (event) => void this.undelivered.push(event),
      lost() {},
      restored() {},
    })
    if (isConnected) this.caller.connected()
    if (isNew) return
    this.abort(this.call("task.warm", { requestId: "warm" }))
    this.clear()
  }

  /** Asks for something; gives the id of the request. */
  call(operationId = "task.do", event: Partial<CallRequestedEvent> = {}): string {
    const requestId = event.requestId ?? `id-${++this.#ids}`
    const request: CallRequestedEvent = {
      ...{ type: "call.requested", requestId, operationId, input: { n: 1 }, kind: "call" },
      ...{ timeout: 30_000, ...event },
    }
    this.caller.send(request)
    return requestId
  }

  /** Asks for a stream. */
  stream(operationId = "task.watch", event: Partial<CallRequestedEvent> = {}): string {
    return this.call(operationId, { kind: "stream", window: 8, timeout: undefined, ...event })
  }

  abort(requestId: string): void {
    this.caller.send({ type: "call.aborted", requestId })
  }

  /** A worker that serves these: `true` for what may be run twice. */
  worker(address: string, operations?: Readonly<Record<string, boolean>>): ScriptedWorker {
    const worker = new ScriptedWorker(this, address)
    if (operations !== undefined) worker.here(operations)
    return worker
  }

  /** Lets so many milliseconds go by, and what they bring. */
  async advance(milliseconds = 0): Promise<void> {
    await this.clock.advance(milliseconds)
  }

  /** This process stands still: time goes by, and no timer comes. */
  stall(milliseconds: number): void {
    this.clock.time += milliseconds
  }

  /** All messages of a type that were sent, with where they went. Looking ends the turn. */
  sent<TType extends CallerMessage["type"]>(type: TType): (OfType<TType> & { at: Sent })[] {
    this.clock.turn()
    return this.bus.sent.flatMap((at) =>
      at.messages
        .filter((message): message is OfType<TType> => message.type === type)
        .map((message) => ({ ...message, at })),
    )
  }

  /** The requests of a call, as they went out. */
  requests(requestId: string): (OfType<"request"> & { at: Sent })[] {
    this.clock.turn()
    const found: (OfType<"request"> & { at: Sent })[] = []
    // A loop that copies only what is found: some tests look a thousand times through thousands of messages.
    for (const at of this.bus.sent) {
      for (const message of at.messages) {
        if (message.type === "request" && message.event.requestId === requestId) {
          found.push({ ...message, at })
        }
      }
    }
    return found
  }

  /** Forgets what was sent so far. */
  clear(): void {
    this.clock.turn()
    this.bus.sent.length = 0
  }

  /** Nobody listened where the latest request of a call went. */
  noResponders(requestId: string): void {
    this.caller.noResponders(this.requests(requestId).at(-1)?.at.correlationId ?? "")
  }

  /** No worker was there to be asked who is. */
  nobodyThere(): void {
    this.caller.noResponders(
      this.sent("who").findLast(({ at }) => at.to === "ask")?.at.correlationId ?? "",
    )
  }

  /** What came of a request. */
  outcome(requestId: string): readonly CallEvent[] {
    return this.events.filter((event) => event.requestId === requestId)
  }

  /** The error that a request ended with. */
  error(requestId: string): CallErrorEvent {
    const found = this.outcome(requestId).find(({ type }) => type === "call.error")
    if (found?.type !== "call.error") throw new Error(`${requestId} has no error`)
    return found
  }

  disconnect(): void {
    this.bus.isConnected = false
    this.caller.disconnected()
  }

  reconnect(): void {
    this.bus.isConnected = true
    this.caller.connected()
  }
}

/** A worker that sends what a test asks for. */
export class ScriptedWorker {
  readonly address: string
  readonly #lab: CallerLab

  constructor(lab: CallerLab, address: string) {
    this.#lab = lab
    this.address = address
  }

  say(...messages: WorkerMessage[]): void {
    this.#lab.caller.fromWorker(frameText(this.address, messages.map(messageText)))
  }

  here(operations: Readonly<Record<string, boolean>>): void {
    const entries = Object.entries(operations).map(
      ([id, it]) => [hashOperationId(id), it ? 1 : 0] as const,
    )
    this.say({ type: "here", operations: Object.fromEntries(entries) })
  }

  /** Accepts the latest attempt by default. */
  accept(id: string, about: Partial<WorkerMessage & { type: "accepted" }> = {}): string {
    const key = about.key ?? `${this.address}-${id}`
    const attempt = about.attempt ?? this.#lab.requests(id).at(-1)?.attempt ?? 1
    this.say({ ...{ type: "accepted", id, attempt, key, isIdempotent: false }, ...about })
    return key
  }

  refuse(id: string, code: string, about: Partial<WorkerMessage & { type: "refused" }> = {}): void {
    const attempt = this.#lab.requests(id).at(-1)?.attempt ?? 1
    const error: CallErrorEvent = {
      ...{ type: "call.error", requestId: id, code, message: `${code} of ${this.address}` },
      ...{ retryable: true, mayHaveExecuted: false, retryAfterMs: 700 },
    }
    this.say({ ...{ type: "refused", id, attempt, elsewhere: true, error }, ...about })
  }

  send(event: CallEvent, after?: number): void {
    this.say({ type: "event", event, after })
  }

  answer(requestId: string, data: unknown = "done"): void {
    this.send({ type: "call.responded", requestId, output: envelope(data) })
  }

  fail(requestId: string, about: Partial<CallErrorEvent> = {}): void {
    const error = { code: "EXECUTION_ERROR", message: "it failed", mayHaveExecuted: true }
    this.send({ type: "call.error", requestId, retryable: false, ...error, ...about })
  }

  item(requestId: string, seq: number, data: unknown = seq): void {
    this.send({ type: "call.responded", requestId, output: envelope(data), seq })
  }

  complete(requestId: string, seq: number): void {
    this.send({ type: "call.completed", requestId, seq })
  }

  pong(about: Partial<WorkerMessage & { type: "pong" }> = {}): void {
    this.say({ ...{ type: "pong", unknown: [], lost: [] }, ...about })
  }

  /** Nobody listens at its address. */
  gone(): void {
    this.#lab.caller.noResponders(`w${this.address}`)
  }
}

export function envelope(data: unknown): ResponseEnvelope {
  return { data, meta: { source: "local", operationId: "task.do", timestamp: 0 } }
}
