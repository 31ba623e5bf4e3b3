import type { HTTPAnswer, HTTPSink } from "./exchange.ts"

/** The answer that a web response is; its body is not read before it is sent. */
export function answerFrom(response: Response): HTTPAnswer {
  const { status, body } = response
  const headers = Object.fromEntries(response.headers)
  if ("set-cookie" in headers) headers["set-cookie"] = response.headers.getSetCookie().join("\n")
  if (body === null) return { status, headers }
  return { status, headers, body: { run: (sink) => pump(body, sink) } }
}

/** Writes a body until it ends or the client leaves. Never rejects. */
async function pump(body: ReadableStream<Uint8Array>, sink: HTTPSink): Promise<void> {
  const reader = body.getReader()
  const stop = sink.onGone(() => void reader.cancel().catch(() => undefined))
  try {
    for (;;) {
      const { done, value } = await reader.read()
      if (done || sink.isGone) break
      if (!sink.write(value)) await sink.drained()
    }
  } catch {
    // The rest is missing, as the client should see.
    sink.cut?.()
  } finally {
    stop()
  }
}
