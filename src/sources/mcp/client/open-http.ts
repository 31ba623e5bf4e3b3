import { CallError } from "../../../core/errors.ts"
import { isUnencrypted } from "../../../internal/readable.ts"
import { isPrivateHost } from "../../../internal/private-host.ts"
import { fetchOf } from "../../../http-client/public-fetch.ts"
import { assertPublic } from "../../../http-client/public-lookup.ts"
import { readCallHeaders } from "../../../core/call-headers.ts"
import { retryAfterOf } from "../../../http-client/retry-after.ts"
import type { SettledServer } from "../config.ts"
import { capBody } from "./body-cap.ts"
import { REQUEST_MARK } from "./frames.ts"
import { guardOAuth } from "./oauth-guard.ts"
import { refreshForm, refreshOnce } from "./refresh-once.ts"
import type { RequestCaller } from "./model.ts"
import type { SdkModule, TransportLike } from "./sdk.ts"
import type { CredentialContext } from "../../../core/types.ts"
import type { HttpHost } from "./oauth-guard.ts"

const CREDENTIAL =
  /auth(?!or(?:s|ed)?(?:-|$))|cookie|token|secret|passw|credential|api[-_]?key|signature|dpop|(?<!idempotency[-_])key$/i

/** A transport over HTTP that is not yet started. */
export function makeHttp(sdk: SdkModule, kind: "http" | "sse", host: HttpHost): TransportLike {
  const { channel } = host
  const Transport = kind === "sse" ? sdk.SSEClientTransport : sdk.StreamableHTTPClientTransport
  return new Transport(channel.url, {
    fetch: guardedFetch(kind, host),
    ...(channel.authProvider !== undefined && { authProvider: guardOAuth(host) }),
  })
}

/**
 * The `fetch` of one server: the user's headers go to its origin only, credentials over https or
 * to this machine only, and what comes back is bounded.
 */
function guardedFetch(kind: "http" | "sse", host: HttpHost): typeof globalThis.fetch {
  const { channel, settled } = host
  const { url: home } = channel
  return async (input, init) => {
    const url = new URL(input instanceof Request ? input.url : input)
    const headers = new Headers(
      init?.headers ?? (input instanceof Request ? input.headers : undefined),
    )
    const token = Number(headers.get(REQUEST_MARK) ?? Number.NaN)
    headers.delete(REQUEST_MARK)
    const isHome = url.origin === home.origin
    const isEndpoint = isHome && (kind === "sse" || url.pathname === home.pathname)
    const signal = init?.signal ?? new AbortController().signal
    const context = contextOf(host.exchange(token)?.caller, signal)
    if (isHome) await addHeaders(headers, isEndpoint, host, context)
    else refusePrivate(url, host)
    refuseInsecure(url, headers, settled.name)
    if (channel.blockPrivate) assertPublic(url.hostname)
    const send = fetchOf(channel)
    const redirect = init?.redirect ?? (isEndpoint ? undefined : "error")
    const request = { ...init, headers, ...(redirect !== undefined && { redirect }) }
    const form = isEndpoint ? undefined : refreshForm(init)
    const provider = channel.authProvider
    if (form !== undefined && provider !== undefined) {
      return await refreshOnce(provider, url, form, async () =>
        capBody(await send(url, request), settled.maxMessageBytes, () => tooLarge(settled, false)),
      )
    }
    const response = await send(url, request)
    const exchange = host.exchange(token)
    if (exchange !== undefined && (response.status === 429 || response.status === 503)) {
      exchange.retryAfterMs = retryAfterOf(response.headers.get("retry-after") ?? undefined)
    }
    return capBody(response, settled.maxMessageBytes, () => {
      const error = tooLarge(settled, exchange !== undefined)
      const asked = host.exchange(token)
      if (asked === undefined && kind === "sse") host.broken(error)
      else asked?.failed(error)
      return error
    })
  }
}

/** Requests that open a session or list what there is are nobody's call. */
function contextOf(caller: RequestCaller | undefined, signal: AbortSignal): CredentialContext {
  return { identity: caller?.identity, operationId: caller?.operationId, signal }
}

/** The user's headers, beside what the protocol itself sends. */
async function addHeaders(
  headers: Headers,
  isEndpoint: boolean,
  { channel, settled, secret }: HttpHost,
  context: CredentialContext,
): Promise<void> {
  const subject = `A header for MCP server "${settled.name}"`
  const given = await readCallHeaders(channel.headers, context, subject)
  for (const [name, value] of Object.entries(given)) {
    secret(value)
    // The endpoints of an authorization server take credentials of their own.
    if (headers.has(name) || (!isEndpoint && CREDENTIAL.test(name))) continue
    try {
      headers.set(name, value)
    } catch {
      throw new CallError(
        "VALIDATION_ERROR",
        `MCP server "${settled.name}": the header "${name}" has a name or value that HTTP does not allow.`,
      )
    }
  }
  const authorization = headers.get("authorization")
  if (authorization !== null) secret(authorization.replace(/^\w+ +/, ""))
}

function refuseInsecure(url: URL, headers: Headers, server: string): void {
  if (!isUnencrypted(url)) return
  // Parameters of tools are no business of ours.
  const header = [...headers.keys()].find((name) => {
    return CREDENTIAL.test(name) && !name.startsWith("mcp-")
  })
  const parameter = [...url.searchParams.keys()].find((name) => CREDENTIAL.test(name))
  const name = header ?? parameter
  if (name === undefined) return
  throw new CallError(
    "EGRESS_BLOCKED",
    `MCP server "${server}": the ${header === undefined ? "parameter" : "header"} "${name}" is not sent to ${url.origin}, because anyone on the way could read it. Use https.`,
  )
}

// Where clouds keep what is nobody's business, also from within; as the URL parser spells it.
const LINK_LOCAL = /^169\.254\.|^\[(?:fe[89ab]|::ffff:a9fe:)|\.internal\.?$/

/** A server names the addresses of its authorization server: they must not lead into a private network. */
function refusePrivate(url: URL, { channel, settled }: HttpHost): void {
  const isWeb = url.protocol === "https:" || url.protocol === "http:"
  const { hostname } = channel.url
  const isNear = isPrivateHost(hostname) && !LINK_LOCAL.test(url.hostname)
  if (isWeb && (!isPrivateHost(url.hostname) || url.hostname === hostname || isNear)) return
  throw new CallError(
    "EGRESS_BLOCKED",
    `MCP server "${settled.name}" led to ${url.protocol}//${url.host}, which is not on the public web; nothing was sent there.`,
  )
}

function tooLarge(settled: SettledServer, isRequest: boolean): CallError {
  return new CallError(
    "PAYLOAD_TOO_LARGE",
    `MCP server "${settled.name}" sent a message of more than ${settled.maxMessageBytes} bytes. Ask for less, or raise "maxMessageBytes" of the server.`,
    { mayHaveExecuted: isRequest, details: { limit: settled.maxMessageBytes } },
  )
}
