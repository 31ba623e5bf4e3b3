// Requests of the call protocol over HTTP: which calls share a request, and what is repeated or resumed.

import { afterAttempts } from "../../core/error-changes.ts"
import { errorEvent } from "../../core/error-marks.ts"
import { isCallError, refusal, type CallError } from "../../core/errors.ts"
import type { CallEvent } from "../../core/events.ts"
import { problemError } from "../../core/problem.ts"
import { backOff, withJitter } from "../../internal/back-off.ts"
import { deferOn, systemClock } from "../../internal/clock.ts"
import { reasonOf } from "../../internal/message-text.ts"
import { isRecord } from "../../internal/guards.ts"
import { FILE_PREFERENCE, HEADERS } from "../../internal/headers.ts"
import { validateOptions, type OptionsSchema } from "../../internal/options.ts"
import type { Clock } from "../../internal/platform.ts"
import { isUnencrypted } from "../../internal/unencrypted.ts"
import type { Transport, TransportReceiver } from "../../protocol/transport.ts"
import { pageLifecycle } from "../page-lifecycle.ts"
import {
  connectionError,
  exchange,
  isRepeatable,
  parse,
  pathOf,
  readLines,
  readText,
  resultOf,
  unanswered,
  loadFiles,
} from "./exchange.ts"
import type { HTTPPeer, RequestHeaders } from "./exchange.ts"
import type { Downloads } from "./files.ts"
import { Outgoing } from "./outgoing.ts"
import type { StreamHost } from "./streams.ts"

/** Options of `createHTTPTransport`. */
export interface HTTPTransportOptions {
  /** Headers of every request, such as `authorization`; a function is asked before each one. */
  readonly headers?: RequestHeaders | undefined
  /** Default: the platform's. */
  readonly fetch?: typeof globalThis.fetch | undefined
  /**
   * Whether calls of one turn share a request, and how many at most: yes, up to 100. A server answers each call as
   * soon as it is done.
   */
  readonly batch?: boolean | { readonly max: number } | undefined
  /**
   * Sends queries by GET, so that HTTP caches can keep the responses that allow it. Their inputs are then in URLs, which
   * servers log. With `"GET"` the first call of each operation is a POST, of which the response says whether it is a
   * query; a function says so for the first call, too. Default: all calls are POST requests.
   */
  readonly queries?: "GET" | ((operationId: string) => boolean) | undefined
  /** How often a call is repeated whose error is `retryable`: 0. */
  readonly retries?: number | undefined
  /**
   * Milliseconds in which a stream that was cut off may be resumed: 60,000. Only for operations whose handler reads
   * `context.metadata.lastEventId`; others fail, so that no item comes twice.
   */
  readonly resumeMs?: number | undefined
  /** Longest answer of a call and longest item of a stream, in bytes: 64 Mi. */
  readonly maxResponseBytes?: number | undefined
  /** Parses the JSON of results, such as with large integers as `BigInt`s: `JSON.parse`. */
  readonly parse?: ((json: string) => unknown) | undefined
  /** Allows sending headers to another machine over `http:`, where others can read them. */
  readonly insecure?: boolean | undefined
  readonly clock?: Clock | undefined
}

export const HTTP_TRANSPORT_OPTIONS: OptionsSchema<HTTPTransportOptions> = {
  headers: { either: ["function", HEADERS] },
  fetch: "function",
  batch: { either: ["boolean", { members: { max: { required: "count" } } }] },
  queries: { either: [{ oneOf: ["GET"] }, "function"] },
  retries: { min: 0, max: 100, whole: true },
  resumeMs: { min: 0 },
  maxResponseBytes: "count",
  parse: "function",
  insecure: "boolean",
  clock: "clock",
}

/** Calls that together are longer than this are sent apart: a server limits the length of a body. */
const MAX_BATCH_TEXT = 256 * 1024
/** Longest URL; some proxies refuse longer ones. */
const MAX_URL = 2000
const FIRST_DELAY = 200
const LONGEST_DELAY = 5000
const PAGE_LEFT = "the page was left"
/** Milliseconds for a server to end an answer that has everything. */
const END_TIMEOUT_MS = 1000

