import { CallError, isCallError } from "../../core/errors.ts"
import { reasonOf } from "../../internal/describe.ts"

export interface UrlLoaderOptions {
  readonly fetch: typeof globalThis.fetch
  /** Asked about each address, those that a redirect leads to included. */
  readonly allow: (url: string) => boolean
  readonly signal?: AbortSignal | undefined
  /** Of one file; 64 MiB. */
  readonly maxBytes?: number | undefined
  readonly headers?: Readonly<Record<string, string>> | undefined
  /** Told where a file was found in the end. */
  readonly onLoaded?: ((asked: string, found: string) => void) | undefined
  /** The origin that `headers` are for; that of each address that is asked for when left out. */
  readonly origin?: string | undefined
}

const MAX_BYTES = 64 * 1024 * 1024
const MAX_REDIRECTS = 5
const ACCEPT =
  "application/openapi+json, application/openapi+yaml, application/json, application/yaml, text/yaml;q=0.9, */*;q=0.5"

/** Makes a loader for documents on the web, which goes only where `allow` lets it. */
export function createUrlLoader(options: UrlLoaderOptions): (url: string) => Promise<string> {
  return async (url) => {
    try {
      return await readText(await request(url, options), url, options.maxBytes ?? MAX_BYTES)
    } catch (thrown) {
      if (isCallError(thrown)) throw thrown
      const { signal } = options
      if (signal?.aborted === true) {
        if (isCallError(signal.reason)) throw signal.reason
        throw new CallError("ABORTED", `Loading ${shown(url)} was aborted.`, { cause: thrown })
      }
      throw new CallError(
        "UNAVAILABLE",
        `${shown(url)} cannot be loaded: ${reasonOf(causeOf(thrown))}.`,
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
          ? `${shown(url)} may not be loaded.`
          : `${shown(start)} redirects to ${shown(url)}, which may not be loaded.`,
      )
    }
    const response = await options.fetch(url, {
      redirect: "manual",
      // What the caller adds may be a credential: it is for the address that was given.
      headers: isSameOrigin(url, options.origin ?? start)
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
        `${shown(url)} answered ${`${response.status} ${response.statusText}`.trim()}.`,
      )
    }
    url = new URL(location, url).href
  }
  throw new CallError("UNAVAILABLE", `${shown(start)} redirects more than ${MAX_REDIRECTS} times.`)
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
        `${shown(url)} has more than the ${maxBytes} bytes that are read.`,
      )
    }
    text += decoder.decode(chunk, { stream: true })
  }
  return text + decoder.decode()
}

function isSameOrigin(one: string, other: string): boolean {
  return new URL(one).origin === new URL(other).origin
}

/** An address as it may stand in a message: a query may hold a key. */
function shown(url: string): string {
  try {
    const { origin, pathname } = new URL(url)
    return `${origin}${pathname}`
  } catch {
    return "The address"
  }
}

// `fetch failed` says nothing; its cause does.
function causeOf(thrown: unknown): unknown {
  return thrown instanceof Error && thrown.cause instanceof Error ? thrown.cause : thrown
}
