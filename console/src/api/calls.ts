// Calls and streams of operations: pages load it with the first of them.

import { decodeEnvelope, encodeEnvelope } from "../../../src/core/envelope-codec.ts"
import type { WireEnvelope } from "../../../src/core/envelope-codec.ts"
import { isForwarded } from "../../../src/core/error-marks.ts"
import { MAX_RESULT_BYTES, MAX_SENT_CHARACTERS } from "../../../src/core/socket-sizes.ts"
import { CallError, isCallError } from "../../../src/core/errors.ts"
import { isPlainJson } from "../../../src/core/plain-json.ts"
import { problemOf } from "../../../src/core/problem.ts"
import { selectData, selectionOf } from "../../../src/core/selection.ts"
import { encodeSoon } from "../../../src/core/unread-file.ts"
import { isRecord } from "../../../src/internal/guards.ts"
import { silentLogger } from "../../../src/internal/logger.ts"
import { createClient } from "../../../src/protocol/client.ts"
import { fileFieldsOf } from "../../../src/schema/file-fields.ts"
import { createHTTPTransport } from "../../../src/transport/http/http-transport.ts"
import { createWebSocketTransport } from "../../../src/transport/websocket/websocket.ts"
import { parseInSlices } from "../ui/json-slices.ts"
import { parseJson, printJson, unmarked, withMarks, withNumbers } from "../ui/json-text.ts"
import { steadyNow } from "../ui/steady-now.ts"
import { ProblemError } from "./model.ts"
import type { CallOptions, CallOutcome, Credential, HTTPProblem, LiveCall } from "./model.ts"
import type { ResponseEnvelope, WatchOptions } from "./model.ts"
import { brokeOff, localProblem, toProblem, unexpectedAnswer, unreachable } from "./problems.ts"
import type { Requests } from "./requests.ts"

/** People need time to answer questions. */
const ANSWER_TIME_MS = 600_000
/** Characters of a frame that is read between other work. */
const LARGE = 1024 * 1024
/** How long no WebSocket is tried after one could not be opened. */
const PAUSE_MS = 10_000

type Client = ReturnType<typeof createClient>

/** A connection, and whose it is: the hub identifies callers by their connections. */
interface Link {
  readonly credential: Credential | undefined
  readonly transport: ReturnType<typeof createWebSocketTransport>
  readonly client: Client
}

/** Calls over the HTTP gateway of a hub, or over its WebSocket, which opens with the first call that needs it. */
export class Calls {
  readonly #requests: Requests
  #link: Link | undefined
  #pausedUntil = 0

  constructor(requests: Requests) {
    this.#requests = requests
  }

