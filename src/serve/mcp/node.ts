import { Leaving, drained } from "../disconnect.ts"
import { readNodeBody } from "../read-body.ts"
import { byteLength } from "../text-size.ts"
import { TextAnswer } from "./answers.ts"
import type { Answer } from "./answers.ts"
import type { UpgradeRequestLike } from "../upgrade.ts"
import type { Incoming } from "./incoming.ts"
import type { NodeRequestLike, NodeResponseLike } from "../node-types.ts"

/** Answers a Node request with the response of a handler. `body` is what a framework has parsed. */
export async function answerNode(
  request: NodeRequestLike,
  response: NodeResponseLike,
  handle: (incoming: Incoming) => Promise<Answer>,
  body?: unknown,
): Promise<void> {
  const leaving = new Leaving()
  const onClose = (): void => {
    if (!response.writableFinished) leaving.leave()
  }
  response.on("close", onClose)
  try {
    const answer = await handle(new NodeIncoming(request, leaving, body))
    if (answer instanceof TextAnswer) writeText(answer, response, leaving)
    else await write(answer, response, leaving)
  } finally {
    response.off("close", onClose)
    // An unread body would prevent reuse of the connection.
    request.resume()
  }
}

class NodeIncoming implements Incoming {
  readonly method: string
  readonly like: NodeRequestLike
  readonly givenCaller = undefined
  readonly #leaving: Leaving
  readonly #body: unknown
  #signal: AbortSignal | undefined

  constructor(request: NodeRequestLike, leaving: Leaving, body: unknown) {
    this.method = (request.method ?? "GET").toUpperCase()
    this.like = request
    this.#leaving = leaving
    this.#body = body
  }

  get url(): string {
    return urlOf(this.like)
  }

  get headers(): Headers {
    return headersOf(this.like)
  }

  header(name: string): string | undefined {
    const value = this.like.headers[name]
    return typeof value === "string" ? value : value?.join(", ")
  }

  get signal(): AbortSignal {
    return (this.#signal ??= signalOf((listener) => this.#leaving.listen(listener)))
  }

  get isGone(): boolean {
    return this.#leaving.isGone
  }

  onGone(listener: () => void): () => void {
    return this.#leaving.listen(listener)
  }

  readBody(maxBytes: number): Promise<string | undefined> {
    return readNodeBody(this.like, maxBytes, this.#body)
  }
}

/** A signal that is aborted when the client leaves. */
export function signalOf(onGone: Incoming["onGone"]): AbortSignal {
  const controller = new AbortController()
  onGone(() => controller.abort())
  return controller.signal
}

/** Headers of a request as web `Headers`, without the pseudo-headers of HTTP/2. */
export function headersOf(request: UpgradeRequestLike): Headers {
  const headers = new Headers()
  for (const [name, value] of Object.entries(request.headers)) {
    if (name.startsWith(":")) continue
    for (const one of typeof value === "string" ? [value] : (value ?? [])) headers.append(name, one)
  }
  return headers
}

/** The URL of a request. Only its path is meaningful: the host is not trusted. */
export function urlOf({ url = "/" }: UpgradeRequestLike): string {
  return `http://localhost${url.startsWith("/") ? url : "/"}`
}

function writeText(from: TextAnswer, to: NodeResponseLike, { isGone }: Leaving): void {
  if (isGone) return
  const { status, headers, body } = from
  const length = String(byteLength(body))
  to.writeHead(status, body === undefined ? headers : { ...headers, "content-length": length })
  to.end(body)
}

async function write(from: Response, to: NodeResponseLike, leaving: Leaving): Promise<void> {
  if (leaving.isGone) {
    await from.body?.cancel()
    return
  }
  to.writeHead(from.status, Object.fromEntries(from.headers))
  if (from.body === null) {
    to.end()
    return
  }
  to.flushHeaders()
  const reader = from.body.getReader()
  // A pending read has to end, too.
  const stop = leaving.listen(() => void reader.cancel().catch(() => undefined))
  try {
    for (;;) {
      const { done, value } = await reader.read()
      if (done || leaving.isGone) break
      if (!to.write(value)) await drained(to, leaving)
    }
  } finally {
    stop()
    to.end()
  }
}
