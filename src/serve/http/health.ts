import { COMMON_HEADERS } from "./context.ts"
import type { HTTPAnswer } from "../exchange.ts"

const HEADERS = { "content-type": "application/json", ...COMMON_HEADERS }

/**
 * Answers `/livez` and `/readyz`; `undefined` for every other path.
 *
 * They are public, so they answer only yes or no.
 */
export function answerHealth(
  method: string,
  path: string,
  isReady: boolean,
  hasAll?: () => boolean,
): HTTPAnswer | undefined {
  if (!isHealthPath(path)) return undefined
  if (method !== "GET" && method !== "HEAD") {
    return { status: 405, headers: { ...HEADERS, allow: "GET, HEAD" }, body: '{"status":"error"}' }
  }
  const isUp = path === "/livez" || (isReady && hasAll?.() !== false)
  const body = isUp ? '{"status":"ok"}' : '{"status":"unavailable"}'
  return { status: isUp ? 200 : 503, headers: HEADERS, body: method === "HEAD" ? undefined : body }
}

/** Whether a path, without the base path, is a health check. */
export function isHealthPath(path: string): boolean {
  return path === "/livez" || path === "/readyz"
}
