// Requests of the call protocol over HTTP: which calls share a request, and what is repeated or resumed.

import { errorEvent } from "../../core/error-event.ts"
import { isResponseEnvelope, localEnvelope } from "../../core/envelope.ts"
import type { ResponseEnvelope } from "../../core/envelope.ts"
import { isCallError, refusal } from "../../core/errors.ts"
import type { CallError } from "../../core/errors.ts"
import type { CallEvent } from "../../core/events.ts"
import { backOff, withJitter } from "../../internal/back-off.ts"
import { deferOn, systemClock } from "../../internal/clock.ts"
import { isRecord } from "../../internal/guards.ts"
import { FILE_PREFERENCE, HEADERS } from "../../internal/headers.ts"
import { validateOptions } from "../../internal/options.ts"
import type { OptionsSchema } from "../../internal/options.ts"
import type { Clock } from "../../internal/platform.ts"
import { isUnencrypted } from "../../internal/unencrypted.ts"
import type { Transport, TransportReceiver } from "../../protocol/transport.ts"
import { pageLifecycle } from "../page-lifecycle.ts"
import { connectionError, exchange, problemError, readLines, readText } from "./exchange.ts"
import type { HTTPPeer, HTTPRequest, RequestHeaders } from "./exchange.ts"
import { readStream } from "./event-stream.ts"
import type { StreamEvent } from "./event-stream.ts"
import type { Downloads } from "./files.ts"
import { loadFiles } from "./lazy-files.ts"
import { Outgoing } from "./outgoing.ts"
import type { FileLike } from "../../schema/files.ts"

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
  /** How often a call is repeated whose error is `retryable`: 0. */
  readonly retries?: number | undefined
  /**
   * How often in a row a stream that was cut off is resumed without an item: 5. Only for operations whose handler
   * reads `context.metadata.lastEventId`; others fail, so that no item comes twice.
   */
  readonly resumes?: number | undefined
  /** Longest answer of a call and longest item of a stream, in bytes: 64 Mi. */
  readonly maxResponseBytes?: number | undefined
  /** Allows sending headers to another machine over `http:`, where others can read them. */
  readonly insecure?: boolean | undefined
  readonly clock?: Clock | undefined
}

export const HTTP_TRANSPORT_OPTIONS: OptionsSchema<HTTPTransportOptions> = {
  headers: { either: ["function", HEADERS] },
  fetch: "function",
  batch: { either: ["boolean", { members: { max: { required: "count" } } }] },
  retries: { min: 0, max: 100, whole: true },
  resumes: { min: 0, max: 1000, whole: true },
  maxResponseBytes: "count",
  insecure: "boolean",
  clock: "clock",
}

/** Calls that together are longer than this are sent apart: a server limits the length of a body. */
const MAX_BATCH_TEXT = 256 * 1024
const FIRST_DELAY = 200
const LONGEST_DELAY = 10_000
const PAGE_LEFT = "the page was left"
/** Milliseconds for a server to end an answer that has everything. */
const END_TIMEOUT_MS = 1000

/**
 * Creates a transport to a registry that is served over HTTP, for `createClient`.
 *
 * It needs nothing but `fetch`: calls are POST requests, streams are server-sent events. The server cannot call back.
 */
export function createHTTPTransport(
  url: string | URL,
  options: HTTPTransportOptions = {},
): Transport {
  validateOptions("createHTTPTransport", options, HTTP_TRANSPORT_OPTIONS)
  const { headers, maxResponseBytes = 64 * 1024 * 1024, insecure } = options
  const { location } = globalThis as { readonly location?: { href: string; host: string } }
  const base = validateUrl(url, location?.href)
  if (headers !== undefined && !insecure && isUnencrypted(base) && base.host !== location?.host) {
    throw refusal(
      "EGRESS_BLOCKED",
      `createHTTPTransport(url): ${base.host} has no TLS, so that others could read the headers. Use https, or set insecure: true.`,
    )
  }
  // Looked up per call: a browser's must not be called as a method, and tests replace the platform's.
  const fetch: typeof globalThis.fetch =
    options.fetch ?? ((input, init) => globalThis.fetch(input, init))
  const peer = { url: base.href.replace(/\/+$/, ""), fetch, headers, maxResponseBytes }
  return new HTTPTransport(peer, options)
}

class HTTPTransport implements Transport {
  readonly surface = "http"
  readonly #peer: HTTPPeer
  readonly #clock: Clock
  readonly #maxBatch: number
  readonly #retries: number
  readonly #resumes: number
  readonly #open = new Map<string, Outgoing>()
  /** Requests whose answers are read, with the timers of those that should be over. */
  readonly #requests = new Map<AbortController, unknown>()
  #downloads: Downloads | undefined
  #receiver: TransportReceiver | undefined
  #queue: Outgoing[] = []
  #isClosed = false
  #unwatch: (() => void) | undefined

