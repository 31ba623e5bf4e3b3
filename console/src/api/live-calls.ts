import { encodeEnvelope } from "../../../src/core/envelope-codec.ts"
import { isForwarded } from "../../../src/core/error-marks.ts"
import { CallError, isCallError } from "../../../src/core/errors.ts"
import { problemOf } from "../../../src/core/problem.ts"
import { encodeFiles } from "../../../src/core/unread-file.ts"
import { silentLogger } from "../../../src/internal/logger.ts"
import { createClient } from "../../../src/protocol/client.ts"
import { createWebSocketTransport } from "../../../src/transport/websocket/websocket.ts"
import { fileFieldsOf } from "../../../src/schema/file-fields.ts"
import { printJson, withNumbers } from "../ui/json-text.ts"
import { cancelled } from "./call.ts"
import { idOf } from "./model.ts"
import type { CallOptions, CallOutcome, Credential, HTTPProblem, LiveCall } from "./model.ts"
import type { ResponseEnvelope } from "./model.ts"
import { unexpectedAnswer, unreachable } from "./problems.ts"
import type { Session } from "./session.ts"

/** People need time to answer questions. */
const ANSWER_TIME_MS = 600_000
/** What a hub sends at most. */
const MAX_RESULT_BYTES = 16 * 1024 * 1024
/** Characters that a hub certainly receives. */
const MAX_SENT = 300_000
/** How long no WebSocket is tried after one could not be opened. */
const PAUSE_MS = 10_000

/** A connection, and whose it is: the hub identifies callers by their connections. */
interface Link {
  readonly credential: Credential | undefined
  readonly transport: ReturnType<typeof createWebSocketTransport>
  readonly client: ReturnType<typeof createClient>
}

/** Calls over the WebSocket of a hub, which opens with the first call. */
export class LiveCalls {
  readonly #url: URL
  readonly #session: Session
  #link: Link | undefined
  #pausedUntil = 0

  constructor(baseUrl: string, session: Session) {
    this.#url = new URL(`ws?maxResultBytes=${MAX_RESULT_BYTES}`, baseUrl)
    this.#session = session
  }

  /** Calls an operation; `undefined` if it has to be called over HTTP. Never rejects. */
  async call(
    { spec, onStart, onProgress, onQuestion, onPlain }: LiveCall,
    input: unknown,
    { signal, timeoutMs = ANSWER_TIME_MS }: CallOptions,
  ): Promise<CallOutcome | undefined> {
    // Over HTTP the hub reads base64 of files, and refuses integers of more than 53 bits instead of rounding them.
    if (!canSend(input) || fileFieldsOf(spec.inputSchema) || fileFieldsOf(spec.outputSchema)) {
      return undefined
    }
    if (performance.now() < this.#pausedUntil) {
      onPlain()
      return undefined
    }
    const started = performance.now()
    const id = idOf(spec)
    const call = this.#open().client.call(id, input, {
      signal,
      timeout: timeoutMs,
      progress: onProgress,
      requestInput: async (request) => {
        const response = await onQuestion(request)
        if (canSend(response)) return response
        throw new CallError("UNAVAILABLE", "The answer is too long, or has an integer of 54 bits.")
      },
    })
    onStart(call.requestId)
    const headers = { "request-id": call.requestId }
    const failed = (problem: HTTPProblem): CallOutcome => {
      const durationMs = performance.now() - started
      return { ok: false, problem, status: problem.status, headers, durationMs }
    }
    try {
      const output = await call
      const envelope = (await encodeFiles(() => encodeEnvelope(output))) as ResponseEnvelope
      const durationMs = performance.now() - started
      return { ok: true, envelope, status: 200, headers, durationMs }
    } catch (error) {
      if (!isCallError(error)) return failed(unexpectedAnswer(`The result of "${id}"`).problem)
      if (!signal.aborted && isUnsent(error)) {
        if (error.code === "UNAVAILABLE") {
          this.#pausedUntil = performance.now() + PAUSE_MS
          onPlain()
        }
        return undefined
      }
      if (error.code === "PAYLOAD_TOO_LARGE" && spec.type === "query") return undefined
      return failed(signal.aborted ? cancelled(id) : failureOf(error, spec, call.requestId))
    }
  }

  #open(): Link {
    const { credential } = this.#session
    const before = this.#link
    if (before?.transport.state === "closed" || before?.credential !== credential) {
      // Never rejects.
      void before?.client.close()
    } else if (before !== undefined) return before
    const transport = createWebSocketTransport(this.#url, {
      // Also a key: the hub takes either as a bearer token.
      token: credential?.value,
      // The page itself came the same way.
      insecure: true,
      reconnect: false,
      connectTimeout: 3000,
      maxFrameBytes: MAX_RESULT_BYTES,
      logger: silentLogger,
    })
    this.#link = {
      credential,
      transport,
      client: createClient(transport, { logger: silentLogger }),
    }
    return this.#link
  }
}

/** Whether a call was not made. */
function isUnsent(error: CallError): boolean {
  return !isForwarded(error) && !error.mayHaveExecuted
}

/** Whether a value arrives as it is: neither too long, nor with integers of more than 53 bits. */
function canSend(value: unknown): boolean {
  return withNumbers(value) === value && (printJson(value)?.length ?? 0) <= MAX_SENT
}

function failureOf(error: CallError, spec: LiveCall["spec"], requestId: string): HTTPProblem {
  const isLost = !isForwarded(error) && error.code === "UNAVAILABLE"
  return isLost
    ? { ...unreachable(true), operationId: idOf(spec) }
    : problemOf(error, spec, requestId)
}
