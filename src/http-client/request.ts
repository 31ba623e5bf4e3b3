/** A request that is ready to be sent. */
export interface PreparedRequest {
  readonly method: string
  readonly url: string
  /** Lower-case names. */
  readonly headers: Record<string, string>
  readonly body: string | Uint8Array | Blob | FormData | ReadableStream<Uint8Array> | undefined
}

/** The options of a `fetch` that does not follow redirects. */
export function fetchOptions(
  { method, headers, body }: Pick<PreparedRequest, "method" | "body"> & { headers: HeadersInit },
  signal: AbortSignal | null,
): RequestInit {
  const options: RequestInit & { duplex?: "half" } = { method, headers, signal, redirect: "manual" }
  if (body !== undefined) options.body = body as BodyInit
  if (body instanceof ReadableStream) options.duplex = "half"
  return options
}

/** The statuses of redirects that a client follows. */
export const REDIRECTS: ReadonlySet<number> = new Set([301, 302, 303, 307, 308])

/** Whether the redirected request is a GET, by the rules of `fetch`. */
export function becomesGet(method: string, status: number): boolean {
  if (status === 303) return method !== "GET" && method !== "HEAD"
  return (status === 301 || status === 302) && method === "POST"
}

const SAFE = new Set(["GET", "HEAD", "OPTIONS", "TRACE", "QUERY"])
const IDEMPOTENT = new Set([...SAFE, "PUT", "DELETE"])

/** Whether a method is safe in the sense of HTTP: it only reads. */
export function isSafeMethod(method: string): boolean {
  return SAFE.has(method)
}

/** Whether a request can be sent again: it has no effect, or its method is idempotent. */
export function isRepeatable(method: string | undefined, mayHaveEffect: boolean): boolean {
  return !mayHaveEffect || (method !== undefined && IDEMPOTENT.has(method))
}