  constructor(
    peer: HTTPPeer,
    { batch = true, retries = 0, resumes = 5, clock }: HTTPTransportOptions,
  ) {
    this.#peer = peer
    this.#clock = clock ?? systemClock
    this.#maxBatch = typeof batch === "object" ? batch.max : batch ? 100 : 1
    this.#retries = retries
    this.#resumes = resumes
  }

  open(receiver: TransportReceiver): void {
    this.#receiver = receiver
  }

  serve(): never {
    throw new TypeError("serveCalls(): a server cannot call back over HTTP. Use a WebSocket.")
  }

  send(event: CallEvent): void {
    if (this.#isClosed) throw refusal("UNAVAILABLE", "The transport is closed.")
    if (event.type === "call.requested") {
      this.#unwatch ??= pageLifecycle()?.(this.#suspend, () => undefined)
      this.#start(new Outgoing(event, this.#clock.now()))
    } else if (event.type === "call.credit")
      this.#open.get(event.requestId)?.credit.raise(event.credit)
    else if (event.type === "call.aborted") {
      const outgoing = this.#open.get(event.requestId)
      this.#open.delete(event.requestId)
      outgoing?.cancel?.()
    }
  }

  deliveryStatus(requestId: string): { mayHaveExecuted: boolean; retryable: boolean } | undefined {
    const outgoing = this.#open.get(requestId)
    if (outgoing === undefined || !this.#queue.includes(outgoing)) return undefined
    return { mayHaveExecuted: outgoing.failures > 0, retryable: outgoing.failures === 0 }
  }

  async close(): Promise<void> {
    if (this.#isClosed) return
    this.#isClosed = true
    this.#unwatch?.()
    this.#receiver?.lost(refusal("UNAVAILABLE", "The transport was closed."))
    const all = [...this.#open.values()]
    this.#open.clear()
    for (const { cancel } of all) cancel?.()
    this.#abortRequests("the transport was closed")
  }

  /** The page was left or frozen: a browser may keep its requests open, and the server would go on working for it. */
  readonly #suspend = (): void => {
    for (const outgoing of [...this.#open.values()]) {
      this.#reject(outgoing, unanswered(this.#peer, PAGE_LEFT))
      outgoing.cancel?.()
    }
    this.#abortRequests(PAGE_LEFT)
  }

  #abortRequests(why: string): void {
    for (const request of this.#requests.keys()) request.abort()
    this.#downloads?.abort(unanswered(this.#peer, why))
  }

  #start(outgoing: Outgoing): void {
    this.#open.set(outgoing.event.requestId, outgoing)
    if (outgoing.event.kind === "stream") void this.#stream(outgoing)
    else if (outgoing.upload !== undefined) void this.#call(outgoing)
    else if (this.#queue.push(outgoing) === 1) {
      if (this.#maxBatch === 1) this.#flush()
      else deferOn(this.#clock, () => this.#flush())
    }
  }

  /** Sends the calls of this turn, in as few requests as fit. */
  #flush(): void {
    const queue = this.#queue.filter((one) => this.#isOpen(one))
    this.#queue = []
    for (let from = 0; from < queue.length;) {
      let length = 0
      let to = from
      do length += queue[to++]?.input?.length ?? 0
      while (
        to < queue.length &&
        to - from < this.#maxBatch &&
        length + (queue[to]?.input?.length ?? 0) < MAX_BATCH_TEXT
      )
      const calls = queue.slice(from, to)
      const [first] = calls
      if (calls.length === 1 && first !== undefined && !first.needsBatch) void this.#call(first)
      else void this.#batch(calls)
      from = to
    }
  }

  #isOpen(outgoing: Outgoing): boolean {
    return this.#open.get(outgoing.event.requestId) === outgoing
  }

  async #call(outgoing: Outgoing): Promise<void> {
    const { event, input, upload } = outgoing
    const { operationId, requestId } = event
    const controller = new AbortController()
    outgoing.cancel = () => controller.abort()
    try {
      const request = {
        path: pathOf(operationId),
        accept: "application/json",
        body: upload === undefined ? input : await upload.body(),
        headers: { prefer: FILE_PREFERENCE, ...outgoing.headers(this.#clock.now()) },
      }
      await this.#exchange(controller, request, async (response) => {
        const isFile = response.headers.get("preference-applied") === FILE_PREFERENCE
        const file = isFile ? await this.#download(response, controller) : undefined
        if (file === undefined) {
          await this.#respond(outgoing, parse(this.#peer, await readText(this.#peer, response)))
          return
        }
        const output = localEnvelope(file, operationId)
        this.#deliver(outgoing, { type: "call.responded", requestId, output })
      })
    } catch (thrown) {
      controller.abort()
      this.#fail(outgoing, thrown)
    }
  }

  async #download(response: Response, request: AbortController): Promise<FileLike | undefined> {
    const { Downloads } = await loadFiles()
    request.signal.throwIfAborted()
    return (this.#downloads ??= new Downloads()).add(response, request)
  }

  /** Sends a request, and reads its answer. */
  async #exchange(
    controller: AbortController,
    request: Omit<HTTPRequest, "signal">,
    read: (response: Response) => Promise<void>,
  ): Promise<void> {
    this.#requests.set(controller, undefined)
    try {
      await read(await exchange(this.#peer, { ...request, signal: controller.signal }))
    } finally {
      this.#clock.clearTimeout(this.#requests.get(controller))
      this.#requests.delete(controller)
    }
  }

  /** Everything was answered: ends the request unless the server does. Its connection is used again if it does. */
  #endSoon(controller: AbortController): void {
    if (this.#requests.get(controller) !== undefined) return
    const timer = this.#clock.setTimeout(() => controller.abort(), END_TIMEOUT_MS)
    this.#requests.set(controller, timer)
  }

  /** Several calls in one request. Their results come in the order in which they are done. */
  async #batch(calls: readonly Outgoing[]): Promise<void> {
    const controller = new AbortController()
    const waiting = new Set(calls)
    const isWanted = (): boolean => calls.some((one) => waiting.has(one) && this.#isOpen(one))
    for (const one of calls) {
      // Aborting the request would stop the others, too.
      one.cancel = () => isWanted() || controller.abort()
    }
    const request = {
      path: "/batch",
      accept: "application/x-ndjson",
      body: `[${calls.map((one, key) => one.itemText(key, this.#clock.now())).join(",")}]`,
      headers: {},
    }
    let thrown: unknown
    try {
      await this.#exchange(controller, request, (response) =>
        readLines(this.#peer, response, (line) => {
          const result = line === "" ? undefined : parse(this.#peer, line)
          if (!isRecord(result)) return
          const { key, progress, ok, envelope, problem } = result
          const outgoing = typeof key === "number" ? calls[key] : undefined
          if (outgoing === undefined || !waiting.has(outgoing)) return
          if (isRecord(progress)) return this.#report(outgoing, progress)
          waiting.delete(outgoing)
          if (ok === true) void this.#respond(outgoing, envelope)
          else this.#fail(outgoing, problemError(problem))
          if (!isWanted()) this.#endSoon(controller)
        }),
      )
    } catch (error) {
      thrown = error
    }
    for (const one of waiting) this.#fail(one, thrown)
  }

  /** Reads a stream, and resumes it after its last item when it was cut off. */
  async #stream(outgoing: Outgoing): Promise<void> {
    const { event, input, credit } = outgoing
    const { requestId } = event
    let seq = 0
    let lastId = ""
    let failures = 0
    let lost: CallError | undefined
    while (this.#isOpen(outgoing)) {
      const controller = new AbortController()
      outgoing.cancel = () => {
        controller.abort()
        credit.raise(Number.POSITIVE_INFINITY)
      }
      const headers: Record<string, string> = outgoing.headers(this.#clock.now())
      if (lastId !== "") Object.assign(headers, { "last-event-id": lastId, "x-resume": "only" })
      const request = {
        path: pathOf(event.operationId),
        accept: "text/event-stream",
        body: input,
        headers,
      }
      const take = ({ name, data, id }: StreamEvent): Promise<void> | undefined => {
        if (!this.#isOpen(outgoing)) return undefined
        const value = parse(this.#peer, data)
        if (name === "error") throw problemError(value) ?? unanswered(this.#peer)
        if (name === "end") {
          this.#deliver(outgoing, { type: "call.completed", requestId, seq })
          this.#endSoon(controller)
          return undefined
        }
        const deliver = (output: ResponseEnvelope): Promise<void> | undefined => {
          failures = 0
          lost = undefined
          lastId = id
          this.#receive({ type: "call.responded", requestId, output, seq: ++seq })
          return credit.wait(seq)
        }
        const result = resultOf(this.#peer, value)
        return result instanceof Promise ? result.then(deliver) : deliver(result)
      }
      try {
        await this.#exchange(controller, request, (response) =>
          readStream(this.#peer, response, take),
        )
        return
      } catch (thrown) {
        if (!this.#isOpen(outgoing)) return
        controller.abort()
        const error = asCallError(this.#peer, thrown)
        // A server that cannot resume the stream says less than what went wrong before.
        if (lost !== undefined && error.code === "DATA_LOSS") return this.#reject(outgoing, lost)
        const hasBegun = seq > 0
        const canRepeat = hasBegun ? error.code === "UNAVAILABLE" && lastId !== "" : error.retryable
        if (!canRepeat || ++failures > (hasBegun ? this.#resumes : this.#retries)) {
          return this.#reject(outgoing, error)
        }
        lost = error
        if (!(await this.#pause(outgoing, failures, error.retryAfterMs))) return
      }
    }
  }

  #report(outgoing: Outgoing, progress: Readonly<Record<string, unknown>>): void {
    if (!this.#isOpen(outgoing)) return
    const { requestId } = outgoing.event
    this.#receiver?.event({ ...progress, type: "call.progress", requestId })
  }

  async #respond(outgoing: Outgoing, envelope: unknown): Promise<void> {
    const { requestId } = outgoing.event
    try {
      const result = resultOf(this.#peer, envelope)
      const output = result instanceof Promise ? await result : result
      this.#deliver(outgoing, { type: "call.responded", requestId, output })
    } catch (thrown) {
      this.#fail(outgoing, thrown)
    }
  }

  /** Repeats a call whose error says that it may be repeated; reports the error otherwise. Without one, nobody answered. */
  #fail(outgoing: Outgoing, thrown: unknown): void {
    if (!this.#isOpen(outgoing)) return
    const error = thrown === undefined ? unanswered(this.#peer) : asCallError(this.#peer, thrown)
    outgoing.failures++
    const canRepeat = error.retryable && outgoing.upload?.isRepeatable !== false
    if (!canRepeat || outgoing.failures > this.#retries) return this.#reject(outgoing, error)
    void this.#pause(outgoing, outgoing.failures, error.retryAfterMs).then((isOpen) => {
      if (isOpen) this.#start(outgoing)
    })
  }

  /** Reports an error. */
  #reject(outgoing: Outgoing, error: CallError): void {
    this.#deliver(outgoing, errorEvent(outgoing.event.requestId, error))
  }

  /** Waits before another attempt; `false` if the request was given up meanwhile. */
  #pause(outgoing: Outgoing, failures: number, asked = 0): Promise<boolean> {
    const delay = Math.max(asked, withJitter(backOff(failures, FIRST_DELAY, LONGEST_DELAY)))
    return new Promise((resolve) => {
      const timer = this.#clock.setTimeout(() => resolve(this.#isOpen(outgoing)), delay)
      outgoing.cancel = () => {
        this.#clock.clearTimeout(timer)
        resolve(false)
      }
    })
  }

  /** The last event of a request. */
  #deliver(outgoing: Outgoing, event: CallEvent): void {
    if (!this.#isOpen(outgoing)) return
    this.#open.delete(outgoing.event.requestId)
    this.#receive(event)
  }

  #receive(event: CallEvent): void {
    this.#receiver?.event(event)
  }
}

function pathOf(operationId: string): string {
  return `/operations/${encodeURIComponent(operationId)}`
}

function parse({ url }: HTTPPeer, text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    throw refusal("DATA_LOSS", `What ${url} answered is not JSON: is it a served registry?`)
  }
}

/** The result in an answer. One with bytes may have to wait until what decodes them is loaded. */
function resultOf(peer: HTTPPeer, value: unknown): ResponseEnvelope | Promise<ResponseEnvelope> {
  if (isRecord(value) && "binary" in value) {
    return loadFiles().then(({ decodeEnvelope }) => {
      try {
        return decodeEnvelope(value)
      } catch (cause) {
        throw notResult(peer, cause)
      }
    })
  }
  if (!isResponseEnvelope(value)) throw notResult(peer)
  return { data: value.data, meta: value.meta }
}

function notResult({ url }: HTTPPeer, cause?: unknown): CallError {
  return refusal("DATA_LOSS", `What ${url} answered is not a result: is it a served registry?`, {
    cause,
  })
}

function asCallError(peer: HTTPPeer, thrown: unknown): CallError {
  return isCallError(thrown) ? thrown : connectionError(peer, thrown)
}

function unanswered({ url }: HTTPPeer, why = "there was no result"): CallError {
  return refusal("UNAVAILABLE", `The connection was lost (${url}): ${why}.`, {
    mayHaveExecuted: true,
    retryable: false,
  })
}

function validateUrl(target: string | URL, base: string | undefined): URL {
  const url = URL.canParse(target, base) ? new URL(target, base) : undefined
  if (url === undefined || !/^https?:$/.test(url.protocol) || url.username + url.password !== "") {
    // The text is not quoted: it may contain a password.
    throw new TypeError(
      `createHTTPTransport(url): url must be one such as "https://example.com", without a user. Credentials belong into headers.`,
    )
  }
  url.hash = ""
  url.search = ""
  return url
}
