import { readWebBody } from "../read-body.ts"
import type { GivenCaller } from "./auth.ts"
import { Incoming } from "./incoming.ts"

/** An `Incoming` for a web request. */
export function incomingOf(request: Request, givenCaller: GivenCaller | undefined): Incoming {
  const { method, url, headers, signal } = request
  const { host, pathname, search } = new URL(url)
  return new Incoming({
    method: method.toUpperCase(),
    like: {
      url: `${pathname}${search}`,
      // Some platforms use the host header for the URL, and remove it from the headers.
      headers: { host, ...Object.fromEntries(headers) },
    },
    onGone(listener) {
      if (signal.aborted) listener()
      else signal.addEventListener("abort", listener, { once: true })
      return () => signal.removeEventListener("abort", listener)
    },
    givenCaller,
    readBody: (maxBytes) => readWebBody(request, maxBytes),
  })
}
