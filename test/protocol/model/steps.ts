import fc from "fast-check"
import { localEnvelope } from "../../../src/index.ts"
import type { CallEvent } from "../../../src/index.ts"
import { settle } from "../sim/clock.ts"
import { expectAgreement } from "./agree.ts"
import { isOpen } from "./model.ts"
import type { Model, Request } from "./model.ts"
import type { Real, Seen } from "./real.ts"

export type Command = fc.AsyncCommand<Model, Real>

/** A command: what it does to the model and to the map, which have to agree afterwards. */
export function command(
  name: string,
  run: (model: Model, real: Real) => void | Promise<void>,
  check: (model: Readonly<Model>) => boolean = () => true,
): Command {
  return {
    check,
    toString: () => name,
    async run(model, real) {
      await run(model, real)
      await settle()
      expectAgreement(model, real)
    },
  }
}

/** A command about one of the requests there are, the `pick`th of those that fit. */
export function about(
  name: string,
  pick: number,
  fits: (request: Request, model: Readonly<Model>) => boolean,
  run: (request: Request, seen: Seen, model: Model, real: Real) => void | Promise<void>,
): Command {
  const fitting = (model: Readonly<Model>): Request[] =>
    model.requests.filter((request) => fits(request, model))
  return command(
    `${name}(${pick})`,
    async (model, real) => {
      const all = fitting(model)
      const request = all[pick % all.length] as Request
      await run(request, real.seen[request.index] as Seen, model, real)
    },
    (model) => fitting(model).length > 0,
  )
}

export const isStream = ({ kind }: Request): boolean => kind === "stream"
export const isCall = ({ kind }: Request): boolean => kind === "call"

export function responded(requestId: string, data: unknown, seq?: number): CallEvent {
  const output = localEnvelope(data, "demo.stream")
  return { type: "call.responded", requestId, output, ...(seq === undefined ? {} : { seq }) }
}

/** What an event of any kind does, wherever it may come from. */
export function arrive(event: CallEvent, request: Request, model: Model, real: Real): void {
  real.inject(event)
  if (model.isClosed || model.isDown || !isOpen(request)) return
  switch (event.type) {
    case "call.responded":
      if (isStream(request)) model.item(request, event.seq ?? request.seq + 1)
      else {
        request.outcomes.push("data")
        request.isOver = true
      }
      return
    case "call.completed":
      if (isStream(request)) model.complete(request, event.seq ?? request.seq)
      else model.fail(request, "ABORTED")
      return
    case "call.error":
      model.fail(request, event.code)
      return
    case "call.aborted":
      model.fail(request, "ABORTED")
      return
    // Progress nobody asked for, questions, credit and requests concern no one here.
    case "call.progress":
    case "call.asked":
    case "call.answered":
    case "call.credit":
    case "call.requested":
  }
}

/** Any event for a request, of its own kind or not. */
export const anyEvent = fc.record({
  type: fc.constantFrom("responded", "completed", "error", "aborted", "progress", "credit"),
  number: fc.integer({ min: 1, max: 3 }),
})

export function eventFor(
  { type, number }: { type: string; number: number },
  { kind }: { kind: string },
  requestId: string,
): CallEvent {
  switch (type) {
    case "responded":
      return kind === "call" ? responded(requestId, "data") : responded(requestId, number, number)
    case "completed":
      return { type: "call.completed", requestId, seq: number }
    case "error":
      return { type: "call.error", requestId, code: "SOLD_OUT", message: "None left." }
    case "aborted":
      return { type: "call.aborted", requestId, reason: "The other side." }
    case "progress":
      return { type: "call.progress", requestId, progress: number }
    default:
      return { type: "call.credit", requestId, credit: number }
  }
}
