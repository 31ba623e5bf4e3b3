import { addSignalListener, removeSignalListener } from "../internal/signals.ts"
import { abortError, type RequestContext } from "./request-errors.ts"
import { CallError } from "../core/errors.ts"
import { toBase64 } from "../internal/base64.ts"
import { excerpt } from "./decode.ts"
import { parseUrl } from "./egress.ts"
import { exchange, type HttpResponse } from "./exchange.ts"
import { parseMediaType } from "./media-type.ts"
import { readBody } from "./read-body.ts"
import { retryAfterOf } from "./retry-after.ts"
import { systemClock } from "../internal/clock.ts"
import { isObject } from "../internal/guards.ts"

/** How tokens are requested: OAuth 2 client credentials (RFC 6749, 4.4). */
export interface TokenSourceOptions {
  readonly tokenUrl: string
  readonly clientId: string
  readonly clientSecret: string
  readonly scopes?: readonly string[] | undefined
  readonly fetch: typeof globalThis.fetch
  /** Where the client sends its secret: in a header (default) or in the form. */
  readonly authMethod?: "basic" | "body" | undefined
  /** Timeout of a token request in milliseconds, whoever waits for it; 30 s. */
  readonly timeout?: number | undefined
  /** A monotonic clock in milliseconds; default: the platform's. */
  readonly now?: (() => number) | undefined
}

/** Fetches an access token and caches it while it is valid. */
export interface TokenSource {
  /** The token; concurrent callers share one request. */
  token(signal: AbortSignal): Promise<string>
  /** Drops a token that was refused, unless it has been renewed in the meantime. */
  forget(token: string): void
}

interface Token {
  readonly value: string
  readonly validUntil: number
}

const MAX_ANSWER = 64 * 1024
const TIMEOUT = 30_000
// A token must still be valid when the request that carries it arrives.
const MARGIN = 30_000
// For servers that send no lifetime: short enough to notice a change, long enough to be useful.
const DEFAULT_LIFETIME = 300_000
const SUBJECT = "The request for an access token"

/** Creates a source of access tokens for one client. It fetches the first token when it is needed. */
export function createTokenSource(options: TokenSourceOptions): TokenSource {
  const { now = () => systemClock.now() } = options
  const url = parseTokenUrl(options.tokenUrl)
  const fetching = createSharedTask((controller) => fetchToken(url, controller, options))
  let cached: Token | undefined

  return {
    async token(signal) {
      if (cached !== undefined && now() < cached.validUntil) return cached.value
      const context = { signal, mayHaveEffect: false, subject: SUBJECT, origin: url.origin }
      const token = await fetching.join(context)
      cached = token
      return token.value
    },
    forget(token) {
      if (cached?.value === token) cached = undefined
    },
  }
}

async function fetchToken(
  url: URL,
  controller: AbortController,
  options: TokenSourceOptions,
): Promise<Token> {
  const { timeout = TIMEOUT } = options
  const late = (): void => controller.abort(new DOMException("The time is up.", "TimeoutError"))
  const timer = setTimeout(late, timeout)
  try {
    return await request(url, controller.signal, options)
  } finally {
    clearTimeout(timer)
  }
}

async function request(url: URL, signal: AbortSignal, options: TokenSourceOptions): Promise<Token> {
  const { fetch, clientSecret, now = () => systemClock.now() } = options
  const requestedAt = now()
  const { headers, form } = credentials(options)
  const basic = headers["authorization"]?.slice("Basic ".length)
  const secrets = basic === undefined ? [clientSecret] : [clientSecret, basic]
  const context = { signal, secrets, mayHaveEffect: false, subject: SUBJECT }
  const response = await exchange(
    { method: "POST", url: url.href, headers, body: form.toString() },
    { ...context, fetch, operationId: undefined, redirect: "return" },
  )
  const { data } = await readBody(response, { ...context, method: "POST", maxBytes: MAX_ANSWER })
  const answer = fieldsOf(data, response.contentType)
  if (response.status < 200 || response.status > 299) throw refusedError(url, response, answer)
  return tokenOf(url, answer, requestedAt)
}

function credentials(options: TokenSourceOptions): {
  headers: Record<string, string>
  form: URLSearchParams
} {
  const { clientId: id, clientSecret: secret, scopes = [], authMethod = "basic" } = options
  const form = new URLSearchParams({ grant_type: "client_credentials" })
  if (scopes.length > 0) form.set("scope", scopes.join(" "))
  const headers: Record<string, string> = {
    accept: "application/json",
    "content-type": "application/x-www-form-urlencoded",
  }
  if (authMethod === "body") {
    form.set("client_id", id)
    form.set("client_secret", secret)
  } else {
    // RFC 6749, 2.3.1: both are form-encoded first, so that a colon in an id is not a separator.
    const pair = `${formEncoded(id)}:${formEncoded(secret)}`
    headers["authorization"] = `Basic ${toBase64(new TextEncoder().encode(pair))}`
  }
  return { headers, form }
}

