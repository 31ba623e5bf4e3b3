/** Why a ticket is invalid, for the log. */
export type TicketReason =
  | "malformed"
  | "too long"
  | "sender"
  | "algorithm"
  | "type"
  | "unknown key"
  | "signature"
  | "issuer"
  | "audience"
  | "claims"
  | "expired"
  | "not yet valid"
  | "holds too long"
  | "another operation"
  | "another request"
  | "another input"

/** Thrown for an invalid ticket. */
export class TicketRefused extends Error {
  readonly reason: TicketReason

  constructor(reason: TicketReason) {
    super(reason)
    this.reason = reason
  }
}

/** Error codes of `jose` for invalid tokens. */
const BY_CODE: ReadonlyMap<unknown, TicketReason> = new Map([
  ["ERR_JOSE_ALG_NOT_ALLOWED", "algorithm"],
  ["ERR_JOSE_NOT_SUPPORTED", "malformed"],
  ["ERR_JWS_INVALID", "malformed"],
  ["ERR_JWT_INVALID", "malformed"],
  ["ERR_JWT_EXPIRED", "expired"],
  ["ERR_JWS_SIGNATURE_VERIFICATION_FAILED", "signature"],
])

const BY_CLAIM: ReadonlyMap<unknown, TicketReason> = new Map([
  ["iss", "issuer"],
  ["aud", "audience"],
  ["typ", "type"],
])

/** Why a ticket is invalid; `undefined` for errors with another cause. */
export function reasonOf(error: unknown): TicketReason | undefined {
  if (error instanceof TicketRefused) return error.reason
  const { code, claim, reason } = (error ?? {}) as Readonly<Record<string, unknown>>
  if (code !== "ERR_JWT_CLAIM_VALIDATION_FAILED") return BY_CODE.get(code)
  if (claim === "nbf" && reason === "check_failed") return "not yet valid"
  return BY_CLAIM.get(claim) ?? "claims"
}
