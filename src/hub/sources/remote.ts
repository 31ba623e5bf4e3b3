import { isBroker, type RemoteSource } from "../../config/kinds/remote.ts"
import type { ResolvedSource } from "../../config/model.ts"
import { CallError, isCallError } from "../../core/errors.ts"
import { reasonOf } from "../../internal/message-text.ts"
import { isUnencrypted } from "../../internal/unencrypted.ts"
import { fill } from "../resolve-references.ts"
import type { HubSource, OpenSource, SourceContext } from "../model.ts"
import { openBroker } from "./broker.ts"
import type { CallLink } from "../../protocol/pending/request-map.ts"
import type { CredentialContext } from "../../core/types.ts"
import { callerLinks, dependsOnCaller, anonymousContext, credentialsFor } from "./caller-links.ts"
import type { HubCredentials } from "./caller-links.ts"
import { Mirror } from "./mirror.ts"
import { openPeer, WatchedTransport } from "./peer.ts"

/** The operations of another hub, or of the workers behind a broker. */
export const remote: HubSource<RemoteSource> = {
  isConnected: true,
  // Without its broker a hub can only make callers wait.
  isRequired: (source) => isBroker(source.remote),
  isForCaller: (source) => source.ticket !== undefined || dependsOnCaller(source),
  async open(source, context) {
    const { name, config } = source
    const place = await fill(config.remote, context.resolve, name, "remote")
    if (!isBroker(place)) return await openHub(source, place, context)
    if (config.blockPrivate !== true) return await openBroker(source, place, context)
    throw new CallError(
      "EGRESS_BLOCKED",
      `Source "${name}": "blockPrivate" is for another hub, and "remote" is a broker.`,
      { retryable: false },
    )
  },
}

/** Opens another hub. Its connection is restored automatically, and then its operations are listed again. */
async function openHub(
  { name, config }: ResolvedSource<RemoteSource>,
  place: string,
  context: SourceContext,
): Promise<OpenSource> {
  const { PendingRequestMap } = await import("../../protocol/pending/request-map.ts")
  const { createWebSocketTransport } = await import("../../transport/websocket/websocket.ts")
  const { blockPrivate, insecure, token, headers } = config
  const showing = await fill({ token, headers }, context.resolve, name)
  if (insecure !== true && (showing.token ?? showing.headers) !== undefined) {
    refuseReadable(name, new URL(place), showing.token === undefined ? "headers" : "token")
  }
  const { clock, logger, retries } = context
  const options = { clock, logger, reconnect: retries, blockPrivate, insecure }
  const url = socketUrl(place)
  const own = async (): Promise<HubCredentials> =>
    await credentialsFor(showing, anonymousContext(new AbortController().signal), name)
  const transport = createWebSocketTransport(url, {
    ...options,
    token:
      typeof showing.token === "function" ? async () => (await own()).token ?? "" : showing.token,
    headers: showing.headers && (async () => (await own()).headers ?? {}),
  })
  const callers = callerLinks(
    clock,
    (shown) => new PendingRequestMap(createWebSocketTransport(url, { ...options, ...shown })),
  )
  const linkFor = async (call: CredentialContext): Promise<CallLink | undefined> =>
    call.identity === undefined ? undefined : callers.get(await credentialsFor(showing, call, name))
  const watched = new WatchedTransport(transport)
  const peer = await openPeer(watched, new Mirror(context.originId), context, {
    linkFor: dependsOnCaller(showing) ? linkFor : undefined,
    explain: (error) => unreachable(name, place, error),
  })
  return {
    ...peer,
    onHealth: (listener) => watched.onHealth(listener),
    close: async () => void (await Promise.all([peer.close(), callers.close()])),
  }
}

function refuseReadable(name: string, url: URL, what: "token" | "headers"): void {
  if (!isUnencrypted(url)) return
  throw new CallError(
    "EGRESS_BLOCKED",
    `Source "${name}": its "${what}" is not sent to ${url.origin}, because anyone on the way could read it. ` +
      `Use https or wss, or set "insecure": true.`,
    { retryable: false },
  )
}

/** The WebSocket URL of a hub. */
function socketUrl(place: string): string {
  const url = new URL(place)
  if (/^https?:$/.test(url.protocol) && !/\/ws\/?$/.test(url.pathname)) {
    url.pathname = `${url.pathname.replace(/\/$/, "")}/ws`
  }
  return url.href
}

function unreachable(name: string, place: string, cause: unknown): CallError {
  const code = isCallError(cause) ? cause.code : "UNAVAILABLE"
  const cure =
    code === "UNAUTHENTICATED"
      ? ` Give its "token", such as "\${env:TOKEN}".`
      : ` Is a hub served there? Try: npx @alkdev/operations list --hub ${new URL(place).origin}`
  // The internal request that failed does not matter here.
  const reason = reasonOf(cause).replace(/^"services\.\w+" was not sent: /, "")
  return new CallError(code, `Source "${name}": ${reason}${cure}`, { cause })
}