/**
 * Creates a transport to a registry that is served over HTTP, for `createClient`.
 *
 * It needs nothing but `fetch`: calls are requests, streams are server-sent events. The server cannot call back.
 */
export function createHTTPTransport(
  url: string | URL,
  options: HTTPTransportOptions = {},
): Transport {
  validateOptions("createHTTPTransport", options, HTTP_TRANSPORT_OPTIONS)
  const { headers, maxResponseBytes = 64 * 1024 * 1024, parse: read = JSON.parse } = options
  const { insecure } = options
  const { location } = globalThis as { readonly location?: { href: string; host: string } }
  const base = validateUrl(url, location?.href)
  if (headers !== undefined && !insecure && isUnencrypted(base) && base.host !== location?.host) {
    const message = `createHTTPTransport(url): ${base.host} has no TLS, so that others could read the headers. Use https, or set insecure: true.`
    throw refusal("EGRESS_BLOCKED", message)
  }
  // Looked up per call: a browser's must not be called as a method, and tests replace the platform's.
  const fetch: typeof globalThis.fetch =
    options.fetch ?? ((input, init) => globalThis.fetch(input, init))
  const peer = { url: base.href.replace(/\/+$/, ""), fetch, headers, maxResponseBytes, parse: read }
  return openTransport(peer, options)
}

