import { CallError } from "../core/errors.ts"
import { toBase64 } from "../internal/base64.ts"
import { excerpt } from "./decode.ts"
import { exchange } from "./exchange.ts"
import type { HttpResponse } from "./exchange.ts"
import { parseMediaType } from "./media-type.ts"
import { readBody } from "./read-body.ts"
import { retryAfterOf } from "./retry-after.ts"
import { createSharedTask } from "./shared-task.ts"
import { systemClock } from "../internal/clock.ts"

/** A value, or what gives it: asked for each token that is fetched. */
type Source = string | (() => string | Promise<string>)

/** How tokens are asked for: OAuth 2 client credentials (RFC 6749, 4.4). */
export interface TokenSourceOptions {
  readonly tokenUrl: string
  readonly clientId: Source
  readonly clientSecret: Source
  readonly scopes?: readonly string[] | undefined
  readonly fetch: typeof globalThis.fetch
  /** Where the client shows its secret: in a header (default) or in the form. */
  readonly authMethod?: "basic" | "body" | undefined
  /** Milliseconds that fetching a token may take, whoever waits for it; 30 s. */
  readonly timeout?: number | undefined
  /** Milliseconds that only grow; the platform's clock when left out. */
  readonly now?: (() => number) | undefined
}

/** A token that is kept while it is good. */
export interface TokenSource {
  /** The token; all who ask at the same time share one request. */
  token(signal: AbortSignal): Promise<string>
  /** Drops a token that was refused, unless it has been renewed meanwhile. */
  forget(token: string): void
}

interface Token {
  readonly value: string
  readonly goodUntil: number
}

const MAX_ANSWER = 64 * 1024
const TIMEOUT = 30_000
// A token must still be good when the request that carries it arrives.
const MARGIN = 30_000
// A server that does not say how long: short enough to follow a change, long enough to matter.
const UNSAID = 300_000
const SUBJECT = "The request for an access token"

/** Makes a source of access tokens for one client, which fetches one when it is first asked. */
export function createTokenSource(options: TokenSourceOptions): TokenSource {
  const { now = () => systemClock.now() } = options
  const url = checkedUrl(options.tokenUrl)
  const fetching = createSharedTask((controller) => fetchToken(url, controller, options))
  let kept: Token | undefined

  return {
    async token(signal) {
      if (kept !== undefined && now() < kept.goodUntil) return kept.value
      const context = { signal, mayHaveEffect: false, subject: SUBJECT, origin: url.origin }
      const token = await fetching.join(context)
      kept = token
      return token.value
    },
    forget(token) {
      if (kept?.value === token) kept = undefined
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
    const id = await read(options.clientId, "id", url)
    const secret = await read(options.clientSecret, "secret", url)
    return await request(url, id, secret, controller.signal, options)
  } finally {
    clearTimeout(timer)
  }
}

async function request(
  url: URL,
  id: string,
  secret: string,
  signal: AbortSignal,
  options: TokenSourceOptions,
): Promise<Token> {
  const { fetch, now = () => systemClock.now() } = options
  const asked = now()
  const { headers, form } = credentials(id, secret, options)
  const basic = headers["authorization"]?.slice("Basic ".length)
  const secrets = basic === undefined ? [secret] : [secret, basic]
  const context = { signal, secrets, mayHaveEffect: false, subject: SUBJECT }
  const response = await exchange(
    { method: "POST", url: url.href, headers, body: form.toString() },
    { ...context, fetch, operationId: undefined, redirect: "return" },
  )
  const { data } = await readBody(response, { ...context, method: "POST", maxBytes: MAX_ANSWER })
  const answer = fieldsOf(data, response.contentType)
  if (response.status < 200 || response.status > 299) throw refused(url, response, answer)
  return tokenOf(url, answer, asked)
}

function credentials(
  id: string,
  secret: string,
  { scopes = [], authMethod = "basic" }: TokenSourceOptions,
): { headers: Record<string, string>; form: URLSearchParams } {
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
    // RFC 6749, 2.3.1: both are form-encoded first, so that a colon in an id is no separator.
    const pair = `${formEncoded(id)}:${formEncoded(secret)}`
    headers["authorization"] = `Basic ${toBase64(new TextEncoder().encode(pair))}`
  }
  return { headers, form }
}

function tokenOf(url: URL, answer: ReadonlyMap<string, unknown>, asked: number): Token {
  const value = answer.get("access_token")
  // A token goes into a header; anything else in it would be the server's way to write another.
  if (typeof value !== "string" || !/^[\x21-\x7e]+$/.test(value)) {
    throw new CallError(
      "UNAUTHENTICATED",
      `The token endpoint at ${url.origin} answered without a usable "access_token". ` +
        `Check "tokenUrl".`,
    )
  }
  const seconds = Number(answer.get("expires_in") ?? Number.NaN)
  const life = Number.isFinite(seconds) ? seconds * 1000 : UNSAID
  return { value, goodUntil: asked + life - Math.min(MARGIN, life / 10) }
}

function refused(url: URL, { status, headers }: HttpResponse, answer: Fields): CallError {
  const said = [answer.get("error"), answer.get("error_description")]
    .filter((word) => typeof word === "string" && word !== "")
    .join(": ")
  const why = said === "" ? "." : ` (${excerpt(said, 200)}).`
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
  const isObject = typeof data === "object" && data !== null && !(data instanceof Uint8Array)
  return new Map(isObject ? Object.entries(data) : [])
}

async function read(source: Source, what: string, url: URL): Promise<string> {
  let value: unknown
  try {
    value = typeof source === "string" ? source : await source()
  } catch {
    // What it threw may quote the secret: it is not passed on.
  }
  if (typeof value === "string") return value
  throw new CallError(
    "UNAUTHENTICATED",
    `The client's ${what} for the token endpoint at ${url.origin} could not be read.`,
  )
}

function formEncoded(text: string): string {
  return new URLSearchParams({ "": text }).toString().slice(1)
}

function checkedUrl(tokenUrl: string): URL {
  const url = URL.canParse(tokenUrl) ? new URL(tokenUrl) : undefined
  const isHttp = url?.protocol === "https:" || url?.protocol === "http:"
  if (url === undefined || !isHttp || url.username !== "" || url.password !== "") {
    throw new CallError(
      "VALIDATION_ERROR",
      `"tokenUrl" must be an absolute http or https address without a name and password in it.`,
    )
  }
  return url
}
