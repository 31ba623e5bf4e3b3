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
