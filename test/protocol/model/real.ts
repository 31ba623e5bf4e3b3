import { CallError, isCallError, PendingRequestMap } from "../../../src/index.ts"
import { silentLogger } from "../../../src/testing.ts"
import type {
  CallEvent,
  PendingResponse,
  PendingSubscription,
  Transport,
  TransportReceiver,
} from "../../../src/index.ts"
import { NodeClock, World } from "../sim/clock.ts"

/** A transport that is driven by hand: it keeps what was sent, and delivers what the test provides. */
export class FakeTransport implements Transport {
  readonly sent: CallEvent[] = []
  receiver: TransportReceiver | undefined
  isDown = false
  closes = 0

  open(receiver: TransportReceiver): void {
    this.receiver = receiver
  }

  send(event: CallEvent): void {
    if (this.isDown) throw new CallError("UNAVAILABLE", "The cable is cut.")
    this.sent.push(event)
  }

  close(): Promise<void> {
    this.closes++
    return Promise.resolve()
  }
}

/** What a caller saw of one request. */
export interface Seen {
  readonly requestId: string
  readonly handle: PendingResponse | PendingSubscription
  readonly controller: AbortController
  /** What it received, one word each: items, `data`, `done` and codes of errors. */
  readonly outcomes: string[]
  /** Errors, to look at what else they say. */
  readonly errors: CallError[]
}

/** The map under test, with all around it. */
export class Real {
  readonly world = new World()
  readonly clock = new NodeClock(this.world, 0)
  readonly transport = new FakeTransport()
  readonly map: PendingRequestMap
  readonly seen: Seen[] = []
  /** What was handed over last, by request. */
  readonly last = new Map<string, CallEvent>()

  constructor(timeout: number) {
    const { clock } = this
    this.map = new PendingRequestMap(this.transport, { clock, logger: silentLogger, timeout })
  }

  call(options: { readonly deadline: number | undefined }): Seen {
    const { controller, deadline } = this.#options(options.deadline)
    const { signal } = controller
    const handle = this.map.call("demo.call", { some: "input" }, { signal, deadline })
    const seen: Seen = { requestId: handle.requestId, handle, controller, outcomes: [], errors: [] }
    this.seen.push(seen)
    handle.then(
      ({ data }) => seen.outcomes.push(String(data)),
      (error: unknown) => note(seen, error),
    )
    return seen
  }

  subscribe(options: {
    readonly deadline: number | undefined
    readonly idleTimeout: number | undefined
    readonly window: number
  }): Seen {
    const { idleTimeout, window } = options
    const { controller, deadline } = this.#options(options.deadline)
    const { signal } = controller
    const handle = this.map.subscribe("demo.stream", undefined, {
      signal,
      deadline,
      idleTimeout,
      window,
    })
    const seen: Seen = { requestId: handle.requestId, handle, controller, outcomes: [], errors: [] }
    this.seen.push(seen)
    return seen
  }

  /** Asks a stream for its next item. */
  take(seen: Seen): void {
    const { handle, outcomes } = seen
    ;(handle as PendingSubscription).next().then(
      ({ done, value }) => outcomes.push(done === true ? "done" : String(value?.data)),
      (error: unknown) => note(seen, error),
    )
  }

  /** Something arrives. */
  inject(event: CallEvent): void {
    this.last.set(event.requestId, event)
    this.transport.receiver?.event(structuredClone(event))
  }

  sentFor(requestId: string): CallEvent[] {
    return this.transport.sent.filter((event) => event.requestId === requestId)
  }

  #options(after: number | undefined): {
    readonly controller: AbortController
    readonly deadline: number | undefined
  } {
    const deadline = after === undefined ? undefined : this.clock.now() + after
    return { controller: new AbortController(), deadline }
  }
}

function note(seen: Seen, error: unknown): void {
  if (isCallError(error)) seen.errors.push(error)
  seen.outcomes.push(isCallError(error) ? error.code : `no CallError: ${String(error)}`)
}
