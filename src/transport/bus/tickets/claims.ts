import { toBase64 } from "../../../internal/base64.ts"
import { frozenCopy } from "../../../internal/frozen.ts"
import { encodeValue } from "../../../core/envelope-codec.ts"
import type { Identity } from "../../../core/types.ts"

/** The `typ` of a ticket: no other token of the same key is one. */
export const TICKET_TYPE = "operations-ticket+jwt"
/** Characters; more would crowd out what is being called for. */
export const LONGEST_TICKET = 65_536
/** Milliseconds by which a ticket outlives the end of its call. */
export const SLACK = 30_000
/** Milliseconds that a ticket may cover, whoever signed it: a day. */
export const LONGEST_LIFETIME = 86_400_000

/** What a ticket says, once it is known to be one. Times are in seconds. */
export interface TicketClaims {
  readonly identity: Identity
  readonly op: string
  readonly rid: string
  /** The hash of the input. */
  readonly inp: string
  readonly nbf: number
  readonly exp: number
}

/** The claims of a ticket; `undefined` when one is missing or is something else. */
export function readClaims(payload: Readonly<Record<string, unknown>>): TicketClaims | undefined {
  const { sub, scp, res, op, rid, inp, iat, nbf, exp, jti } = payload
  if (!isText(inp) || !isText(sub) || !isText(op) || !isText(rid) || !isText(jti) || !isTexts(scp))
    return undefined
  if (!isTime(iat) || !isTime(nbf) || !isTime(exp)) return undefined
  if (res !== undefined && !isResources(res)) return undefined
  const identity = { id: sub, scopes: scp, ...(res !== undefined && { resources: res }) }
  // It is kept and given out again: nobody changes it.
  return { identity: frozenCopy(identity) as Identity, op, rid, inp, nbf, exp }
}

/**
 * The hash of an input, the same before and after it was sent, whatever the order of its keys.
 *
 * Throws a `CallError` for an input that cannot be sent.
 */
export async function inputHash(input: unknown): Promise<string> {
  const { value, binary } = encodeValue(input)
  const text = (JSON.stringify(value, sorted) as string | undefined) ?? ""
  // No JSON has a line break outside of its strings: the two parts cannot be confused.
  const all = binary === undefined ? text : `${text}\n${JSON.stringify(binary, sorted)}`
  const bytes = new TextEncoder().encode(all)
  const hash = new Uint8Array(await globalThis.crypto.subtle.digest("SHA-256", bytes))
  return toBase64(hash)
}

function sorted(_key: string, value: unknown): unknown {
  if (typeof value !== "object" || value === null || Array.isArray(value)) return value
  return Object.fromEntries(
    Object.entries(value).sort(([left], [right]) => (left < right ? -1 : 1)),
  )
}

/** A name that both ends have to agree on. Throws a `TypeError` for what is none. */
export function checkName(user: string, name: string, value: unknown): string {
  if (isText(value) && value.length <= 256) return value
  throw new TypeError(`${user}({ ${name} }) must be a text of 1 to 256 characters.`)
}

function isResources(value: unknown): value is Readonly<Record<string, readonly string[]>> {
  return (
    typeof value === "object" &&
    value !== null &&
    !Array.isArray(value) &&
    Object.values(value).every(isTexts)
  )
}

function isTexts(value: unknown): value is readonly string[] {
  return Array.isArray(value) && value.every((one) => typeof one === "string")
}

function isText(value: unknown): value is string {
  return typeof value === "string" && value !== ""
}

function isTime(value: unknown): value is number {
  return typeof value === "number" && Number.isFinite(value)
}
