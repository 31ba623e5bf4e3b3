import type { HTTPAnswer, HTTPIncoming } from "../exchange.ts"
import type { HTTPCaller } from "../caller.ts"
import type { UpgradeRequestLike } from "../upgrade.ts"
import type { MountedServer, MountHost } from "../mount.ts"
import { answerFrom } from "../web-answer.ts"
import { isEventStream, NOT_SERVED, refuse, TextAnswer } from "./answers.ts"
import type { Answer } from "./answers.ts"
import type { Authenticator } from "./auth.ts"
import type { Incoming, MountedRequest } from "./incoming.ts"
import { headersOf, signalOf, urlOf } from "./node.ts"

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
      await answerOf(await answer(new MountedIncoming(host, incoming, caller))),
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

/** A request that the host server has admitted. */
class MountedIncoming implements Incoming {
  readonly method: string
  readonly like: UpgradeRequestLike
  readonly givenCaller = undefined
  readonly mount: MountedRequest
  readonly #incoming: HTTPIncoming
  #signal: AbortSignal | undefined
  #isGone = false

  constructor(host: MountHost, incoming: HTTPIncoming, caller: HTTPCaller) {
    const { identity, expiresAt } = caller
    const isResolved = host.authenticate !== undefined || identity !== undefined
    this.method = incoming.method
    this.like = incoming.like
    this.#incoming = incoming
    this.mount = {
      caller: isResolved ? { identity, expiresAt } : undefined,
      clock: host.clock,
      limits: host.limits,
      account: caller.account,
      charge: (calls) => caller.charge(calls),
      openStream: () => caller.openStream(),
      onRevoked: (listener) => caller.onRevoked(listener),
    }
    incoming.onGone(() => {
      this.#isGone = true
    })
  }

  get url(): string {
    return urlOf(this.like)
  }

  get headers(): Headers {
    return headersOf(this.like)
  }

  header(name: string): string | undefined {
    return this.#incoming.header(name)
  }

  get signal(): AbortSignal {
    return (this.#signal ??= signalOf((listener) => this.#incoming.onGone(listener)))
  }

  get isGone(): boolean {
    return this.#isGone
  }

  onGone(listener: () => void): () => void {
    return this.#incoming.onGone(listener)
  }

  readBody(maxBytes: number): Promise<string | undefined> {
    return this.#incoming.readBody(maxBytes)
  }
}

async function answerOf(answer: Answer): Promise<HTTPAnswer> {
  if (answer instanceof TextAnswer) return answer
  if (isEventStream(answer) || answer.body === null) return answerFrom(answer)
  return { ...answerFrom(answer), body: await answer.text() }
}