  /** Calls an operation over HTTP. Never rejects: every end is an outcome, including cancellation. */
  async call(
    id: string,
    input: unknown,
    { signal, select, timeoutMs = Number.POSITIVE_INFINITY }: CallOptions,
  ): Promise<CallOutcome> {
    const started = performance.now()
    const exchange = new Exchange(this.#requests, id, undefined, select)
    const { client } = exchange
    try {
      await client.call(id, withMarks(input), { signal, timeout: timeoutMs })
      const { envelope, facts } = exchange
      if (envelope === undefined) throw unexpectedAnswer(`The answer to "${id}"`)
      return { ok: true, envelope, ...facts, durationMs: performance.now() - started }
    } catch (error) {
      const problem = signal.aborted ? cancelled(id) : exchange.problemOf(error)
      return failed(problem, exchange.facts.headers, started)
    } finally {
      void client.close()
    }
  }

  /** Reads a subscription to its end. Aborting it here counts as an end, not as a failure. */
  async watch(id: string, input: unknown, { signal, onItem }: WatchOptions): Promise<void> {
    if (signal.aborted) return
    const exchange = new Exchange(this.#requests, id, "text/event-stream")
    const options = { signal, timeout: Number.POSITIVE_INFINITY }
    try {
      for await (const item of exchange.client.subscribe(id, withMarks(input), options)) {
        const envelope = await exchange.read(item)
        if (signal.aborted) return
        onItem({ envelope, at: steadyNow() })
      }
    } catch (error) {
      if (signal.aborted) return
      const problem = exchange.problemOf(error)
      throw new ProblemError(problem, problem.status)
    } finally {
      void exchange.client.close()
    }
  }

  /** Calls an operation over a WebSocket; `undefined` if it has to be called over HTTP. Never rejects. */
  async callLive(
    id: string,
    input: unknown,
    { signal, select, timeoutMs = ANSWER_TIME_MS }: CallOptions,
    { spec, onStart, onProgress, onQuestion, onPlain }: LiveCall,
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
    let selection: ReturnType<typeof selectionOf>
    try {
      selection = selectionOf(id, spec.outputSchema, select)
    } catch {
      // The hub says what is wrong with the paths.
      return undefined
    }
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
    try {
      const envelope = selected(await call, selection) as ResponseEnvelope
      return { ok: true, envelope, status: 200, headers, durationMs: performance.now() - started }
    } catch (error) {
      if (signal.aborted) return failed(cancelled(id), headers, started)
      if (!isCallError(error)) {
        return failed(unexpectedAnswer(`The result of "${id}"`).problem, headers, started)
      }
      if (isUnsent(error)) {
        if (error.code === "UNAVAILABLE") {
          this.#pausedUntil = performance.now() + PAUSE_MS
          onPlain()
        }
        return undefined
      }
      if (error.code === "PAYLOAD_TOO_LARGE" && spec.type === "query") return undefined
      const problem = isLost(error)
        ? { ...unreachable(true), operationId: id }
        : problemOf(error, spec, call.requestId)
      return failed(problem, headers, started)
    }
  }

  #open(): Link {
    const { baseUrl, session } = this.#requests
    const { credential } = session
    const before = this.#link
    if (before?.transport.state === "closed" || before?.credential !== credential) {
      // Never rejects.
      void before?.client.close()
    } else if (before !== undefined) return before
    const url = new URL(`ws?client=console&maxResultBytes=${MAX_RESULT_BYTES}`, baseUrl)
    const transport = createWebSocketTransport(url, {
      // Also a key: the hub takes either as a bearer token.
      token: credential?.value,
      // The page itself came the same way.
      insecure: true,
      reconnect: false,
      connectTimeout: 3000,
      maxFrameBytes: MAX_RESULT_BYTES,
      parse: (json) =>
        json.length > LARGE ? parseInSlices(json).then(inBase64) : inBase64(parseJson(json)),
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

/** One request to an operation, and what is known of its response. */
class Exchange {
  readonly client: Client
  /** The result of a call, as JSON: bytes are base64, and `binary` says where they are. */
  envelope: ResponseEnvelope | undefined
  readonly #id: string
  readonly #streamType: string | undefined
  #response: Response | undefined
  #failure: ProblemError | undefined
  #hasBytes = false
  /** Whether the last that the hub sent is the problem of a stream. */
  #hasProblem = false

  constructor(requests: Requests, id: string, streamType?: string, select?: readonly string[]) {
    this.#id = id
    this.#streamType = streamType
    const transport = createHTTPTransport(requests.baseUrl.replace(/\/+$/, ""), {
      fetch: (url, init) => this.#send(requests, withSelect(url as string, select), init),
      batch: false,
      resumeMs: 0,
      // The hub has limits of its own.
      maxResponseBytes: 2 ** 30,
      parse: (json) => {
        const value = parseJson(json)
        this.#hasBytes ||= isRecord(value) && "binary" in value
        this.#hasProblem = toProblem(value) !== undefined
        return value
      },
    })
    this.client = createClient(transport, { logger: silentLogger })
  }

  get facts(): Pick<CallOutcome, "status" | "headers"> {
    const { status = 0, headers = new Headers() } = this.#response ?? {}
    return { status, headers: Object.fromEntries(headers) }
  }

  /** An item of a stream as JSON. */
  async read(envelope: ResponseEnvelope): Promise<ResponseEnvelope> {
    return this.#hasBytes ? ((await encoded(envelope)) as ResponseEnvelope) : envelope
  }

  problemOf(error: unknown): HTTPProblem {
    return { ...this.#problemOf(error), operationId: this.#id }
  }

  #problemOf(error: unknown): HTTPProblem {
    if (this.#failure !== undefined) return this.#failure.problem
    if (!isCallError(error)) return unexpectedAnswer(`The answer to "${this.#id}"`).problem
    const { ok = true, status } = this.#response ?? {}
    // The hub has reported nothing: the error is the client's own.
    if (error.code === "UNAVAILABLE" && ok && !this.#hasProblem) {
      return this.#streamType === undefined
        ? unreachable(true)
        : brokeOff(`The stream of "${this.#id}"`)
    }
    return problemOf(error, undefined, error.requestId, ok ? undefined : status)
  }

  /** Reads the result of a call, which may be large, without blocking the page as the client would. */
  async #readResult(response: Response): Promise<Response> {
    const text = await response.text()
    const value = await parseInSlices(text).catch(() => undefined)
    if (!isRecord(value) || !isRecord(value["meta"])) return new Response(text)
    this.envelope = value as unknown as ResponseEnvelope
    // What is checked is there: `meta`, and that it has blocks of content.
    const { content, ...meta } = value["meta"]
    return Response.json({
      data: null,
      meta: { ...meta, ...(Array.isArray(content) && { content: [] }) },
    })
  }

  async #send(requests: Requests, url: string, init: RequestInit = {}): Promise<Response> {
    const { body } = init
    const headers = new Headers(init.headers)
    // A file is shown as part of its envelope.
    headers.delete("prefer")
    try {
      const response = await requests.send(url, {
        ...init,
        headers,
        ...(typeof body === "string" && { body: unmarked(body) }),
      })
      this.#response = response
      const type = response.headers.get("content-type") ?? ""
      if (response.ok && !type.startsWith(this.#streamType ?? "")) {
        await response.body?.cancel()
        throw unexpectedAnswer(`A stream of type "${type}"`)
      }
      return response.ok && this.#streamType === undefined
        ? await this.#readResult(response)
        : response
    } catch (error) {
      if (error instanceof ProblemError) this.#failure = error
      throw error
    }
  }
}

/** Where bytes are in results, by their `meta`. */
const places = new WeakMap<object, NonNullable<WireEnvelope["binary"]>>()

/** A frame whose results keep their bytes as base64, as they are shown. */
function inBase64(frame: unknown): unknown {
  for (const event of Array.isArray(frame) ? (frame as unknown[]) : [frame]) {
    const output = isRecord(event) ? event["output"] : undefined
    if (!isRecord(output) || !isRecord(output["meta"]) || !isRecord(output["binary"])) continue
    places.set(output["meta"], output["binary"] as NonNullable<WireEnvelope["binary"]>)
    delete output["binary"]
  }
  return frame
}

/** The selected part of a result whose bytes are base64. */
function selected(
  envelope: ResponseEnvelope,
  selection: ReturnType<typeof selectionOf>,
): WireEnvelope {
  const binary = places.get(envelope.meta)
  if (binary === undefined) return selectData(envelope, selection)
  const whole = { ...envelope, binary }
  return selection === undefined
    ? whole
    : encodeEnvelope(selectData(decodeEnvelope(whole), selection))
}

function withSelect(url: string, select: readonly string[] | undefined): string {
  return select === undefined ? url : `${url}?${new URLSearchParams({ select: select.join(",") })}`
}

async function encoded(envelope: ResponseEnvelope): Promise<WireEnvelope> {
  // Most results have neither bytes nor files; of a large one, looking is much faster than encoding.
  if (isPlainJson(envelope.data)) return envelope
  return await encodeSoon(() => encodeEnvelope(envelope))
}

function failed(
  problem: HTTPProblem,
  headers: CallOutcome["headers"],
  started: number,
): CallOutcome {
  const durationMs = performance.now() - started
  return { ok: false, problem, status: problem.status, headers, durationMs }
}

/** Whether the connection was lost before there was a result. */
function isLost(error: CallError): boolean {
  return !isForwarded(error) && error.code === "UNAVAILABLE"
}

/** Whether a call was not made. */
function isUnsent(error: CallError): boolean {
  return !isForwarded(error) && !error.mayHaveExecuted
}

/** Whether a value arrives as it is: neither too long, nor with integers of more than 53 bits. */
function canSend(value: unknown): boolean {
  return withNumbers(value) === value && (printJson(value)?.length ?? 0) <= MAX_SENT_CHARACTERS
}

/** The problem of a call that was cancelled here. */
function cancelled(id: string): HTTPProblem {
  const about = { operationId: id, mayHaveExecuted: true }
  return localProblem("ABORTED", "Cancelled", `The call of "${id}" was cancelled here.`, about)
}
