import { wallTimeOf } from "../../../internal/clock.ts"
import type { Clock } from "../../../internal/platform.ts"
import { MAX_LIFETIME } from "./claims.ts"

/** The maximum number of remembered requests; the oldest are dropped first. */
const MAX_REMEMBERED = 100_000
/** The maximum difference of clocks, in milliseconds. */
const TOLERANCE = 300_000

/**
 * Requests that began on this worker with a ticket: none of them begins again until the ticket has expired.
 *
 * A ticket is valid for one request, so that the request id identifies it. The text of a ticket does not: the last
 * characters of a signature can be written in several ways.
 */
export class UsedTickets {
  readonly #clock: Clock
  /** When the ticket of each request expires, in milliseconds since 1970; oldest first. */
  readonly #expires = new Map<string, number>()

  constructor(clock: Clock) {
    this.#clock = clock
  }

  has(requestId: string): boolean {
    return this.#expires.has(requestId)
  }

  add(requestId: string, ticket: string): void {
    const now = wallTimeOf(this.#clock)
    this.#expires.set(requestId, (expiryOf(ticket) ?? now + MAX_LIFETIME) + TOLERANCE)
    for (const [oldest, expires] of this.#expires) {
      if (expires > now && this.#expires.size <= MAX_REMEMBERED) break
      this.#expires.delete(oldest)
    }
  }
}

/** When a ticket that was verified expires. */
function expiryOf(ticket: string): number | undefined {
  try {
    const payload = (ticket.split(".")[1] ?? "").replaceAll("-", "+").replaceAll("_", "/")
    const { exp } = JSON.parse(atob(payload)) as { readonly exp?: unknown }
    return typeof exp === "number" ? exp * 1000 : undefined
  } catch {
    return undefined
  }
}
