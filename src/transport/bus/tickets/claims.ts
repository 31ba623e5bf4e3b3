import { isRecord, isStrings, isText } from "../../../internal/guards.ts"
import { toBase64 } from "../../../internal/base64.ts"
import { frozenCopy } from "../../../internal/frozen.ts"
import { encodeValue } from "../../../core/envelope-codec.ts"
import { encodeSoon } from "../../../core/unread-file.ts"
import type { Identity } from "../../../core/types.ts"
import { wallTimeOf } from "../../../internal/clock.ts"
import type { Clock } from "../../../internal/platform.ts"

/** The `typ` of tickets, which distinguishes them from other tokens of the same key. */
export const TICKET_TYPE = "operations-ticket+jwt"
/** The maximum length of a ticket, in characters, which leaves room for the input. */
export const MAX_TICKET_LENGTH = 65_536
/** How long a ticket remains valid after the deadline of its call, in milliseconds. */
export const SLACK = 30_000
/** The maximum lifetime of any ticket, in milliseconds: a day. */
export const MAX_LIFETIME = 86_400_000

/** The validated claims of a ticket. Times are in seconds. */
export interface TicketClaims {
  readonly identity: Identity
  readonly op: string
  readonly rid: string
  /** The hash of the input. */
  readonly inp: string
  readonly nbf: number
  readonly exp: number
}

/** Reads the claims of a ticket; `undefined` when one is missing or invalid. */
export function readClaims(payload: Readonly<Record<string, unknown>>): TicketClaims | undefined {
  const { sub, scp, res, op, rid, inp, iat, nbf, exp, jti } = payload
  if (
    !isText(inp) ||
    !isText(sub) ||
    !isText(op) ||
    !isText(rid) ||
    !isText(jti) ||
    !isStrings(scp)
  )
    return undefined
  if (!isTime(iat) || !isTime(nbf) || !isTime(exp)) return undefined
  if (res !== undefined && !isResources(res)) return undefined
  const identity = { id: sub, scopes: scp, ...(res !== undefined && { resources: res }) }
  // Frozen, because it is cached and shared.
  return { identity: frozenCopy(identity) as Identity, op, rid, inp, nbf, exp }
}

/**
 * The hash of an input, the same before and after it was sent, whatever the order of its keys.
 *
 * Throws a `CallError` for an input that cannot be sent.
 */
export async function inputHash(input: unknown): Promise<string> {
  const { value, binary } = await encodeSoon(() => encodeValue(input))
  const text = (JSON.stringify(value, sorted) as string | undefined) ?? ""
  // No JSON has a line break outside of its strings: the two parts cannot be confused.
  return await hashOf(binary === undefined ? text : `${text}\n${JSON.stringify(binary, sorted)}`)
}

/** The SHA-256 hash of a text, in base64. */
export async function hashOf(text: string): Promise<string> {
  const bytes = new TextEncoder().encode(text)
  return toBase64(new Uint8Array(await globalThis.crypto.subtle.digest("SHA-256", bytes)))
}

function sorted(_key: string, value: unknown): unknown {
  if (typeof value !== "object" || value === null || Array.isArray(value)) return value
  return Object.fromEntries(
    Object.entries(value).sort(([left], [right]) => (left < right ? -1 : 1)),
  )
}

/** Checks a name that both ends have to agree on. Throws a `TypeError` if it is invalid. */
export function checkName(user: string, name: string, value: unknown): string {
  if (isText(value) && value.length <= 256) return value
  throw new TypeError(`${user}({ ${name} }) must be a text of 1 to 256 characters.`)
}

function isResources(value: unknown): value is Readonly<Record<string, readonly string[]>> {
  return isRecord(value) && Object.values(value).every(isStrings)
}

function isTime(value: unknown): value is number {
  return typeof value === "number" && Number.isFinite(value)
}

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
