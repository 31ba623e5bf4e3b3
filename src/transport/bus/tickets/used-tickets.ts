import { wallTimeOf } from "../../../internal/clock.ts"
import type { Clock } from "../../../internal/platform.ts"
import { LONGEST_LIFETIME } from "./claims.ts"

/** More than this many are not remembered: the oldest goes first. */
const MOST = 100_000
/** Milliseconds by which clocks may differ at most. */
const TOLERANCE = 300_000

/**
 * Requests that began on this worker with a ticket: none of them begins again until the ticket has expired.
 *
 * A ticket holds for one request, so that its id says which one was used. The text of a ticket does not: the last
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
    this.#expires.set(requestId, (expiryOf(ticket) ?? now + LONGEST_LIFETIME) + TOLERANCE)
    for (const [oldest, expires] of this.#expires) {
      if (expires > now && this.#expires.size <= MOST) break
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
