import fc from "fast-check"
import { CallError } from "../../../src/index.ts"
import type { CallEvent, PendingSubscription } from "../../../src/index.ts"
import { isOpen } from "./model.ts"
import { about, anyEvent, arrive, command, eventFor, isCall, isStream, responded } from "./steps.ts"
import type { Command } from "./steps.ts"

const picks = fc.nat(20)
const after = fc.option(fc.constantFrom(0, 1, 40, 90), { nil: undefined })

/** Calls, streams and what comes for them. */
const usual: readonly fc.Arbitrary<Command>[] = [
  after.map((deadline) =>
    command(`call(${deadline})`, (model, real) => {
      real.call({ deadline })
      model.request("call", deadline, undefined, 0)
    }),
  ),
  fc
    .tuple(after, fc.option(fc.constantFrom(20, 70), { nil: undefined }), fc.constantFrom(1, 2, 5))
    .map(([deadline, idleTimeout, window]) =>
      command(`subscribe(${deadline}, ${idleTimeout}, ${window})`, (model, real) => {
        real.subscribe({ deadline, idleTimeout, window })
        model.request("stream", deadline, idleTimeout, window)
      }),
    ),
  picks.map((pick) =>
    about(
      "take",
      pick,
      (request) => isStream(request) && !request.isWaiting,
      (request, seen, model, real) => {
        real.take(seen)
        model.take(request)
      },
    ),
  ),
  picks.map((pick) =>
    about(
      "respond",
      pick,
      (request) => isCall(request) && isOpen(request),
      (request, seen, model, real) => {
        arrive(responded(seen.requestId, "data"), request, model, real)
      },
    ),
  ),
  picks.map((pick) =>
    about(
      "item",
      pick,
      (request) => isStream(request) && isOpen(request),
      (request, seen, model, real) => {
        const seq = request.seq + 1
        arrive(responded(seen.requestId, seq, seq), request, model, real)
      },
    ),
  ),
]

/** What makes things difficult. */
const unusual: readonly fc.Arbitrary<Command>[] = [
  fc.tuple(picks, fc.constantFrom("handle", "map", "signal")).map(([pick, how]) =>
    about(
      `abort by ${how}`,
      pick,
      (request) => how !== "map" || request.isSent,
      (request, seen, model, real) => {
        if (how === "handle") seen.handle.abort("enough")
        else if (how === "map") real.map.abort(seen.requestId, "enough")
        else seen.controller.abort()
        // A signal counts from the first item on; one that fired before counts then.
        if (how !== "signal" || request.isSent) model.leave(request, "ABORTED")
        else request.firedEarly = true
      },
    ),
  ),
  picks.map((pick) =>
    about(
      "flood",
      pick,
      (request) => isStream(request) && isOpen(request),
      (request, seen, model, real) => {
        // One for whoever waits, as many as there is room for, and one too many.
        for (let more = request.window + 2; more > 0; more--) {
          const seq = request.seq + 1
          arrive(responded(seen.requestId, seq, seq), request, model, real)
        }
      },
    ),
  ),
  picks.map((pick) =>
    about(
      "gap",
      pick,
      (request) => isStream(request) && isOpen(request),
      (request, seen, model, real) => {
        const seq = request.seq + 2
        arrive(responded(seen.requestId, seq, seq), request, model, real)
      },
    ),
  ),
  fc.tuple(picks, fc.constantFrom(0, 0, 0, 1)).map(([pick, off]) =>
    about(`complete off by ${off}`, pick, isStream, (request, { requestId }, model, real) => {
      arrive({ type: "call.completed", requestId, seq: request.seq + off }, request, model, real)
    }),
  ),
  picks.map((pick) =>
    about("error", pick, isOpen, (request, { requestId }, model, real) => {
      const event = eventFor({ type: "error", number: 1 }, request, requestId)
      arrive(event, request, model, real)
    }),
  ),
  picks.map((pick) =>
    about("peer aborts", pick, isOpen, (request, { requestId }, model, real) => {
      arrive({ type: "call.aborted", requestId }, request, model, real)
    }),
  ),
  picks.map((pick) =>
    command(`duplicate(${pick})`, (model, real) => {
      const events = [...real.last.values()]
      const event = events[pick % events.length]
      if (event === undefined) return
      const request = model.requests.find(
        ({ index }) => real.seen[index]?.requestId === event.requestId,
      )
      if (request === undefined) real.inject(event)
      else arrive(event, request, model, real)
    }),
  ),
  fc.tuple(picks, anyEvent).map(([pick, event]) =>
    about(
      `late ${event.type}`,
      pick,
      ({ isOver }) => isOver,
      (request, seen, model, real) => {
        arrive(eventFor(event, request, seen.requestId), request, model, real)
      },
    ),
  ),
  anyEvent.map((event) =>
    command(`unknown ${event.type}`, (_model, real) => {
      real.transport.receiver?.event(eventFor(event, { kind: "stream" }, "nobody"))
    }),
  ),
  fc.anything().map((value) =>
    command(`garbage ${fc.stringify(value)}`, (model, real) => {
      real.transport.receiver?.event(value)
      model.dropped++
    }),
  ),
  picks.map((pick) =>
    about("undelivered", pick, isOpen, (request, seen, model, real) => {
      const [event] = real.sentFor(seen.requestId)
      const error = new CallError("PAYLOAD_TOO_LARGE", "It was too large.")
      real.transport.receiver?.undelivered(event as CallEvent, error)
      model.fail(request, "PAYLOAD_TOO_LARGE")
    }),
  ),
  picks.map((pick) =>
    about("leave", pick, isStream, async (request, { handle }, model) => {
      model.return(request)
      await (handle as PendingSubscription).return()
    }),
  ),
  fc.constantFrom(1, 10, 50, 200).map((milliseconds) =>
    command(`wait(${milliseconds})`, async (model, real) => {
      await real.world.runTo(real.world.time + milliseconds)
      model.runTo(real.world.time)
    }),
  ),
  fc.constant(
    command(
      "disconnect",
      (model, real) => {
        real.transport.isDown = true
        real.transport.receiver?.lost(new CallError("UNAVAILABLE", "The peer is gone."))
        model.isDown = true
        for (const request of model.requests)
          if (isOpen(request)) model.fail(request, "UNAVAILABLE")
      },
      ({ isDown }) => !isDown,
    ),
  ),
  fc.constant(
    command(
      "reconnect",
      (model, real) => {
        real.transport.isDown = false
        real.transport.receiver?.restored()
        model.isDown = false
      },
      ({ isDown }) => isDown,
    ),
  ),
  // Rare, or there would be little to see.
  fc.nat(9).map((chance) =>
    command(
      "close",
      async (model, real) => {
        model.close()
        await real.map.close()
        await real.map.close()
      },
      () => chance === 0,
    ),
  ),
]

/** Everything that can happen to a caller, by how often it does. */
export const commands: readonly fc.Arbitrary<Command>[] = [...usual, ...usual, ...usual, ...unusual]
