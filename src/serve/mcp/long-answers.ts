// Answers that take long: comments keep their connections open, and they end with the credential of their caller.

import { systemClock, wallTimeOf } from "../../internal/clock.ts"
import { DeadlineTimer } from "../../internal/deadline-timer.ts"
import { Deadlines } from "../../internal/deadlines.ts"
import { setRef } from "../../internal/defer.ts"
import type { Clock } from "../../internal/platform.ts"
import { isStream, Leaving, type HTTPAnswer, type HTTPStream } from "../exchange.ts"
import { credentialEnded, whenEnded, type EndingCredential } from "../expiry.ts"
import { refuseWith, type Refusal } from "./answers.ts"
import type { MCPRequest } from "./auth.ts"
import type { RequestId } from "./sdk.ts"

const COMMENT = ": keepalive\n\n"

const EVENT_HEADERS = {
  "content-type": "text/event-stream",
  "cache-control": "no-cache, no-transform",
  "x-accel-buffering": "no",
}

/**
 * Starts a response in time, even if its answer is late.
 *
 * After `quietMs` it becomes an event stream with regular comments, so that no proxy
 * closes the silent connection; the answer is its only event. `onLeave` is called when the client disconnects first.
 */
export function inTime(
  answer: Promise<HTTPAnswer>,
  quietMs: number,
  onLeave: () => void,
): Promise<HTTPAnswer> {
  if (!Number.isFinite(quietMs) || quietMs < 1) return answer
  return new Promise((resolve, reject) => {
    const silence = new DeadlineTimer(silences, () =>
      resolve({ status: 200, headers: EVENT_HEADERS, body: commented(answer, quietMs, onLeave) }),
    )
    silence.start(systemClock.now() + quietMs)
    answer.then(
      (settled) => {
        silence.stop()
        resolve(settled)
      },
      (error: unknown) => {
        silence.stop()
        reject(error)
      },
    )
  })
}

/** One timer for all requests. */
const silences = new Deadlines(systemClock)

/** Comments until there is an answer, and its events. */
function commented(answer: Promise<HTTPAnswer>, quietMs: number, onLeave: () => void): HTTPStream {
  return {
    async run(sink) {
      sink.write(COMMENT)
      const timer = setInterval(() => sink.write(COMMENT), quietMs)
      setRef(timer, false)
      const leaving = new Leaving()
      const stop = sink.onGone(() => {
        clearInterval(timer)
        onLeave()
        leaving.leave()
      })
      const send = async (): Promise<void> => {
        try {
          const { body = "" } = await answer.finally(() => clearInterval(timer))
          if (isStream(body)) await body.run(sink)
          else sink.write(`event: message\ndata: ${String(body)}\n\n`)
        } catch {
          sink.cut?.()
        }
      }
      await Promise.race([send(), gone(leaving)])
      stop()
    },
  }
}

function gone(leaving: Leaving): Promise<void> {
  return new Promise((resolve) => leaving.listen(resolve))
}

/** A streamed response: it counts as a stream of its caller, and ends with its credential. */
export async function asStream(
  { caller, mount }: MCPRequest,
  open: () => Promise<HTTPAnswer>,
): Promise<HTTPAnswer> {
  const full = mount?.caller.openStream()
  if (full !== undefined) throw refuseWith(full)
  const onRevoked = mount && ((listener: () => void) => mount.caller.onRevoked(listener))
  const credential = { expiresAt: caller.expiresAt, onRevoked }
  return until(credential, await open(), mount?.host.clock ?? systemClock)
}

/** The calls of one request. */
export interface RequestedCalls {
  readonly ids: readonly RequestId[]
  /** Cancels the calls. */
  readonly cancel: () => void
  /** The refusal when the credential has expired before the calls start. */
  readonly refuse: () => Refusal
}

/**
 * The response to calls. When their credential expires, those that are answered as a stream are cancelled; others
 * finish: a client that is refused then would repeat a call that has had its effect.
 */
export async function untilExpired(
  { caller: { expiresAt }, mount }: MCPRequest,
  { ids, cancel, refuse }: RequestedCalls,
  open: () => Promise<HTTPAnswer>,
): Promise<HTTPAnswer> {
  if (expiresAt === undefined) return await open()
  const clock = mount?.host.clock ?? systemClock
  if (expiresAt <= wallTimeOf(clock)) throw refuse()
  return until({ expiresAt }, await open(), clock, failures(ids), cancel)
}

/** Error events for calls whose credential has expired. */
function failures(ids: readonly RequestId[]): string {
  const { code, message, mayHaveExecuted } = credentialEnded("has expired")
  const error = { code: -32001, message, data: { code, mayHaveExecuted } }
  return ids
    .map((id) => `event: message\ndata: ${JSON.stringify({ jsonrpc: "2.0", id, error })}\n\n`)
    .join("")
}

/** Ends a stream with the credential of its caller, who reconnects with a new one. */
function until(
  credential: EndingCredential,
  answer: HTTPAnswer,
  clock: Clock,
  lastEvents = "",
  onExpired?: () => void,
): HTTPAnswer {
  const { body } = answer
  if (!isStream(body)) return answer
  return {
    ...answer,
    body: {
      async run(sink) {
        const leaving = new Leaving()
        const ended = gone(leaving)
        const stopSink = sink.onGone(() => leaving.leave())
        const stop = whenEnded(credential, clock, () => {
          if (lastEvents !== "") sink.write(lastEvents)
          leaving.leave()
          onExpired?.()
        })
        const sent = body.run({
          get isGone() {
            return leaving.isGone
          },
          write: (chunk) => leaving.isGone || sink.write(chunk),
          cut: () => sink.cut?.(),
          drained: () => Promise.race([sink.drained(), ended]),
          onGone: (listener) => leaving.listen(listener),
        })
        await Promise.race([sent, ended])
        stop()
        stopSink()
      },
    },
  }
}
