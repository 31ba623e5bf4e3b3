import { wallTimeOf } from "../../internal/clock.ts"
import type { Clock } from "../../platform.ts"
import { LONGEST_LIFETIME } from "./ticket-claims.ts"

/** More than this many are not remembered: the oldest goes first. */
const MOST = 100_000
/** Seconds by which clocks may differ at most. */
const TOLERANCE = 300_000

/** Tickets whose calls have begun on this worker: none of them starts another call until it has expired. */
export class UsedTickets {
  readonly #clock: Clock
  /** When each expires, in milliseconds since 1970, by its signature; oldest first. */
  readonly #expires = new Map<string, number>()

  constructor(clock: Clock) {
    this.#clock = clock
  }

  has(ticket: string): boolean {
    return this.#expires.has(signatureOf(ticket))
  }

  add(ticket: string): void {
    const now = wallTimeOf(this.#clock)
    this.#expires.set(signatureOf(ticket), (expiryOf(ticket) ?? now + LONGEST_LIFETIME) + TOLERANCE)
    for (const [signature, expires] of this.#expires) {
      if (expires > now && this.#expires.size <= MOST) break
      this.#expires.delete(signature)
    }
  }
}

/** What no two tickets have in common. */
function signatureOf(ticket: string): string {
  return ticket.slice(ticket.lastIndexOf(".") + 1)
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
