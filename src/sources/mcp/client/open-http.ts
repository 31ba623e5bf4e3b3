import { CallError } from "../../../core/errors.ts"
import { isUnencrypted } from "../../../internal/unencrypted.ts"
import { isPrivateHost } from "../../../internal/private-host.ts"
import { resolveFetch } from "../../../http-client/public-fetch.ts"
import { assertPublic } from "../../../http-client/public-lookup.ts"
import { readCallHeaders } from "../../../core/call-headers.ts"
import { retryAfterOf } from "../../../http-client/retry-after.ts"
import type { MCPAuthProvider, MCPHttpChannel, ResolvedServer } from "../config.ts"
import { learnIssuer } from "./issuer.ts"
import type { RunningRequest } from "./running-request.ts"
import { REQUEST_TOKEN_HEADER } from "./framed-transport.ts"
import { refreshForm, refreshOnce } from "./refresh-once.ts"
import type { SdkModule, TransportLike } from "./sdk.ts"
import { isSecretName } from "../../../internal/secret-names.ts"
import type { CredentialContext } from "../../../core/types.ts"

/** The shared dependencies of the requests of one connection. */
export interface HttpHost {
  readonly server: ResolvedServer
  readonly channel: MCPHttpChannel
  /** Finds a pending request. */
  exchange(token: number): RunningRequest | undefined
  /** Called when the shared response stream can no longer be read. */
  broken(error: CallError): void
  /** Receives values that must be masked. */
  readonly secret: (value: string) => void
}

/** Creates an HTTP transport without starting it. */
export function makeHttp(sdk: SdkModule, kind: "http" | "sse", host: HttpHost): TransportLike {
  const { channel } = host
  const Transport = kind === "sse" ? sdk.SSEClientTransport : sdk.StreamableHTTPClientTransport
  return new Transport(channel.url, {
    fetch: guardedFetch(kind, host),
    ...(channel.authProvider !== undefined && { authProvider: guardOAuth(host) }),
  })
}

/**
 * The `fetch` of one server: the user's headers go to its origin only, credentials go over https or to this
 * machine only, and responses are limited in size.
 */
function guardedFetch(kind: "http" | "sse", host: HttpHost): typeof globalThis.fetch {
  const { channel, server } = host
  const { url: home } = channel
  return async (input, init) => {
    const url = new URL(input instanceof Request ? input.url : input)
    const headers = new Headers(
      init?.headers ?? (input instanceof Request ? input.headers : undefined),
    )
    const token = Number(headers.get(REQUEST_TOKEN_HEADER) ?? Number.NaN)
    headers.delete(REQUEST_TOKEN_HEADER)
    const isHome = url.origin === home.origin
    const isEndpoint = isHome && (kind === "sse" || url.pathname === home.pathname)
    const signal = init?.signal ?? new AbortController().signal
    // Requests that open a session or list have no caller.
    const caller = host.exchange(token)?.request.caller
    const context = { identity: caller?.identity, operationId: caller?.operationId, signal }
    if (isHome) await addHeaders(headers, isEndpoint, host, context)
    else refusePrivate(url, host)
    refuseInsecure(url, headers, server.name)
    if (channel.blockPrivate) assertPublic(url.hostname)
    const send = resolveFetch(channel)
    const redirect = init?.redirect ?? (isEndpoint ? undefined : "error")
    const request = { ...init, headers, ...(redirect !== undefined && { redirect }) }
    const form = isEndpoint ? undefined : refreshForm(init)
    const provider = channel.authProvider
    if (form !== undefined && provider !== undefined) {
      return await refreshOnce(provider, url, form, async () =>
        capBody(await send(url, request), server.maxMessageBytes, () => tooLarge(server, false)),
      )
    }
    const response = await send(url, request)
    if (response.status === 401 && isEndpoint && provider === undefined) {
      await learnIssuer(server, home, response, send)
    }
    const exchange = host.exchange(token)
    if (exchange !== undefined && (response.status === 429 || response.status === 503)) {
      exchange.retryAfterMs = retryAfterOf(response.headers.get("retry-after") ?? undefined)
    }
    return capBody(response, server.maxMessageBytes, () => {
      const error = tooLarge(server, exchange !== undefined)
      const pending = host.exchange(token)
      if (pending === undefined && kind === "sse") host.broken(error)
      else pending?.failed(error)
      return error
    })
  }
}

/** Adds the user's headers to those of the protocol. */
async function addHeaders(
  headers: Headers,
  isEndpoint: boolean,
  { channel, server, secret }: HttpHost,
  context: CredentialContext,
): Promise<void> {
  const subject = `A header for MCP server "${server.name}"`
  const custom = await readCallHeaders(channel.headers, context, subject)
  for (const [name, value] of Object.entries(custom)) {
    secret(value)
    // The endpoints of an authorization server need other credentials.
    if (headers.has(name) || (!isEndpoint && isSecretName(name.toLowerCase(), "setting"))) continue
    try {
      headers.set(name, value)
    } catch {
      throw new CallError(
        "VALIDATION_ERROR",
        `MCP server "${server.name}": the header "${name}" has a name or value that HTTP does not allow.`,
      )
    }
  }
  const authorization = headers.get("authorization")
  if (authorization !== null) secret(authorization.replace(/^\w+ +/, ""))
}

