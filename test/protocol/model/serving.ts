import assert from "node:assert/strict"
import fc from "fast-check"
import { CallError, PendingRequestMap, serveCalls } from "../../../src/index.ts"
import { silentLogger } from "../../../src/testing.ts"
import type { CallEvent, CallServer, OperationContext } from "../../../src/index.ts"
import { operation, quietRegistry } from "../../support/operations.ts"
import { NodeClock, settle, World } from "../sim/clock.ts"
import { FakeTransport } from "./real.ts"

/** A handler that is controlled by the test. */
interface Handler {
  readonly requestId: string
  readonly signal: AbortSignal
  /** Lets the handler go on: with a result or an item, with an error, or with its end. */
  go: ((step: "give" | "throw" | "end") => void) | undefined
  isThrough: boolean
}

/** One request as its caller, which plays by the rules or not, knows it. */
interface Asked {
  readonly requestId: string
  readonly kind: "call" | "stream"
  /** Items that it may be sent. */
  granted: number
  /** When its caller no longer waits. */
  readonly due: number
  /** Nothing may be said to it any more. */
  isOver: boolean
}

/** A served registry whose peer and handlers are driven by hand. */
export class Served {
  readonly world = new World()
  readonly clock = new NodeClock(this.world, 0)
  readonly transport = new FakeTransport()
  readonly handlers: Handler[] = []
  readonly asked: Asked[] = []
  readonly map: PendingRequestMap
  readonly server: CallServer
  isClosed = false
  /** How much of what was sent has been looked at. */
  #looked = 0
  readonly #items = new Map<string, number>()
  readonly #faults: string[] = []

  constructor(limits: { readonly maxInFlight?: number; readonly maxStreams?: number }) {
    const { clock } = this
    const call = async (_input: unknown, context: OperationContext): Promise<string> => {
      const handler = this.#begin(context)
      const step = await next(handler)
      handler.isThrough = true
      if (step === "throw") throw new CallError("SOLD_OUT", "None left.")
      return "data"
    }
    const begin = (context: OperationContext): Handler => this.#begin(context)
    const registry = quietRegistry(
      [
        operation("demo.call", { handler: call }),
        operation("demo.stream", {
          type: "subscription",
          async *handler(_input: unknown, context: OperationContext) {
            const handler = begin(context)
            try {
              for (let at = 1; ; at++) {
                const step = await next(handler)
                if (step === "end") return
                if (step === "throw") throw new CallError("SOLD_OUT", "None left.")
                yield at
              }
            } finally {
              handler.isThrough = true
            }
          },
        }),
      ],
      { clock, timeout: 500 },
    )
    this.map = new PendingRequestMap(this.transport, { clock, logger: silentLogger })
    this.server = serveCalls(registry, { callMap: this.map, maxQueued: 2, ...limits })
  }

  request(
    id: string,
    kind: "call" | "stream" | undefined,
    timeout: number | undefined,
    window: number,
  ): void {
    if (this.transport.isDown) return
    const requestId = `request ${this.asked.length}`
    const due = this.world.time + (timeout ?? Number.POSITIVE_INFINITY)
    const wants = kind ?? (id === "demo.stream" ? "stream" : "call")
    this.asked.push({ requestId, kind: wants, granted: window, due, isOver: false })
    this.receive({
      type: "call.requested",
      requestId,
      operationId: id,
      window,
      ...(kind === undefined ? {} : { kind }),
      ...(timeout === undefined ? {} : { timeout }),
    })
  }

  /** Something arrives; while the peer is away nothing does. */
  receive(event: unknown): void {
    if (!this.transport.isDown) this.transport.receiver?.event(event)
  }

