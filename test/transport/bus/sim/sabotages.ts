import type { CallErrorEvent } from "../../../../src/core/events.ts"
import { Deadlines } from "../../../../src/internal/deadlines.ts"
import type { CallerMessage } from "../../../../src/transport/bus/wire/messages.ts"
import type { CallerPeer } from "../../../../src/transport/bus/worker/callers.ts"
import { CallerGrants } from "../../../../src/transport/bus/caller/grants.ts"
import { RetryBudget } from "../../../../src/internal/retry-budget.ts"
import { WorkerAdmission } from "../../../../src/transport/bus/worker/admission.ts"
import { WorkerCalls } from "../../../../src/transport/bus/worker/calls.ts"
import type { WorkerEntry } from "../../../../src/transport/bus/worker/entry.ts"
import type { Transport, TransportReceiver } from "../../../../src/protocol/transport.ts"
import type { SimBus } from "./bus.ts"
import { ProcessClock } from "./process-clock.ts"
import type { Sabotage } from "./sabotage.ts"

const LONG = 3_600_000

/** A transport with some of its methods replaced. */
function instead(transport: Transport, parts: Partial<Transport>): Transport {
  return new Proxy(transport, {
    get(target, name) {
      const own: unknown = Reflect.get(parts, name)
      if (own !== undefined) return own
      const value: unknown = Reflect.get(target, name, target)
      return typeof value === "function" ? (value.bind(target) as unknown) : value
    },
  })
}

/** What a transport hands to whoever opened it, seen on its way. */
function overhear(
  transport: Transport,
  event: (event: unknown, pass: (event: unknown) => void) => void,
): Transport {
  return instead(transport, {
    open: (receiver) => {
      const seen: TransportReceiver = {
        event: (given, peer) => event(given, (other) => receiver.event(other, peer)),
        undelivered: (given, error) => receiver.undelivered(given, error),
        lost: (error) => receiver.lost(error),
        restored: () => receiver.restored(),
      }
      transport.open(seen)
    },
  })
}

function isType(event: unknown, type: string): boolean {
  return (event as { readonly type?: unknown } | undefined)?.type === type
}

/** Keys that workers accepted with, by worker and request; forgotten with the worker. */
const keys = new WeakMap<SimBus, Map<string, string>>()

function keysOf(worker: SimBus): Map<string, string> {
  const known = keys.get(worker) ?? new Map<string, string>()
  keys.set(worker, known)
  return known
}

function go(id: string, key: string): CallerMessage {
  return { type: "go", id, key, left: LONG }
}

/** Puts another method in the place of one; gives what puts it back. */
function replace(
  prototype: object,
  name: string,
  method: (original: Method) => Method,
): () => void {
  const original = Reflect.get(prototype, name) as Method
  Reflect.set(prototype, name, method(original))
  return () => void Reflect.set(prototype, name, original)
}

type Method = (this: unknown, ...given: unknown[]) => unknown

