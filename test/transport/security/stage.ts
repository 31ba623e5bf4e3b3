import { isCallError, PendingRequestMap, serveCalls } from "../../../src/index.ts"
import { silentLogger } from "../../../src/testing.ts"
import type { AnyRegistry, CallError } from "../../../src/index.ts"
import type { CallerMessage } from "../../../src/transport/bus/wire/messages.ts"
import type { BusOptions } from "../../../src/transport/bus/options.ts"
import type { BusTransport } from "../../../src/transport/bus/transport.ts"
import { readCallerFrame } from "../../../src/transport/bus/wire/wire.ts"
import { frameText, messageText } from "../bus/messages.ts"
import type { Received, Lab, Raw } from "./lab.ts"
import { attackedOperations, identify } from "./operations.ts"

/** A worker, somebody who calls it, and whoever else is asked for. All of it ends with the stage. */
export class Stage implements AsyncDisposable {
  readonly lab: Lab
  readonly attacked: ReturnType<typeof attackedOperations> = attackedOperations()
  readonly worker: BusTransport
  readonly alice: PendingRequestMap
  readonly aliceTransport: BusTransport
  readonly #ends: (() => PromiseLike<unknown>)[] = []

  private constructor(lab: Lab, options: BusOptions) {
    this.lab = lab
    this.worker = this.serve("w1", this.attacked.registry, options)
    this.aliceTransport = this.transport("alice")
    this.alice = this.map(this.aliceTransport)
  }

  /** Both are connected, and have spoken to each other. */
  static async set(lab: Lab, options: BusOptions = {}): Promise<Stage> {
    const stage = new Stage(lab, options)
    await stage.worker.whenConnected()
    await stage.alice.call("task.list", "hello")
    return stage
  }

  /** What was run since `alice` said hello. */
  get runs(): readonly string[] {
    return this.attacked.runs.slice(1)
  }

  /** The address of the worker, which callers hear of. */
  get address(): string {
    const [worker] = this.aliceTransport.stats().calling.workers
    if (worker === undefined) throw new Error("Nobody has called it yet.")
    return worker.address
  }

  transport(account: string, options: BusOptions = {}): BusTransport {
    const transport = this.lab.transport(account, { logger: silentLogger, ...options })
    this.#ends.push(() => transport.close())
    return transport
  }

  map(transport: BusTransport): PendingRequestMap {
    const map = new PendingRequestMap(transport, { logger: silentLogger })
    this.#ends.push(() => map.close())
    return map
  }

  caller(account: string, options?: BusOptions): PendingRequestMap {
    return this.map(this.transport(account, options))
  }

  serve(account: string, registry: AnyRegistry, options: BusOptions = {}): BusTransport {
    const transport = this.transport(account, { identify, ...options })
    const server = serveCalls(registry, { transport, logger: silentLogger })
    this.#ends.push(() => server.close())
    return transport
  }

  async raw(account: string): Promise<Raw> {
    const raw = await this.lab.raw(account)
    this.#ends.push(() => raw[Symbol.asyncDispose]())
    return raw
  }

  async observe(): Promise<readonly Received[]> {
    const observer = await this.lab.observe()
    this.#ends.push(() => observer[Symbol.asyncDispose]())
    return observer.said
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.attacked.release()
    for (const end of this.#ends.toReversed()) await end()
  }
}

/** A request that somebody overheard. */
export interface Overheard {
  readonly received: Received
  /** The address of who sent it. */
  readonly from: string
  readonly requestId: string
  readonly message: CallerMessage & { readonly type: "request" }
}

/** The requests for an operation among what was said. */
export function requestsFor(operationId: string, said: readonly Received[]): readonly Overheard[] {
  return said.flatMap((received) => {
    const frame = readCallerFrame(received.text)
    return (frame?.messages ?? []).flatMap((message) => {
      if (message.type !== "request" || message.event.operationId !== operationId) return []
      return [{ received, from: frame?.from ?? "", requestId: message.event.requestId, message }]
    })
  })
}

/** The text of a request, as it goes over the wire. */
export function requestText(
  from: string,
  operationId: string,
  requestId: string,
  more: Readonly<Record<string, unknown>> = {},
): string {
  const event = {
    type: "call.requested",
    operationId,
    requestId,
    input: {},
    timeout: 5000,
  } as const
  const { event: own, ...rest } = more
  const message = { type: "request", attempt: 1, event: { ...event, ...(own as object) }, ...rest }
  return frameText(from, [messageText(message as CallerMessage)])
}

/** An answer, as a worker would send it. */
export function answerText(from: string, requestId: string, data: unknown): string {
  const meta = { source: "local", operationId: "task.slow", timestamp: 1 } as const
  const event = { type: "call.responded", requestId, output: { data, meta } } as const
  return frameText(from, [messageText({ type: "event", event })])
}

export async function failure(promise: PromiseLike<unknown>): Promise<CallError> {
  const error: unknown = await promise.then(
    (value) => new Error(`It worked: ${JSON.stringify(value)}`),
    (thrown: unknown) => thrown,
  )
  if (isCallError(error)) return error
  throw error
}
