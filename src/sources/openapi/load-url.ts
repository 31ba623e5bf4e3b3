import { CallError, isCallError } from "../../core/errors.ts"
import { parseUrl, sameOrigin } from "../../http-client/egress.ts"
import { reasonOf } from "../../internal/message-text.ts"

export interface UrlLoaderOptions {
  readonly fetch: typeof globalThis.fetch
  /** Called for each address, including redirect targets. */
  readonly allow: (url: string) => boolean
  readonly signal?: AbortSignal | undefined
  /** Maximum size of a file; 64 MiB. */
  readonly maxBytes?: number | undefined
  readonly headers?: Readonly<Record<string, string>> | undefined
  /** Called with the final address of a file. */
  readonly onLoaded?: ((requested: string, location: string) => void) | undefined
  /** The origin that receives `headers`; default: that of each requested address. */
  readonly origin?: string | undefined
}

const MAX_BYTES = 64 * 1024 * 1024
const MAX_REDIRECTS = 5
const ACCEPT =
  "application/openapi+json, application/openapi+yaml, application/json, application/yaml, text/yaml;q=0.9, */*;q=0.5"

/** Creates a loader for documents on the web that requests only allowed addresses. */
export function createUrlLoader(options: UrlLoaderOptions): (url: string) => Promise<string> {
  return async (url) => {
    try {
      return await readText(await request(url, options), url, options.maxBytes ?? MAX_BYTES)
    } catch (thrown) {
      if (isCallError(thrown)) throw thrown
      const { signal } = options
      if (signal?.aborted === true) {
        if (isCallError(signal.reason)) throw signal.reason
        throw new CallError("ABORTED", `Loading ${withoutQuery(url)} was aborted.`, {
          cause: thrown,
        })
      }
      throw new CallError(
        "UNAVAILABLE",
        `${withoutQuery(url)} cannot be loaded: ${reasonOf(causeOf(thrown))}.`,
        { cause: thrown },
      )
    }
  }
}

async function request(start: string, options: UrlLoaderOptions): Promise<Response> {
  let url = start
  for (let redirects = 0; redirects <= MAX_REDIRECTS; redirects++) {
    if (!/^https?:/i.test(url) || !options.allow(url)) {
      throw new CallError(
        "EGRESS_BLOCKED",
        url === start
          ? `${withoutQuery(url)} may not be loaded.`
          : `${withoutQuery(start)} redirects to ${withoutQuery(url)}, which may not be loaded.`,
      )
    }
    const response = await options.fetch(url, {
      redirect: "manual",
      // The caller's headers may be credentials: send them to the given origin only.
      headers: sameOrigin(url, options.origin ?? start)
        ? { accept: ACCEPT, ...options.headers }
        : { accept: ACCEPT },
      signal: options.signal ?? null,
    })
    if (response.ok) {
      options.onLoaded?.(start, url)
      return response
    }
    await response.body?.cancel()
    const location = response.headers.get("location")
    if (response.status < 300 || response.status > 399 || location === null) {
      throw new CallError(
        "UNAVAILABLE",
        `${withoutQuery(url)} answered ${`${response.status} ${response.statusText}`.trim()}.`,
      )
    }
    url = new URL(location, url).href
  }
  throw new CallError(
    "UNAVAILABLE",
    `${withoutQuery(start)} redirects more than ${MAX_REDIRECTS} times.`,
  )
}

async function readText(response: Response, url: string, maxBytes: number): Promise<string> {
  if (response.body === null) return ""
  const decoder = new TextDecoder()
  let text = ""
  let bytes = 0
  // Leaving the loop early cancels the body.
  for await (const chunk of response.body) {
    bytes += chunk.byteLength
    if (bytes > maxBytes) {
      throw new CallError(
        "PAYLOAD_TOO_LARGE",
        `${withoutQuery(url)} is larger than the limit of ${maxBytes} bytes.`,
      )
    }
    text += decoder.decode(chunk, { stream: true })
  }
  return text + decoder.decode()
}

/** An address for messages, without its query, which may contain a key. */
function withoutQuery(url: string): string {
  const parsed = parseUrl(url)
  return parsed === undefined ? "The address" : `${parsed.origin}${parsed.pathname}`
}

// `fetch failed` is generic; its cause is specific.
function causeOf(thrown: unknown): unknown {
  return thrown instanceof Error && thrown.cause instanceof Error ? thrown.cause : thrown
}