function refuseInsecure(url: URL, headers: Headers, server: string): void {
  if (!isUnencrypted(url)) return
  // Headers with tool parameters are not checked.
  const header = [...headers.keys()].find((name) => {
    return isSecretName(name, "setting") && !name.startsWith("mcp-")
  })
  const parameter = [...url.searchParams.keys()].find((name) => isSecretName(name, "setting"))
  const name = header ?? parameter
  if (name === undefined) return
  throw new CallError(
    "EGRESS_BLOCKED",
    `MCP server "${server}": the ${header === undefined ? "parameter" : "header"} "${name}" is not sent to ${url.origin}, because anyone on the network could read it. Use https.`,
  )
}

// The metadata services of clouds, as the URL parser spells their addresses.
const LINK_LOCAL = /^169\.254\.|^\[(?:fe[89ab]|::ffff:a9fe:)|\.internal\.?$/

/** Refuses private addresses for an authorization server, which the MCP server names. */
function refusePrivate(url: URL, { channel, server }: HttpHost): void {
  const isWeb = url.protocol === "https:" || url.protocol === "http:"
  const { hostname } = channel.url
  const isNear = isPrivateHost(hostname) && !LINK_LOCAL.test(url.hostname)
  if (isWeb && (!isPrivateHost(url.hostname) || url.hostname === hostname || isNear)) return
  throw new CallError(
    "EGRESS_BLOCKED",
    `MCP server "${server.name}" led to ${url.protocol}//${url.host}, which is not a public web address; nothing was sent there.`,
  )
}

function tooLarge(server: ResolvedServer, isRequest: boolean): CallError {
  return new CallError(
    "PAYLOAD_TOO_LARGE",
    `MCP server "${server.name}" sent a message of more than ${server.maxMessageBytes} bytes. Ask for less, or raise "maxMessageBytes" of the server.`,
    { mayHaveExecuted: isRequest, details: { limit: server.maxMessageBytes } },
  )
}

type Method = (this: unknown, ...args: unknown[]) => unknown

/**
 * Wraps the user's provider so that it receives only addresses that a browser may open.
 *
 * The address of the sign-in page comes from the server. Providers pass it to the system, where `file:` or
 * the scheme of a program would do something else.
 */
function guardOAuth({ channel, server }: HttpHost): MCPAuthProvider | undefined {
  const provider = channel.authProvider
  if (provider === undefined || !("redirectToAuthorization" in provider)) return provider
  const redirect = provider.redirectToAuthorization as Method
  const guarded: Method = async (url, ...rest) => {
    const { protocol } = new URL(String(url))
    if (protocol !== "https:" && protocol !== "http:") {
      throw new CallError(
        "EGRESS_BLOCKED",
        `MCP server "${server.name}" asks you to sign in at an address with the scheme "${protocol}", which is not opened. Only http and https are allowed.`,
      )
    }
    return await redirect.call(provider, url, ...rest)
  }
  return new Proxy(provider, {
    get(target, key) {
      if (key === "redirectToAuthorization") return guarded
      const value: unknown = Reflect.get(target, key, target)
      return typeof value === "function" ? (value as Method).bind(target) : value
    },
  })
}

const LF = 10
const CR = 13

// Statuses without a body; `new Response` refuses a body for them.
const EMPTY: ReadonlySet<number> = new Set([101, 103, 204, 205, 304])

/**
 * Wraps a response so that reading it fails as soon as one message exceeds the limit.
 *
 * In an event stream each event counts by itself; otherwise the whole body is the message. `exceeded` is
 * called then and returns the error for the reader.
 */
export function capBody(response: Response, limit: number, exceeded: () => Error): Response {
  const { body, status, statusText, headers } = response
  if (body === null || EMPTY.has(status) || status < 200) return response
  const isStream = /^\s*text\/event-stream\b/i.test(headers.get("content-type") ?? "")
  const count = isStream ? countEvent() : countAll()
  const announced = Number(headers.get("content-length") ?? Number.NaN)
  const isTooLarge = !isStream && !headers.has("content-encoding") && announced > limit
  const capped = body.pipeThrough(
    new TransformStream<Uint8Array, Uint8Array>({
      transform(chunk, controller) {
        if (isTooLarge || count(chunk) > limit) controller.error(exceeded())
        else controller.enqueue(chunk)
      },
    }),
  )
  return new Response(capped, { status, statusText, headers })
}

function countAll(): (chunk: Uint8Array) => number {
  let length = 0
  return (chunk) => (length += chunk.length)
}

/** Returns the size of the largest event that ends or continues in this chunk. */
function countEvent(): (chunk: Uint8Array) => number {
  let length = 0
  let isLineEmpty = true
  let last = 0
  return (chunk) => {
    let largest = 0
    for (const byte of chunk) {
      length++
      const isSecondOfBreak = byte === LF && last === CR
      last = byte
      if (isSecondOfBreak) continue
      const isBreak = byte === LF || byte === CR
      if (isBreak && isLineEmpty) {
        if (length > largest) largest = length
        length = 0
      }
      isLineEmpty = isBreak
    }
    return Math.max(largest, length)
  }
}
