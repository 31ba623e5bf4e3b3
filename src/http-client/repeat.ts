const SAFE = new Set(["GET", "HEAD", "OPTIONS", "TRACE", "QUERY"])
const IDEMPOTENT = new Set([...SAFE, "PUT", "DELETE"])

/** Whether a request only asks: what HTTP calls a safe method. */
export function isSafeMethod(method: string): boolean {
  return SAFE.has(method)
}

/** Whether sending a request twice does no more than sending it once. */
export function isRepeatable(method: string | undefined, mayHaveEffect: boolean): boolean {
  return !mayHaveEffect || (method !== undefined && IDEMPOTENT.has(method))
}
