// A `fetch` that connects to public addresses only. The check is part of the DNS lookup whose result the
// connection uses, so that a name cannot resolve to something else in between.
import { nodeBuiltin } from "../internal/node-builtin.ts"
import { isCallError } from "../core/errors.ts"
import { validateOptions, type OptionsSchema } from "../internal/options.ts"
import { isPrivateHost } from "../internal/private-host.ts"
import { assertPublic, checkedLookup, type LookupLike } from "./public-lookup.ts"
import { chunksOf, watchedBody } from "../internal/streams.ts"
import { REDIRECTS, becomesGet, fetchOptions } from "./request.ts"

/** How `createPublicFetch` resolves names. */
export interface PublicFetchOptions {
  /** Used instead of `dns.lookup`. Its results are checked, too. */
  readonly lookup?: LookupLike | undefined
}

/** The parts of Node's modules that an exchange needs. */
interface NodeHttp {
  request(url: URL, options: object): NodeRequest
  readonly Agent: new (options: object) => object
}

interface NodeRequest {
  on(event: "response", listener: (response: NodeResponse) => void): void
  on(event: "error", listener: (error: Error) => void): void
  write(chunk: Uint8Array, written: (error?: Error | null) => void): void
  end(chunk?: Uint8Array): void
  destroy(error?: Error): void
}

interface NodeResponse {
  readonly statusCode: number
  readonly statusMessage: string
  readonly rawHeaders: readonly string[]
  pipe(to: object): NodeResponse
  on(event: "error", listener: (error: Error) => void): void
  destroy(error?: Error): void
}

interface NodeModules {
  readonly http: NodeHttp
  readonly https: NodeHttp
  readonly dns: { readonly lookup: LookupLike }
  readonly toWeb: (readable: object) => ReadableStream<Uint8Array>
  readonly zlib: Readonly<Record<InflaterName, () => Inflater>>
}

type InflaterName = "createGunzip" | "createInflate" | "createBrotliDecompress"

interface Inflater {
  destroy(error?: Error): void
}

export const PUBLIC_FETCH_OPTIONS: OptionsSchema<PublicFetchOptions> = { lookup: "function" }

const EMPTY = new Set([204, 205, 304])
/** The functions that decompress, by content encoding. */
const INFLATERS: ReadonlyMap<string | undefined, InflaterName> = new Map([
  ["gzip", "createGunzip"],
  ["x-gzip", "createGunzip"],
  ["deflate", "createInflate"],
  ["br", "createBrotliDecompress"],
])
const MAX_REDIRECTS = 20

/**
 * Creates a `fetch` that refuses to connect to private, loopback and link-local addresses, also behind public
 * names and redirects.
 *
 * It needs Node's modules. On other platforms it checks only the address as written and uses the platform's
 * `fetch`. It ignores proxy settings: requests go directly to the server.
 */
export function createPublicFetch(options: PublicFetchOptions = {}): typeof globalThis.fetch {
  validateOptions("createPublicFetch", options, PUBLIC_FETCH_OPTIONS)
  return createGuardedFetch(options.lookup, isPrivateHost)
}

/** `createPublicFetch` with another definition of "private", for tests on one machine. */
export function createGuardedFetch(
  lookup: LookupLike | undefined,
  isPrivate: (host: string) => boolean,
): typeof globalThis.fetch {
  let sender: Promise<Sender | undefined> | undefined
  return async (input, init) => {
    sender ??= loadNode().then((node) => node && new Sender(node, lookup, isPrivate))
    const request = await requestOf(input, init)
    const mode = init?.redirect ?? (input instanceof Request ? input.redirect : "follow")
    const node = await sender
    for (let hops = 0; ; hops++) {
      assertPublic(request.url.hostname, undefined, isPrivate)
      const response = await (node === undefined
        ? globalThis.fetch(request.url, fetchOptions(request, request.signal ?? null))
        : node.send(request))
      const location = response.headers.get("location")
      if (mode === "manual" || location === null || !REDIRECTS.has(response.status)) {
        return response
      }
      await response.body?.cancel()
      if (mode === "error") throw new TypeError("fetch failed: a redirect was not expected.")
      if (hops >= MAX_REDIRECTS) throw new TypeError("fetch failed: too many redirects.")
      redirect(request, response.status, new URL(location, request.url))
    }
  }
}

let publicFetch: typeof globalThis.fetch | undefined

/** The `fetch` of a configuration: the user's own, one that blocks private addresses, or the platform's. */
export function resolveFetch(config: {
  readonly fetch?: typeof globalThis.fetch | undefined
  readonly blockPrivate?: boolean | undefined
}): typeof globalThis.fetch {
  if (config.fetch !== undefined) return config.fetch
  return config.blockPrivate === true ? (publicFetch ??= createPublicFetch()) : globalThis.fetch
}

interface Outgoing {
  url: URL
  method: string
  readonly headers: Headers
  body: Uint8Array | ReadableStream<Uint8Array> | undefined
  readonly signal: AbortSignal | undefined
}

async function requestOf(
  input: string | URL | Request,
  init: RequestInit | undefined,
): Promise<Outgoing> {
  const base = input instanceof Request ? input : undefined
  const url = new URL(base?.url ?? (input as string | URL))
  if (url.protocol !== "https:" && url.protocol !== "http:") {
    throw new TypeError(`fetch failed: "${url.protocol}" is neither http nor https.`)
  }
  const headers = new Headers(init?.headers ?? base?.headers)
  const method = (init?.method ?? base?.method ?? "GET").toUpperCase()
  const body = init?.body ?? base?.body ?? undefined
  const signal = init?.signal ?? base?.signal ?? undefined
  if (body === undefined || body instanceof ReadableStream) {
    return { url, method, headers, body: body as Outgoing["body"], signal }
  }
  // Let the platform encode any other body and determine its content type.
  const encoded = new Request("https://host.invalid/", { method: "POST", body })
  const type = encoded.headers.get("content-type")
  if (type !== null && !headers.has("content-type")) headers.set("content-type", type)
  return { url, method, headers, body: new Uint8Array(await encoded.arrayBuffer()), signal }
}