function tokenOf(url: URL, answer: Fields, requestedAt: number): Token {
  const value = answer.get("access_token")
  // The token goes into a header: other characters would allow header injection by the server.
  if (typeof value !== "string" || !/^[\x21-\x7e]+$/.test(value)) {
    throw new CallError(
      "UNAUTHENTICATED",
      `The token endpoint at ${url.origin} answered without a usable "access_token". ` +
        `Check "tokenUrl".`,
    )
  }
  const seconds = Number(answer.get("expires_in") ?? Number.NaN)
  const life = Number.isFinite(seconds) ? seconds * 1000 : DEFAULT_LIFETIME
  return { value, validUntil: requestedAt + life - Math.min(MARGIN, life / 10) }
}

function refusedError(url: URL, { status, headers }: HttpResponse, answer: Fields): CallError {
  const reason = [answer.get("error"), answer.get("error_description")]
    .filter((word) => typeof word === "string" && word !== "")
    .join(": ")
  const why = reason === "" ? "." : ` (${excerpt(reason, 200)}).`
  const isBusy = status === 429 || status >= 500
  const retryAfterMs = retryAfterOf(headers["retry-after"])
  return new CallError(
    isBusy ? "UNAVAILABLE" : "UNAUTHENTICATED",
    `The token endpoint at ${url.origin} answered ${status}${why}` +
      (isBusy ? "" : ` Check "tokenUrl", the client's id, its secret and the scopes.`),
    {
      details: { statusCode: status },
      mayHaveExecuted: false,
      ...(isBusy && retryAfterMs !== undefined && { retryAfterMs }),
    },
  )
}

type Fields = ReadonlyMap<string, unknown>

function fieldsOf(data: unknown, contentType: string): Fields {
  if (typeof data === "string") {
    const isForm = parseMediaType(contentType)?.essence === "application/x-www-form-urlencoded"
    return new Map(isForm ? new URLSearchParams(data) : [])
  }
  return new Map(isObject(data) && !(data instanceof Uint8Array) ? Object.entries(data) : [])
}

function formEncoded(text: string): string {
  return new URLSearchParams({ "": text }).toString().slice(1)
}

function parseTokenUrl(tokenUrl: string): URL {
  const url = parseUrl(tokenUrl)
  const isHttp = url?.protocol === "https:" || url?.protocol === "http:"
  if (url === undefined || !isHttp || url.username !== "" || url.password !== "") {
    throw new CallError(
      "VALIDATION_ERROR",
      `"tokenUrl" must be an absolute http or https address without a user name and password.`,
    )
  }
  return url
}

/** Work that is done once for many concurrent callers. */
interface SharedTask<TResult> {
  /** Waits for the work, and starts it unless it is running. Aborting only stops this caller's wait. */
  join(context: RequestContext): Promise<TResult>
}

/** Creates a shared task; its controller is aborted when the last caller stops waiting. */
function createSharedTask<TResult>(
  work: (controller: AbortController) => Promise<TResult>,
): SharedTask<TResult> {
  let running: Running<TResult> | undefined

  function start(): Running<TResult> {
    const controller = new AbortController()
    const task: Running<TResult> = { controller, result: work(controller), waiting: 0 }
    running = task
    const clear = (): void => {
      if (running === task) running = undefined
    }
    task.result.then(clear, clear)
    return task
  }

  return {
    async join(context) {
      const { signal } = context
      if (signal.aborted) throw abortError(context, false)
      const task = running ?? start()
      let listener: { handleEvent(): void } | undefined
      task.waiting++
      try {
        return await new Promise<TResult>((resolve, reject) => {
          listener = { handleEvent: () => reject(abortError(context, false)) }
          addSignalListener(signal, listener)
          task.result.then(resolve, reject)
        })
      } finally {
        if (listener !== undefined) removeSignalListener(signal, listener)
        // The next caller starts new work instead of joining work that is being aborted.
        if (--task.waiting === 0 && running === task) {
          running = undefined
          task.controller.abort()
        }
      }
    },
  }
}

interface Running<TResult> {
  readonly controller: AbortController
  readonly result: Promise<TResult>
  waiting: number
}
