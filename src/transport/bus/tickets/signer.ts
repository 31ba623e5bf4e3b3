import type * as jose from "jose"
import { CallError } from "../../../core/errors.ts"
import { systemClock, wallTimeOf } from "../../../internal/clock.ts"
import { validateOptions, type OptionsSchema } from "../../../internal/options.ts"
import { loadJose } from "../../../internal/jose.ts"
import type { Clock } from "../../../internal/platform.ts"
import type { Identity } from "../../../core/types.ts"
import {
  checkName,
  inputHash,
  MAX_LIFETIME,
  MAX_TICKET_LENGTH,
  SLACK,
  TICKET_TYPE,
} from "./claims.ts"
import { ALGORITHM, loadTicketKey, validateTicketKey } from "./keys.ts"
import type { LoadedKey, TicketKey } from "./keys.ts"
import type { TicketSigner, TicketSubject } from "./model.ts"

/** Options of `createTicketSigner`, which needs the package `jose`. */
export interface TicketSignerOptions {
  /** The `iss` of tickets. A verifier accepts a single issuer. */
  readonly issuer: string
  /** The `aud` of tickets: one name for all workers of a system. */
  readonly audience: string
  /** The private key. It never appears in errors or logs. */
  readonly key: TicketKey
  /** The `kid` of tickets; by default that of the JWK, or the key's thumbprint. */
  readonly keyId?: string | undefined
  /**
   * The maximum time that a ticket covers, in milliseconds; an hour. A ticket expires 30 seconds after the deadline of
   * its call.
   */
  readonly lifetime?: number | undefined
  readonly clock?: Clock | undefined
}

export const TICKET_SIGNER_OPTIONS: OptionsSchema<TicketSignerOptions> = {
  issuer: { required: "text" },
  audience: { required: "text" },
  key: { secret: "any" },
  keyId: "text",
  lifetime: { min: 1, max: MAX_LIFETIME },
  clock: "clock",
}

const USER = "createTicketSigner"
const HOUR = 3_600_000

/** Creates a signer of tickets, which prove to workers for whom a caller such as a hub makes its calls. */
export function createTicketSigner(options: TicketSignerOptions): TicketSigner {
  validateOptions(USER, options, TICKET_SIGNER_OPTIONS)
  const { lifetime = HOUR, clock = systemClock } = options
  const iss = checkName(USER, "issuer", options.issuer)
  const aud = checkName(USER, "audience", options.audience)
  const form = validateTicketKey(`${USER}({ key })`, options.key, "private")
  const keyId = options.keyId === undefined ? undefined : checkName(USER, "keyId", options.keyId)
  let loaded: Promise<LoadedKey & { readonly jose: typeof jose }> | undefined

  /** The claims about the call, and the times. */
  const pinned = ({ operationId, requestId, timeout }: TicketSubject): Record<string, unknown> => {
    const now = wallTimeOf(clock)
    // Without a valid timeout the whole lifetime is covered.
    const covered = timeout >= 0 ? Math.min(timeout, lifetime) : lifetime
    const iat = Math.floor(now / 1000)
    const exp = Math.floor((now + covered + SLACK) / 1000)
    const jti = globalThis.crypto.randomUUID()
    return { iss, aud, op: operationId, rid: requestId, iat, nbf: iat, exp, jti }
  }

  const open = async (): Promise<LoadedKey & { readonly jose: typeof jose }> => {
    const jose = await loadJose(USER)
    return { jose, ...(await loadTicketKey(jose, `${USER}({ key })`, form, "private")) }
  }

  return {
    async sign(identity, subject) {
      const { operationId } = subject
      const inp = await inputHash(subject.input)
      const claims = { ...claimsOf(identity), ...pinned(subject), inp }
      const { jose, key, name, thumbprint } = await (loaded ??= open()).catch((error: unknown) => {
        loaded = undefined
        throw unsigned(operationId, error)
      })
      const kid = keyId ?? name ?? thumbprint
      const header = { alg: ALGORITHM, typ: TICKET_TYPE, ...(kid !== undefined && { kid }) }
      const ticket = await new jose.SignJWT(claims).setProtectedHeader(header).sign(key)
      if (ticket.length <= MAX_TICKET_LENGTH) return ticket
      throw new CallError(
        "PAYLOAD_TOO_LARGE",
        `"${operationId}" was not called: the ticket for its caller has ${ticket.length} characters, and ` +
          `${MAX_TICKET_LENGTH} are allowed. Give the caller fewer scopes or resources.`,
        { operationId, details: { bytes: ticket.length, limit: MAX_TICKET_LENGTH } },
      )
    },
  }
}

/** The claims of an identity. Other fields of it are not sent. */
function claimsOf({ id, scopes, resources }: Identity): Record<string, unknown> {
  if (typeof id !== "string" || id === "" || !Array.isArray(scopes)) {
    throw new TypeError("A ticket is for an identity: { id, scopes, resources? }.")
  }
  return { sub: id, scp: [...scopes], ...(resources !== undefined && { res: { ...resources } }) }
}

/** Not retryable: the configuration has to be fixed. */
function unsigned(operationId: string, error: unknown): CallError {
  const why = error instanceof Error ? error.message : String(error)
  const message = `"${operationId}" was not called, because no ticket could be signed for it: ${why}`
  return new CallError("UNAVAILABLE", message, { operationId, retryable: false })
}
