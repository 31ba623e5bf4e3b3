import { Leaving, drained } from "../disconnect.ts"
import { readNodeBody } from "../read-body.ts"
import { byteLength } from "../text-size.ts"
import { TextAnswer } from "./answers.ts"
import type { Answer } from "./answers.ts"
import { Incoming } from "./incoming.ts"
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
    const incoming = new Incoming({
      method: (request.method ?? "GET").toUpperCase(),
      like: request,
      onGone: (listener) => leaving.listen(listener),
      readBody: (maxBytes) => readNodeBody(request, maxBytes, body),
    })
    const answer = await handle(incoming)
    if (answer instanceof TextAnswer) writeText(answer, response, leaving)
    else await write(answer, response, leaving)
  } finally {
    response.off("close", onClose)
    // An unread body would prevent reuse of the connection.
    request.resume()
  }
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
