import type { HTTPAnswer, HTTPIncoming } from "../exchange.ts"
import type { HTTPCaller } from "../caller.ts"
import type { MountedServer, MountHost } from "../mount.ts"
import { answerFrom } from "../web-answer.ts"
import { isEventStream, NOT_SERVED, refuse, TextAnswer } from "./answers.ts"
import type { Answer } from "./answers.ts"
import type { Authenticator } from "./auth.ts"
import { Incoming } from "./incoming.ts"

/** Mounts an MCP server below a path of an HTTP server, which authenticates callers. */
export function mountServer(
  host: MountHost,
  authenticator: Authenticator,
  answer: (incoming: Incoming) => Promise<Answer>,
): MountedServer {
  const document = ({ method, path }: HTTPIncoming): Promise<HTTPAnswer> =>
    answerOf(authenticator.metadata(method, path) ?? refuse(404, NOT_SERVED, "Not found."))
  return {
    protocol: "mcp",
    documents: new Map(authenticator.metadataPaths.map((path) => [path, document])),
    handle: async (incoming, caller) =>
      await answerOf(await answer(mountedIncoming(host, incoming, caller))),
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

function mountedIncoming(host: MountHost, incoming: HTTPIncoming, caller: HTTPCaller): Incoming {
  const { identity, expiresAt, account } = caller
  const isResolved = host.authenticate !== undefined || identity !== undefined
  return new Incoming({
    method: incoming.method,
    like: incoming.like,
    onGone: (listener) => incoming.onGone(listener),
    readBody: (maxBytes) => incoming.readBody(maxBytes),
    mount: {
      caller: isResolved ? { identity, expiresAt } : undefined,
      clock: host.clock,
      limits: host.limits,
      account,
      charge: (calls) => caller.charge(calls),
      openStream: () => caller.openStream(),
      onRevoked: (listener) => caller.onRevoked(listener),
    },
  })
}

async function answerOf(answer: Answer): Promise<HTTPAnswer> {
  if (answer instanceof TextAnswer) return answer
  if (isEventStream(answer) || answer.body === null) return answerFrom(answer)
  return { ...answerFrom(answer), body: await answer.text() }
}