/** Applies a redirect by the rules of `fetch`: other origins get no credentials. */
function redirect(request: Outgoing, status: number, target: URL): void {
  if (becomesGet(request.method, status)) {
    request.method = "GET"
    request.body = undefined
    for (const name of [...request.headers.keys()]) {
      if (name.startsWith("content-")) request.headers.delete(name)
    }
  } else if (request.body instanceof ReadableStream) {
    throw new TypeError("fetch failed: a stream cannot be sent again after a redirect.")
  }
  if (target.origin !== request.url.origin) {
    for (const name of ["authorization", "proxy-authorization", "cookie"]) {
      request.headers.delete(name)
    }
  }
  request.url = target
}

/** Sends requests with Node's HTTP client, whose connections use a checking DNS lookup. */
class Sender {
  readonly #node: NodeModules
  readonly #agents: { readonly http: object; readonly https: object }

  constructor(
    node: NodeModules,
    lookup: LookupLike | undefined,
    isPrivate: (host: string) => boolean,
  ) {
    this.#node = node
    const resolve: LookupLike = lookup ?? ((...args) => node.dns.lookup(...args))
    const options = { keepAlive: true, lookup: checkedLookup(resolve, isPrivate) }
    this.#agents = { http: new node.http.Agent(options), https: new node.https.Agent(options) }
  }

  send(request: Outgoing): Promise<Response> {
    const { url, method, headers, body, signal } = request
    signal?.throwIfAborted()
    const kind = url.protocol === "https:" ? "https" : "http"
    const sent = new Headers(headers)
    if (!sent.has("accept-encoding")) sent.set("accept-encoding", "gzip, deflate, br")
    if (!sent.has("accept")) sent.set("accept", "*/*")
    if (body instanceof Uint8Array) sent.set("content-length", String(body.length))
    return new Promise<Response>((resolve, reject) => {
      const outgoing = this.#node[kind].request(withoutLogin(url), {
        method,
        headers: Object.fromEntries(sent),
        agent: this.#agents[kind],
      })
      let answered: NodeResponse | undefined
      const stop = (): void => {
        const reason: unknown = signal?.reason
        reject(reason)
        const error = reason instanceof Error ? reason : new Error("aborted")
        answered?.destroy(error)
        outgoing.destroy(error)
      }
      signal?.addEventListener("abort", stop, { once: true })
      const end = (): void => signal?.removeEventListener("abort", stop)
      outgoing.on("error", (error) => {
        end()
        reject(isCallError(error) ? error : new TypeError("fetch failed", { cause: error }))
      })
      outgoing.on("response", (response) => {
        answered = response
        try {
          resolve(this.#response(response, url, method, end))
        } catch (error) {
          response.destroy()
          reject(error)
        }
      })
      if (body instanceof ReadableStream) void writeAll(body, outgoing)
      else outgoing.end(body)
    })
  }

  #response(incoming: NodeResponse, url: URL, method: string, end: () => void): Response {
    const headers = new Headers()
    const { rawHeaders, statusCode } = incoming
    for (let at = 0; at + 1 < rawHeaders.length; at += 2) {
      headers.append(rawHeaders[at] as string, rawHeaders[at + 1] as string)
    }
    const isEmpty = method === "HEAD" || EMPTY.has(statusCode)
    const body = isEmpty ? null : this.#node.toWeb(this.#inflated(incoming, headers))
    if (isEmpty) {
      end()
      incoming.destroy()
    }
    const response = new Response(body && watchedBody(body, end), {
      status: statusCode,
      statusText: incoming.statusMessage,
      headers,
    })
    return Object.defineProperty(response, "url", { value: url.href })
  }

  #inflated(incoming: NodeResponse, headers: Headers): object {
    const encoding = headers.get("content-encoding")?.trim().toLowerCase()
    const create = INFLATERS.get(encoding)
    if (create === undefined) return incoming
    const inflate = this.#node.zlib[create]()
    incoming.on("error", (error) => inflate.destroy(error))
    incoming.pipe(inflate)
    return inflate
  }
}

async function writeAll(body: ReadableStream<Uint8Array>, outgoing: NodeRequest): Promise<void> {
  try {
    for await (const chunk of chunksOf(body)) {
      await new Promise<void>((resolve, reject) => {
        outgoing.write(chunk, (error) => (error ? reject(error) : resolve()))
      })
    }
    outgoing.end()
  } catch (error) {
    outgoing.destroy(error instanceof Error ? error : new Error(String(error)))
  }
}

function withoutLogin(url: URL): URL {
  const bare = new URL(url)
  bare.username = ""
  bare.password = ""
  return bare
}

/** Node's modules; `undefined` on other platforms. */
async function loadNode(): Promise<NodeModules | undefined> {
  try {
    const { Readable } = await nodeBuiltin<{
      readonly Readable: { toWeb(readable: object): ReadableStream<Uint8Array> }
    }>("stream")
    return {
      http: await nodeBuiltin("http"),
      https: await nodeBuiltin("https"),
      // Read from the module on each use, so that a replaced `lookup` takes effect.
      dns: await nodeBuiltin("dns"),
      zlib: await nodeBuiltin("zlib"),
      toWeb: (readable) => Readable.toWeb(readable),
    }
  } catch {
    return undefined
  }
}
