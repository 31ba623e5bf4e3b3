import type { HTTPAnswer, HTTPIncoming, HTTPSink } from "../exchange.ts"
import type { HTTPCaller } from "../caller.ts"
import type { MountedServer, MountHost } from "../mount.ts"
import { NOT_SERVED, refuse, textOf } from "./answers.ts"
import type { Authenticator } from "./auth.ts"
import type { Incoming } from "./incoming.ts"
import { headersOf, urlOf } from "./node.ts"

/** Mounts an MCP server below a path of an HTTP server, which authenticates callers. */
export function mountServer(
  host: MountHost,
  authenticator: Authenticator,
  answer: (incoming: Incoming) => Promise<Response>,
): MountedServer {
  const document = ({ method, path }: HTTPIncoming): Promise<HTTPAnswer> =>
    answerOf(authenticator.metadata(method, path) ?? refuse(404, NOT_SERVED, "Not found."))
  return {
    protocol: "mcp",
    documents: new Map(authenticator.metadataPaths.map((path) => [path, document])),
    handle: async (incoming, caller) =>
      await answerOf(await answer(incomingOf(host, incoming, caller))),
    async refuse({ status, error, headers }) {
      const challenge = headers["www-authenticate"]
      const response =
        challenge === undefined
          ? refuse(status, NOT_SERVED, error.message)
          : authenticator.unauthorized(challenge.includes("invalid_token"))
      const refused = await answerOf(response)
      return { ...refused, headers: { ...headers, ...refused.headers } }
    },
  }
}

function incomingOf(host: MountHost, incoming: HTTPIncoming, caller: HTTPCaller): Incoming {
  const { method, like } = incoming
  const { identity, expiresAt } = caller
  const controller = new AbortController()
  incoming.onGone(() => controller.abort())
  const isResolved = host.authenticate !== undefined || identity !== undefined
  return {
    method,
    url: urlOf(like),
    headers: headersOf(like),
    like,
    signal: controller.signal,
    given: undefined,
    mount: {
      caller: isResolved ? { identity, expiresAt } : undefined,
      clock: host.clock,
      account: caller.account,
      charge: (calls) => caller.charge(calls),
      openStream: () => caller.openStream(),
    },
    readBody: (maxBytes) => incoming.readBody(maxBytes),
  }
}

async function answerOf(response: Response): Promise<HTTPAnswer> {
  const { status } = response
  const headers = Object.fromEntries(response.headers)
  const text = textOf(response)
  if (text !== undefined) return { status, headers, body: text }
  const { body } = response
  if (body === null) return { status, headers }
  const isStream = headers["content-type"]?.startsWith("text/event-stream") === true
  if (!isStream) return { status, headers, body: await response.text() }
  return { status, headers, body: { run: (sink) => pump(body, sink) } }
}

/** Writes a body until it ends or the client leaves. Never rejects. */
async function pump(body: ReadableStream<Uint8Array>, sink: HTTPSink): Promise<void> {
  const reader = body.getReader()
  const stop = sink.onGone(() => void reader.cancel().catch(() => undefined))
  const decoder = new TextDecoder()
  try {
    for (;;) {
      const { done, value } = await reader.read()
      if (done || sink.isGone) break
      if (!sink.write(decoder.decode(value, { stream: true }))) await sink.drained()
    }
  } catch {
    // The stream failed: the client sees it end.
  } finally {
    stop()
  }
}