// Closures, of which minified programs have less than of a class.
function openTransport(peer: HTTPPeer, options: HTTPTransportOptions): Transport {
  const { batch = true, retries = 0, resumeMs = 60_000, clock = systemClock, queries } = options
  const maxBatch = typeof batch === "object" ? batch.max : batch ? 100 : 1
  const open = new Map<string, Outgoing>()
  /** Requests whose answers are read, with the timers of those that should be over. */
  const requests = new Map<AbortController, unknown>()
  /** Whether operations are queries, as far as that is known. */
  const types = new Map<string, boolean>()
  let downloads: Downloads | undefined
  let receiver: TransportReceiver | undefined
  let queue: Outgoing[] = []
  let isClosed = false
  let unwatch: (() => void) | undefined

  const isOpen = (outgoing: Outgoing): boolean => open.get(outgoing.event.requestId) === outgoing

  const receive = (event: unknown): void => receiver?.event(event)

  const deliver = (outgoing: Outgoing, event: CallEvent): void => {
    if (!isOpen(outgoing)) return
    open.delete(event.requestId)
    receive(event)
  }

  const reject = (outgoing: Outgoing, error: CallError): void =>
    deliver(outgoing, errorEvent(outgoing.event.requestId, error))

  const abortRequests = (why: string): void => {
    for (const request of requests.keys()) request.abort()
    downloads?.abort(unanswered(peer, why))
  }

  /**
   * The page was left or frozen: a browser may keep its requests open, and the server would continue to work
   * for it.
   */
  const suspend = (): void => {
    for (const outgoing of [...open.values()]) {
      reject(outgoing, unanswered(peer, PAGE_LEFT))
      outgoing.cancel?.()
    }
    abortRequests(PAGE_LEFT)
  }

  const pause = (outgoing: Outgoing, failures: number, asked = 0): Promise<boolean> => {
    const delay = Math.max(asked, withJitter(backOff(failures, FIRST_DELAY, LONGEST_DELAY)))
    return new Promise((resolve) => {
      const timer = clock.setTimeout(() => resolve(isOpen(outgoing)), delay)
      outgoing.cancel = () => {
        clock.clearTimeout(timer)
        resolve(false)
      }
    })
  }

  /**
   * Repeats a call whose error is retryable; reports the error otherwise. Without an error, there was no
   * response.
   */
  const fail = (outgoing: Outgoing, thrown: unknown): void => {
    if (!isOpen(outgoing)) return
    const error = thrown === undefined ? unanswered(peer) : connectionError(peer, thrown)
    outgoing.failures++
    const canRepeat = isRepeatable(error) && outgoing.upload?.isRepeatable !== false
    if (!canRepeat || outgoing.failures > retries) {
      const attempts = { started: outgoing.failures, hasEffects: outgoing.hasEffects }
      return reject(outgoing, afterAttempts(error, attempts, true))
    }
    outgoing.hasEffects ||= error.mayHaveExecuted
    void pause(outgoing, outgoing.failures, error.retryAfterMs).then((isWanted) => {
      if (isWanted) start(outgoing)
    })
  }

  const respond = async (outgoing: Outgoing, envelope: unknown): Promise<void> => {
    const { requestId } = outgoing.event
    try {
      const result = resultOf(peer, envelope)
      const output = result instanceof Promise ? await result : result
      deliver(outgoing, { type: "call.responded", requestId, output })
    } catch (thrown) {
      fail(outgoing, thrown)
    }
  }

  const send: StreamHost["send"] = async (controller, request, read) => {
    requests.set(controller, undefined)
    try {
      await read(await exchange(peer, { ...request, signal: controller.signal }))
    } finally {
      clock.clearTimeout(requests.get(controller))
      requests.delete(controller)
    }
  }

  const endSoon = (controller: AbortController): void => {
    if (requests.get(controller) !== undefined) return
    const timer = clock.setTimeout(() => controller.abort(), END_TIMEOUT_MS)
    requests.set(controller, timer)
  }

  const sendCall = async (outgoing: Outgoing, path?: string): Promise<void> => {
    const { event, input, upload } = outgoing
    const { operationId, requestId } = event
    const isAsking = queries === "GET" && !path
    const controller = new AbortController()
    outgoing.cancel = () => controller.abort()
    try {
      const request = {
        method: path ? ("GET" as const) : undefined,
        path: path ?? pathOf(operationId),
        accept: "application/json",
        body: path ? undefined : upload === undefined ? input : await upload.body(),
        headers: {
          prefer: FILE_PREFERENCE + (isAsking ? ", operation-type" : ""),
          ...outgoing.headers(clock.now()),
        },
      }
      await send(controller, request, async (response) => {
        const { headers } = response
        if (isAsking) types.set(operationId, headers.get("operation-type") === "query")
        if (headers.get("preference-applied") === FILE_PREFERENCE) {
          const files = await loadFiles()
          controller.signal.throwIfAborted()
          downloads ??= new files.Downloads()
          const output = downloads.add(response, controller, operationId)
          if (output !== undefined) {
            return deliver(outgoing, { type: "call.responded", requestId, output })
          }
        }
        await respond(outgoing, parse(peer, await readText(peer, response)))
      })
    } catch (thrown) {
      controller.abort()
      const isRefused = path && isCallError(thrown, "INVALID_OPERATION_TYPE")
      if (!isRefused || thrown.mayHaveExecuted || !isOpen(outgoing)) return fail(outgoing, thrown)
      // It is no query, and was not run.
      types.set(operationId, false)
      start(outgoing)
    }
  }

  /** Several calls in one request. Their results come in the order in which they are done. */
  const sendBatch = async (calls: readonly Outgoing[]): Promise<void> => {
    const controller = new AbortController()
    const waiting = new Set(calls)
    const isWanted = (): boolean => calls.some((one) => waiting.has(one) && isOpen(one))
    for (const one of calls) {
      // Aborting the request would stop the others, too.
      one.cancel = () => isWanted() || controller.abort()
    }
    const request = {
      path: "/batch",
      accept: "application/x-ndjson",
      body: `[${calls.map((one, key) => one.itemText(key, clock.now())).join(",")}]`,
      headers: {},
    }
    let thrown: unknown
    try {
      await send(controller, request, (response) =>
        readLines(peer, response, (line) => {
          const result = line === "" ? undefined : parse(peer, line)
          if (!isRecord(result)) return
          const { key, progress, ok, envelope, problem } = result
          const outgoing = typeof key === "number" ? calls[key] : undefined
          if (outgoing === undefined || !waiting.has(outgoing)) return
          if (isRecord(progress)) {
            const { requestId } = outgoing.event
            if (isOpen(outgoing)) receive({ ...progress, type: "call.progress", requestId })
            return
          }
          waiting.delete(outgoing)
          if (ok === true) void respond(outgoing, envelope)
          else fail(outgoing, problemError(problem))
          if (!isWanted()) endSoon(controller)
        }),
      )
    } catch (error) {
      thrown = error
    }
    // Calls that do not fit into one request may fit into several; none has run.
    const isSplit =
      calls.length > 1 && isCallError(thrown, "PAYLOAD_TOO_LARGE") && !thrown.mayHaveExecuted
    for (const one of waiting) {
      if (isSplit && isOpen(one)) void sendBatch([one])
      else fail(one, thrown)
    }
  }

  /** Sends the calls of this turn, in as few requests as fit. */
  const flush = (): void => {
    const calls = queue.filter(isOpen)
    queue = []
    for (let from = 0; from < calls.length;) {
      let length = 0
      let to = from
      do length += calls[to++]?.input?.length ?? 0
      while (
        to < calls.length &&
        to - from < maxBatch &&
        length + (calls[to]?.input?.length ?? 0) < MAX_BATCH_TEXT
      )
      const [first, ...others] = calls.slice(from, to) as [Outgoing, ...Outgoing[]]
      if (others.length > 0 || first.needsBatch) void sendBatch([first, ...others])
      else void sendCall(first)
      from = to
    }
  }

  /** Reads a stream with what only streams need, which pages load with the first of them. */
  const sendStream = (outgoing: Outgoing): unknown =>
    import("./streams.ts").then(
      ({ readStream }) => readStream(host, outgoing),
      (cause: unknown) => {
        const { event } = outgoing
        const error = refusal("UNAVAILABLE", reasonOf(cause), { cause })
        if (open.delete(event.requestId)) receiver?.undelivered(event, error)
      },
    )

  const start = (outgoing: Outgoing): void => {
    open.set(outgoing.event.requestId, outgoing)
    const { kind, operationId: id } = outgoing.event
    if (typeof queries === "function" && !types.has(id)) types.set(id, queries(id))
    const isAlone = queries && types.get(id) !== false && !outgoing.needsBatch
    const path =
      isAlone && types.get(id) && `${pathOf(id)}?input=${encodeURIComponent(outgoing.input ?? "")}`
    const isGet = path && (peer.url + path).length <= MAX_URL
    if (kind === "stream") void sendStream(outgoing)
    else if (outgoing.upload !== undefined) void sendCall(outgoing)
    else if (isAlone) void sendCall(outgoing, isGet ? path : undefined)
    else if (queue.push(outgoing) === 1) {
      if (maxBatch === 1) flush()
      else deferOn(clock, flush)
    }
  }

  const host: StreamHost = {
    ...{ peer, clock, retries, resumeMs, isOpen, receive, deliver, pause, send, endSoon },
  }
  return {
    surface: "http",
    open(opened) {
      receiver = opened
    },
    serve() {
      throw new TypeError("serveCalls(): a server cannot call back over HTTP. Use a WebSocket.")
    },
    send(event) {
      if (isClosed) throw refusal("UNAVAILABLE", "The transport is closed.")
      const { requestId } = event
      const outgoing = open.get(requestId)
      if (event.type === "call.requested") {
        unwatch ??= pageLifecycle()?.(suspend, () => undefined)
        start(new Outgoing(event, clock.now()))
      } else if (event.type === "call.credit") outgoing?.raise?.(event.credit)
      else if (event.type === "call.aborted") {
        open.delete(requestId)
        outgoing?.cancel?.()
      }
    },
    deliveryStatus(requestId) {
      const outgoing = open.get(requestId)
      if (outgoing === undefined || !queue.includes(outgoing)) return undefined
      return { mayHaveExecuted: outgoing.failures > 0, retryable: outgoing.failures === 0 }
    },
    async close() {
      if (isClosed) return
      isClosed = true
      unwatch?.()
      receiver?.lost(refusal("UNAVAILABLE", "The transport was closed."))
      const all = [...open.values()]
      open.clear()
      for (const { cancel } of all) cancel?.()
      abortRequests("the transport was closed")
    },
  }
}

function validateUrl(target: string | URL, base: string | undefined): URL {
  const url = URL.canParse(target, base) ? new URL(target, base) : undefined
  if (url === undefined || !/^https?:$/.test(url.protocol) || url.username + url.password !== "") {
    // The text is not quoted: it may contain a password.
    throw new TypeError(
      `createHTTPTransport(url): url must be one such as "https://example.com", without a user. Pass credentials in headers.`,
    )
  }
  url.hash = ""
  url.search = ""
  return url
}
