// One request to a served registry and what came of it: lines of text, or a `CallError`.
import { isResponseEnvelope, type ResponseEnvelope } from "../../core/envelope.ts"
import { isCallError, refusal, type CallError } from "../../core/errors.ts"
import { retryAfterOf } from "../../http-client/retry-after.ts"
import { reasonOf } from "../../internal/message-text.ts"
import { isRecord } from "../../internal/guards.ts"
import type { HeadersLike } from "../../internal/headers.ts"
import { NotReady } from "../../core/not-ready.ts"
import type * as FilesModule from "./files.ts"

/** Headers of every request: fixed, or asked for before each one. */
export type RequestHeaders = HeadersLike | (() => HeadersLike | Promise<HeadersLike>)

/** The served registry. */
export interface HTTPPeer {
  /** Without a slash at its end. */
  readonly url: string
  readonly fetch: typeof globalThis.fetch
  readonly headers: RequestHeaders | undefined
  /** Longest answer of a call, and longest item of a stream. */
  readonly maxResponseBytes: number
  readonly parse: (json: string) => unknown
}

/** A request to it. */
export interface HTTPRequest {
  /** Default: POST. */
  readonly method?: "GET" | undefined
  readonly path: string
  readonly accept: string
  readonly body: string | Blob | ReadableStream<Uint8Array> | undefined
  readonly headers: Readonly<Record<string, string>>
  readonly signal: AbortSignal
}

/** Errors of a connection that was never made; other failures may come after the request arrived. */
const NOT_CONNECTED =
  /^(?:ECONNREFUSED|ENOTFOUND|EAI_\w+|EHOSTUNREACH|ENETUNREACH|UND_ERR_CONNECT_TIMEOUT)$/

/** Sends a request. Throws a `CallError` if there is no answer, or if the answer is a problem. */
export async function exchange(peer: HTTPPeer, request: HTTPRequest): Promise<Response> {
  const { fetch, url } = peer
  const { path, method = "POST", body = null, signal } = request
  const headers = await headersFor(peer, request)
  let response: Response
  try {
    // A redirect could lead credentials elsewhere.
    response = await fetch(url + path, {
      method,
      headers,
      body,
      signal,
      redirect: "manual",
      // Needed for a stream; the types of the platform do not know it.
      ...(typeof body === "object" && !(body instanceof Blob) && { duplex: "half" }),
    })
  } catch (cause) {
    throw connectionError(peer, cause)
  }
  if (response.ok) return response
  const [{ problemOf }, text] = await Promise.all([
    import("./problem-of.ts").catch(lostOf(peer)),
    // Without the text, the status says what is known.
    readText(peer, response).catch(() => ""),
  ])
  const retryAfterMs = retryAfterOf(response.headers.get("retry-after") ?? undefined)
  throw problemOf(url + path, { status: response.status, text, retryAfterMs })
}

/** The error of a connection that could not be made, or was lost. */
export function connectionError({ url }: HTTPPeer, cause: unknown): CallError {
  if (isCallError(cause)) return cause
  const { cause: inner } = cause as { readonly cause?: unknown }
  const code = isRecord(inner) || inner instanceof Error ? (inner as { code?: unknown }).code : ""
  const reason = reasonOf(inner ?? cause)
  const retryable = NOT_CONNECTED.test(String(code))
  // A port that the platform never connects to.
  const mayHaveExecuted = !retryable && reason !== "bad port"
  const what = mayHaveExecuted ? "The connection was lost" : "It cannot be reached"
  const terms = { cause, mayHaveExecuted, retryable }
  return refusal("UNAVAILABLE", `${what} (${url}): ${reason}`, terms)
}

/** Throws the error of a connection that was lost while its answer was read. */
function lostOf(peer: HTTPPeer): (cause: unknown) => never {
  return (cause) => {
    throw connectionError(peer, cause)
  }
}

/** Whether a call can be repeated: not if the other side has already done so. */
export function isRepeatable({ retryable, attempts = 1 }: CallError): boolean {
  return retryable && attempts <= 1
}

/** Reads the text of an answer, up to the limit. */
export async function readText(peer: HTTPPeer, response: Response): Promise<string> {
  const { headers, type } = response
  const length = Number(headers.get("content-length") ?? Number.NaN)
  // The length says nothing about what was compressed, which a page cannot see in answers of other origins.
  if (length <= peer.maxResponseBytes && !headers.has("content-encoding") && type !== "cors") {
    return await response.text().catch(lostOf(peer))
  }
  let text = ""
  await readPieces(peer, response, (piece) => {
    text += piece
    if (text.length > peer.maxResponseBytes) throw tooLong(peer)
  })
  return text
}

