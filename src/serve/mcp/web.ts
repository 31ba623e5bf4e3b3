import { readWebBody } from "../read-body.ts"
import type { GivenCaller } from "./auth.ts"
import type { Incoming } from "./incoming.ts"

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
    readBody: (maxBytes) => readWebBody(request, maxBytes),
  }
}
