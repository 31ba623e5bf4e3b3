import type { GivenCaller } from "./auth.ts"
import type { Incoming } from "./http.ts"

/** A web request as it is looked at here. */
export function incomingOf(request: Request, given: GivenCaller | undefined): Incoming {
  const { method, url, headers, signal } = request
  const { host, pathname, search } = new URL(url)
  return {
    method: method.toUpperCase(),
    url,
    headers,
    like: {
      url: `${pathname}${search}`,
      // Platforms that make the address out of the header leave it out of the headers.
      headers: { host, ...Object.fromEntries(headers) },
    },
    signal,
    given,
    parsedBody: undefined,
    readBody: (maxBytes) => readBody(request, maxBytes),
  }
}

async function readBody({ body, headers }: Request, maxBytes: number): Promise<string | undefined> {
  if (Number(headers.get("content-length")) > maxBytes) return undefined
  if (body === null) return ""
  const reader = body.getReader()
  const decoder = new TextDecoder()
  let text = ""
  let size = 0
  for (;;) {
    const { done, value } = await reader.read()
    if (done) return text + decoder.decode()
    size += value.byteLength
    if (size > maxBytes) {
      await reader.cancel()
      return undefined
    }
    text += decoder.decode(value, { stream: true })
  }
}