/**
 * Passes on each line of a response as it arrives, and waits until it is handled.
 *
 * Throws a `CallError` when the connection is lost, or a line is longer than the limit.
 */
export async function readLines(
  peer: HTTPPeer,
  response: Response,
  take: (line: string) => Promise<void> | void,
): Promise<void> {
  let rest = ""
  const add = (text: string): void => {
    rest += text
    if (rest.length > peer.maxResponseBytes) throw tooLong(peer)
  }
  await readPieces(peer, response, async (piece) => {
    let from = 0
    for (let to = piece.indexOf("\n"); to >= 0; to = piece.indexOf("\n", from)) {
      add(piece.slice(from, to))
      const line = rest
      rest = ""
      from = to + 1
      const taken = take(line)
      if (taken !== undefined) await taken
    }
    add(piece.slice(from))
  })
  await take(rest)
}

/** Passes on the text of a response in pieces, and cancels the rest if reading stops. */
async function readPieces(
  peer: HTTPPeer,
  response: Response,
  take: (piece: string) => Promise<void> | void,
): Promise<void> {
  const { body } = response as { readonly body?: Response["body"] }
  // React Native has no bodies to read piece by piece.
  if (!body) return await take(await response.text().catch(lostOf(peer)))
  const reader = body.getReader()
  const decoder = new TextDecoder()
  try {
    for (let isWhole = false; !isWhole;) {
      const { done, value } = await reader.read().catch(lostOf(peer))
      isWhole = done
      await take(decoder.decode(value, { stream: !done }))
    }
  } finally {
    // Without effect on a body that was read to its end, or failed.
    reader.cancel().catch(() => undefined)
  }
}

/** The error of an answer, or of an item of a stream, that is longer than the limit. */
export function tooLong({ maxResponseBytes }: HTTPPeer): CallError {
  const message = `The answer is longer than ${maxResponseBytes} bytes. Ask for less, or raise maxResponseBytes.`
  return refusal("PAYLOAD_TOO_LARGE", message, { mayHaveExecuted: true })
}

/** The path of an operation. */
export function pathOf(operationId: string): string {
  return `/operations/${encodeURIComponent(operationId)}`
}

/** The value of a text in JSON. */
export function parse({ url, parse: read }: HTTPPeer, text: string): unknown {
  try {
    return read(text)
  } catch {
    throw refusal("DATA_LOSS", `What ${url} answered is not JSON: is it a served registry?`)
  }
}

/** The result in a response. A result with bytes may wait until their decoder is loaded. */
export function resultOf(
  peer: HTTPPeer,
  value: unknown,
): ResponseEnvelope | Promise<ResponseEnvelope> {
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

/** The error of requests that have no result. */
export function unanswered({ url }: HTTPPeer, why = "there was no result"): CallError {
  return refusal("UNAVAILABLE", `The connection was lost (${url}): ${why}.`, {
    mayHaveExecuted: true,
    retryable: false,
  })
}

async function headersFor(
  { headers }: HTTPPeer,
  { accept, body, headers: own }: HTTPRequest,
): Promise<Headers> {
  let base: HeadersLike | undefined
  try {
    base = typeof headers === "function" ? await headers() : headers
    const all = new Headers(base)
    for (const [name, value] of Object.entries(own)) all.set(name, value)
    all.set("accept", accept)
    if (typeof body === "string") all.set("content-type", "application/json")
    return all
  } catch (cause) {
    // The message of the platform would repeat the value, which may be a credential.
    const why = typeof headers === "function" && base === undefined ? ": the function threw" : ""
    throw refusal("VALIDATION_ERROR", `The headers of the request are invalid${why}.`, { cause })
  }
}

type Files = typeof FilesModule

let files: Files | undefined

/** Loads what only requests and answers with bytes need. */
export async function loadFiles(): Promise<Files> {
  return (files ??= await import("./files.ts"))
}

/** The same if it is already loaded; throws `NotReady` otherwise. */
export function loadedFiles(): Files {
  if (files !== undefined) return files
  throw new NotReady("The module for files was not loaded.", async () => void (await loadFiles()))
}