  /** Holds everything that was sent since the last time to the rules. */
  look(): void {
    assert.deepEqual(this.#faults, [])
    for (; this.#looked < this.transport.sent.length; this.#looked++) {
      this.#check(this.transport.sent[this.#looked] as CallEvent)
    }
    const open = this.asked.filter(({ isOver }) => !isOver).length
    assert.equal(this.server.inFlight, this.isClosed ? 0 : open, "in flight")
    // If a request is over for its caller, its handler was notified, too.
    for (const { requestId, signal, isThrough } of this.handlers) {
      const asked = this.asked.find((one) => one.requestId === requestId)
      assert(asked?.isOver === true || this.world.time <= (asked?.due ?? 0), `${requestId} is late`)
      if (asked?.isOver === true && !isThrough) assert(signal.aborted, `${requestId} goes on`)
    }
  }

  #check(event: CallEvent): void {
    const asked = this.asked.find(({ requestId }) => requestId === event.requestId)
    if (asked === undefined) throw new Error(`Nobody asked for ${event.requestId}.`)
    // One end, and nothing after it; nothing to a caller that left or is gone.
    assert(!asked.isOver, `${event.type} after the end of ${event.requestId}`)
    if (event.type === "call.responded" && asked.kind === "stream") {
      const items = (this.#items.get(asked.requestId) ?? 0) + 1
      assert.equal(event.seq, items)
      assert.equal(event.output.data, items)
      assert(items <= asked.granted, `item ${items} with a credit of ${asked.granted}`)
      this.#items.set(asked.requestId, items)
      return
    }
    if (event.type === "call.completed")
      assert.equal(event.seq, this.#items.get(asked.requestId) ?? 0)
    else assert(["call.responded", "call.error"].includes(event.type), event.type)
    asked.isOver = true
  }

  #begin({ requestId, signal }: OperationContext): Handler {
    // Kept for later: what a handler throws is only its own error.
    const isSecond = this.handlers.some((handler) => handler.requestId === requestId)
    if (isSecond) this.#faults.push(`${requestId} ran twice`)
    const due = this.asked.find((asked) => asked.requestId === requestId)?.due ?? 0
    if (this.world.time > due) this.#faults.push(`${requestId} ran when its caller was gone`)
    const handler: Handler = { requestId, signal, go: undefined, isThrough: false }
    this.handlers.push(handler)
    return handler
  }
}

function next(handler: Handler): Promise<"give" | "throw" | "end"> {
  return new Promise((resolve) => {
    handler.go = resolve
  })
}

type Command = fc.AsyncCommand<object, Served>

function command(name: string, run: (real: Served) => void | Promise<void>): Command {
  return {
    check: () => true,
    toString: () => name,
    async run(_model, real) {
      await run(real)
      await settle()
      real.look()
    },
  }
}

const picks = fc.nat(20)
const pickFrom = <TItem>(items: readonly TItem[], pick: number): TItem | undefined =>
  items[pick % (items.length || 1)]

/** Everything that can happen to a server. */
export const servedCommands: readonly fc.Arbitrary<Command>[] = [
  fc
    .tuple(
      fc.constantFrom("demo.call", "demo.call", "demo.stream", "demo.stream", "demo.none"),
      fc.constantFrom("right", "right", "right", "wrong", "none"),
      fc.option(fc.constantFrom(0, 1, 40, 90), { nil: undefined }),
      fc.constantFrom(0, 1, 2, 5),
    )
    .map(([id, fit, timeout, window]) =>
      command(`request(${id}, ${fit}, ${timeout}, ${window})`, (real) => {
        const [right, wrong] = id === "demo.stream" ? STREAM : CALL
        real.request(
          id,
          fit === "none" ? undefined : fit === "right" ? right : wrong,
          timeout,
          window,
        )
      }),
    ),
  fc.tuple(picks, fc.constantFrom("give", "give", "give", "throw", "end")).map(([pick, step]) =>
    command(`${step}(${pick})`, (real) => {
      const handler = pickFrom(real.handlers, pick)
      const go = handler?.go
      if (handler !== undefined) handler.go = undefined
      go?.(step)
    }),
  ),
  fc.tuple(picks, fc.integer({ min: 1, max: 3 })).map(([pick, credit]) =>
    command(`credit(${pick}, ${credit})`, (real) => {
      const asked = pickFrom(real.asked, pick)
      if (asked === undefined) return
      asked.granted += credit
      real.receive({
        type: "call.credit",
        requestId: asked.requestId,
        credit: asked.granted,
      })
    }),
  ),
  picks.map((pick) =>
    command(`abort(${pick})`, (real) => {
      const asked = pickFrom(real.asked, pick)
      if (asked === undefined) return
      if (!real.transport.isDown) asked.isOver = true
      real.receive({ type: "call.aborted", requestId: asked.requestId })
    }),
  ),
  picks.map((pick) =>
    command(`request again(${pick})`, (real) => {
      const { requestId } =
        pickFrom(
          real.asked.filter(({ isOver }) => !isOver),
          pick,
        ) ?? {}
      if (requestId === undefined) return
      real.receive({
        type: "call.requested",
        requestId,
        operationId: "demo.call",
      })
    }),
  ),
  fc.constantFrom("call.credit", "call.aborted", "call.responded", "call.completed").map((type) =>
    command(`unknown ${type}`, (real) => {
      real.receive({ type, requestId: "nobody", credit: 1 })
    }),
  ),
  fc.anything().map((value) =>
    command("garbage", (real) => {
      real.receive(value)
    }),
  ),
  fc
    .constantFrom(1, 10, 50, 600)
    .map((milliseconds) =>
      command(`wait(${milliseconds})`, (real) => real.world.runTo(real.world.time + milliseconds)),
    ),
  fc.constant(
    command("disconnect", (real) => {
      real.transport.isDown = true
      real.transport.receiver?.lost(new CallError("UNAVAILABLE", "The peer is gone."))
      for (const asked of real.asked) asked.isOver = true
    }),
  ),
  fc.constant(
    command("reconnect", (real) => {
      real.transport.isDown = false
      real.transport.receiver?.restored()
    }),
  ),
]

const CALL = ["call", "stream"] as const
const STREAM = ["stream", "call"] as const
