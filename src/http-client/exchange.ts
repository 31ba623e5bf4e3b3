import { addSignalListener, removeSignalListener } from "../internal/signals.ts"
import { abortError, networkFailure, type RequestContext } from "./request-errors.ts"
import { fetchOptions, type PreparedRequest } from "./request.ts"
import { originOf } from "./egress.ts"
import { maskValue, safeHeaders } from "./secrets.ts"
import { assertSameOrigin, redirectedRequest, tooManyRedirectsError } from "./redirect.ts"

/** A form, encoded for sending. */
export interface EncodedBody {
  readonly contentType: string
  readonly body: string | Uint8Array | Blob | ReadableStream<Uint8Array>
}

/** How a request is sent. */
export interface ExchangeOptions extends RequestContext {
  readonly fetch: typeof globalThis.fetch
  /** Values that must not come back in headers, bodies or errors. */
  readonly secrets: readonly string[]
  /** Maximum number of redirects, all within one origin; 5. */
  readonly maxRedirects?: number | undefined
  /** `return` returns a redirect as an ordinary response. */
  readonly redirect?: "follow" | "return" | undefined
  /** Response headers to keep although they contain cookies or credentials. */
  readonly exposeHeaders?: readonly string[] | undefined
  /** Encodes a form; default: the platform does. */
  readonly encodeBody?: ((form: FormData) => EncodedBody | Promise<EncodedBody>) | undefined
}

/** A response whose body is still to be read. */
export interface HttpResponse {
  readonly status: number
  readonly statusText: string
  /** Lower-case names, without credentials. */
  readonly headers: Readonly<Record<string, string>>
  readonly contentType: string
  /** Where it came from, secrets masked. */
  readonly url: string
  readonly body: ReadableStream<Uint8Array> | null
}

const MAX_REDIRECTS = 5

/**
 * Sends a request and waits for the head of its response.
 *
 * Redirects stay within the origin of the request, so that credentials and the body go nowhere else.
 * The caller must read or cancel the body of the response.
 */
export async function exchange(
  request: PreparedRequest,
  options: ExchangeOptions,
): Promise<HttpResponse> {
  let current = await encodeForm(request, options)
  const { maxRedirects = MAX_REDIRECTS } = options
  for (let hops = 0; ; hops++) {
    const response = await send(current, options, hops > 0)
    assertSameOrigin(current, response, options)
    const next = options.redirect === "return" ? undefined : redirectOf(current, response, options)
    if (next === undefined) return toHttpResponse(response, current, options)
    discard(response)
    if (hops >= maxRedirects) throw tooManyRedirectsError(current, maxRedirects, options)
    current = next
  }
}

/** Cancels the unread body of a response, so that its connection is freed or closed. */
export function discard(response: { readonly body: ReadableStream<Uint8Array> | null }): void {
  // The body may have failed in the meantime, which does not matter now.
  response.body?.cancel().catch(() => undefined)
}

/**
 * Yields the chunks of a body, each when the consumer asks for it.
 *
 * Leaving the loop or aborting cancels the body, which closes the connection. This function listens to the
 * signal itself, since not every `fetch` does so once it has returned a response.
 */
export async function* readChunks(
  body: ReadableStream<Uint8Array>,
  context: RequestContext,
): AsyncGenerator<Uint8Array, void, void> {
  const { signal } = context
  const reader = body.getReader()
  const stop = (): void => {
    // Rejects for a body that already failed; there is nothing left to close then.
    reader.cancel(signal.reason).catch(() => undefined)
  }
  const listener = { handleEvent: stop }
  addSignalListener(signal, listener)
  try {
    for (;;) {
      // A pending read ends when the body is cancelled.
      if (signal.aborted) throw abortError(context)
      const { done, value } = await reader.read()
      if (signal.aborted) throw abortError(context)
      if (done) return
      yield value
    }
  } catch (thrown) {
    throw networkFailure(thrown, context)
  } finally {
    removeSignalListener(signal, listener)
    stop()
  }
}

function redirectOf(
  request: PreparedRequest,
  response: Response,
  options: ExchangeOptions,
): PreparedRequest | undefined {
  try {
    return redirectedRequest(request, response, options)
  } catch (error) {
    discard(response)
    throw error
  }
}

async function encodeForm(
  request: PreparedRequest,
  { encodeBody }: ExchangeOptions,
): Promise<PreparedRequest> {
  if (encodeBody === undefined || !(request.body instanceof FormData)) return request
  const { contentType, body } = await encodeBody(request.body)
  return { ...request, headers: { ...request.headers, "content-type": contentType }, body }
}

async function send(
  request: PreparedRequest,
  options: ExchangeOptions,
  wasSent: boolean,
): Promise<Response> {
  const { signal } = options
  const context: RequestContext = {
    ...options,
    origin: originOf(request.url),
    method: request.method,
  }
  if (signal.aborted) throw abortError(context, wasSent)
  let listener: { handleEvent(): void } | undefined
  try {
    // A custom `fetch` may ignore the signal; the caller must not wait for it.
    return await new Promise<Response>((resolve, reject) => {
      listener = { handleEvent: () => reject(abortError(context)) }
      addSignalListener(signal, listener)
      start(request, options).then((response) => {
        if (signal.aborted) discard(response)
        resolve(response)
      }, reject)
    })
  } catch (thrown) {
    throw networkFailure(thrown, context)
  } finally {
    if (listener !== undefined) removeSignalListener(signal, listener)
  }
}

// Async, so that an exception thrown by `fetch` itself becomes a rejection.
async function start(
  request: PreparedRequest,
  // Destructured: a browser's `fetch` must not be called as a method of another object.
  { fetch, signal }: ExchangeOptions,
): Promise<Response> {
  return await fetch(request.url, fetchOptions(request, signal))
}

function toHttpResponse(
  response: Response,
  { url }: PreparedRequest,
  { secrets, exposeHeaders }: ExchangeOptions,
): HttpResponse {
  return {
    status: response.status,
    statusText: maskValue(response.statusText, secrets),
    headers: safeHeaders(response.headers, secrets, exposeHeaders),
    contentType: response.headers.get("content-type") ?? "",
    url: maskValue(url, secrets),
    body: response.body,
  }
}