/** Each of these must be found. */
export const SABOTAGES: readonly Sabotage[] = [
  {
    name: "a worker that runs whatever comes twice",
    shows: /ran \d+ times/,
    wrap: (transport, delay) =>
      overhear(transport, (event, pass) => {
        pass(event)
        if (isType(event, "call.requested")) delay(() => pass(event), 700)
      }),
  },
  {
    name: "workers that take any go for theirs: everyone who accepted runs it",
    shows: /ran \d+ times/,
    isDoubling: true,
    alter: (message, { isToWorker, worker, forge }) => {
      if (!isToWorker && message.type === "accepted") {
        keysOf(worker).set(message.id, message.key)
        return [message]
      }
      if (message.type !== "nogo") return [message]
      // The grant of another reaches it too.
      const key = keysOf(worker).get(message.id)
      if (key !== undefined) forge(go(message.id, key))
      return []
    },
  },
  {
    name: "no claim: what is accepted runs at once",
    shows: /says that it did not run/,
    alter: (message, { isToWorker, forge }) => {
      if (!isToWorker && message.type === "accepted") forge(go(message.id, message.key))
      return [message]
    },
  },
  {
    name: "no claim, and what is sent to one comes to all",
    shows: /ran \d+ times/,
    isDoubling: true,
    alter: (message, { isToWorker, forge }) => {
      if (!isToWorker && message.type === "accepted") forge(go(message.id, message.key))
      return message.type === "nogo" ? [] : [message]
    },
  },
  {
    name: "granted twice: nogo becomes go",
    shows: /ran \d+ times|says that it did not run/,
    isDoubling: true,
    alter: (message) => (message.type === "nogo" ? [go(message.id, message.key)] : [message]),
  },
  {
    name: "the deadline is ignored: workers receive neither the remaining time nor aborts",
    shows: /nobody waited/,
    alter: (message) => {
      if (message.type === "go") return [{ ...message, left: LONG }]
      if (message.type === "event" && message.event.type === "call.aborted") return []
      if (message.type !== "request") return [message]
      return [{ ...message, event: { ...message.event, timeout: LONG } }]
    },
  },
  {
    name: "the deadline is ignored: callers wait on",
    shows: /was due at|never ended/,
    patch: () => replace(Deadlines.prototype, "add", () => () => undefined),
  },
  {
    name: "time is measured with the date: calls wait until it is there again, or end early",
    shows: /was due at|never ended|came out as TIMEOUT/,
    patch: () =>
      replace(
        ProcessClock.prototype,
        "now",
        () =>
          function date(this: unknown) {
            return (this as ProcessClock).wallTime()
          },
      ),
  },
  {
    name: "the flag is not kept: a call that is given up did not run",
    shows: /(TIMEOUT|ABORTED) at \d+ says that it did not run/,
    wrap: (transport) =>
      instead(transport, { deliveryStatus: () => ({ mayHaveExecuted: false, retryable: true }) }),
  },
  {
    name: "the flag is not kept: a lost worker had not begun",
    mood: "killed",
    shows: /WORKER_LOST at \d+ says that it did not run/,
    wrap: (transport) =>
      overhear(transport, (event, pass) => {
        const isLoss =
          isType(event, "call.error") && (event as CallErrorEvent).code === "WORKER_LOST"
        pass(isLoss ? { ...(event as CallErrorEvent), mayHaveExecuted: false } : event)
      }),
  },
  {
    name: "whatever fails may be repeated",
    shows: /says that it may be repeated/,
    wrap: (transport) =>
      overhear(transport, (event, pass) =>
        pass(
          isType(event, "call.error") ? { ...(event as CallErrorEvent), retryable: true } : event,
        ),
      ),
  },
  {
    name: "a worker that was started again is granted what it ran before: its key is not compared",
    mood: "wild",
    shows: /ran \d+ times/,
    patch: () =>
      replace(
        CallerGrants.prototype,
        "accepted",
        (accepted) =>
          function careless(this: unknown, ...given) {
            const [worker, { id, key }] = given as Parameters<CallerGrants["accepted"]>
            for (const entry of worker.entries) {
              if (entry.requestId === id && entry.state === "granted") entry.key = key
            }
            accepted.apply(this, given)
          },
      ),
  },
  {
    name: "workers do not compare the key of a grant",
    mood: "wild",
    shows: /ran \d+ times|says that it did not run/,
    patch: () => {
      const entries = new WeakMap<CallerPeer, Map<string, WorkerEntry>>()
      const undoAdd = replace(
        WorkerCalls.prototype,
        "add",
        (add) =>
          function remembered(this: unknown, ...given) {
            const [entry] = given as Parameters<WorkerCalls["add"]>
            const known = entries.get(entry.caller) ?? new Map<string, WorkerEntry>()
            entries.set(entry.caller, known.set(entry.id, entry))
            add.apply(this, given)
          },
      )
      const undoGranted = replace(
        WorkerAdmission.prototype,
        "granted",
        (granted) =>
          function careless(this: unknown, ...given) {
            const [grant, caller] = given as Parameters<WorkerAdmission["granted"]>
            const key = entries.get(caller)?.get(grant.id)?.key ?? grant.key
            granted.call(this, { ...grant, key }, caller)
          },
      )
      return () => {
        undoAdd()
        undoGranted()
      }
    },
  },
  {
    name: "results are not kept",
    mood: "restarts",
    shows: /came out as (WORKER_LOST|TIMEOUT|UNAVAILABLE|DATA_LOSS).*restarts/,
    guard: { maxKeptBytes: 0 },
  },
  {
    name: "nobody asks for what got lost",
    mood: "restarts",
    shows: /came out as .*restarts/,
    alter: (message) =>
      message.type === "ping" ? [{ type: "ping", ids: [], streams: {} }] : [message],
  },
  {
    name: "nobody asks whether a worker is there",
    shows: /came out as WORKER_LOST/,
    mood: "calm",
    alter: (message) => (message.type === "pong" || message.type === "ping" ? [] : [message]),
  },
  {
    name: "a lost item is nobody's concern",
    shows: /item \d+ was|ended after \d+ of/,
    alter: (message, { isToWorker, random }) => {
      if (isToWorker || message.type !== "event") return [message]
      const { event } = message
      if (event.type === "call.completed")
        return [{ type: "event", event: { ...event, seq: undefined } }]
      if (event.type !== "call.responded" || event.seq === undefined) return [message]
      const { seq: _, ...item } = event
      return random.chance(0.2) ? [] : [{ type: "event", event: item }]
    },
  },
  {
    name: "an answer to another's call",
    shows: /data of another|none of its own/,
    alter: (message, { isToWorker, random }) => {
      if (isToWorker || message.type !== "event") return [message]
      const { event } = message
      if (event.type !== "call.responded" || !random.chance(0.2)) return [message]
      const output = { ...event.output, data: { key: "another", run: 7 } }
      return [{ type: "event", event: { ...event, output } }]
    },
  },
  {
    name: "repeats cost nothing",
    shows: /left for repeats/,
    patch: () => replace(RetryBudget.prototype, "take", () => () => true),
  },
  {
    name: "repeats are paid for twice",
    shows: /left for repeats/,
    patch: () =>
      replace(
        RetryBudget.prototype,
        "take",
        (take) =>
          function twice(now) {
            const isPaid = take.call(this, now)
            if (isPaid === true) take.call(this, now)
            return isPaid
          },
      ),
  },
  {
    name: "that a worker leaves is a failure",
    mood: "rolling",
    shows: /came out as .*rolling/,
    alter: (message) =>
      message.type === "refused" && message.elsewhere
        ? [{ ...message, elsewhere: false }]
        : message.type === "bye"
          ? []
          : [message],
  },
]
