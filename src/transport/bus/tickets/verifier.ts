import type * as jose from "jose"
import type { CallError } from "../../../core/errors.ts"
import type { KeyForm } from "../../../internal/jose-keys.ts"
import { systemClock, wallTimeOf } from "../../../internal/clock.ts"
import { validateOptions, type OptionsSchema } from "../../../internal/options.ts"
import { loadJose } from "../../../internal/jose.ts"
import type { Logger } from "../../../internal/logger.ts"
import type { Clock } from "../../../internal/platform.ts"
import type { Identity } from "../../../core/types.ts"
import {
  checkName,
  hashOf,
  inputHash,
  MAX_LIFETIME,
  MAX_TICKET_LENGTH,
  readClaims,
  SLACK,
  TICKET_TYPE,
} from "./claims.ts"
import type { TicketClaims } from "./claims.ts"
import { ALGORITHM, loadTicketKey, validateTicketKey } from "./keys.ts"
import type { LoadedKey, TicketKey } from "./keys.ts"
import type { TicketSubject, TicketVerifier } from "./model.ts"
import { notCalled } from "../../../core/not-called.ts"
import { isolatedLogger } from "../../../internal/notify.ts"

/** Options of `createTicketVerifier`, which needs the package `jose`. */
export interface TicketVerifierOptions {
  /** The issuer of accepted tickets, as set at the signer. */
  readonly issuer: string
  /** The audience of accepted tickets, as set at the signer. */
  readonly audience: string
  /** The public key, or several during a rotation. */
  readonly keys: TicketKey | readonly TicketKey[]
  /**
   * The broker users that may send tickets, such as a hub: a stolen ticket is then useless to other users. `"any"` if
   * everybody who reaches the broker can be trusted with tickets.
   */
  readonly senders: string | readonly string[]
  /** Seconds by which clocks may differ: 5. */
  readonly clockTolerance?: number | undefined
  /** Logs why a ticket was refused; its caller does not receive the reason. */
  readonly logger?: Logger | undefined
  readonly clock?: Clock | undefined
}

export const TICKET_VERIFIER_OPTIONS: OptionsSchema<TicketVerifierOptions> = {
  issuer: { required: "text" },
  audience: { required: "text" },
  keys: { secret: "any" },
  senders: { required: { either: ["text", { list: "text" }] } },
  clockTolerance: { min: 0, max: 300 },
  logger: "logger",
  clock: "clock",
}

const USER = "createTicketVerifier"
const MAX_KEYS = 32
/** The number of cached verifications: requests are often sent again, with the same ticket. */
const MAX_VERIFIED = 1000

/** The call that a ticket came with. */
type Subject = Omit<TicketSubject, "timeout">

interface Loaded {
  readonly jose: typeof jose
  readonly keys: readonly LoadedKey[]
}

/** Creates a verifier of tickets, which identifies the callers behind a sender such as a hub. */
export function createTicketVerifier(options: TicketVerifierOptions): TicketVerifier {
  validateOptions(USER, options, TICKET_VERIFIER_OPTIONS)
  const { clockTolerance = 5, clock = systemClock } = options
  const logger = isolatedLogger(options.logger)
  const issuer = checkName(USER, "issuer", options.issuer)
  const audience = checkName(USER, "audience", options.audience)
  const forms = validateKeys(options.keys)
  const senders = validateSenders(options.senders)
  /** Claims of verified tickets, by hash; oldest first. */
  const verified = new Map<string, TicketClaims>()
  let loaded: Promise<Loaded> | undefined

  const open = async (): Promise<Loaded> => {
    const jose = await loadJose(USER)
    const keys = forms.map((key, at) => loadTicketKey(jose, nameOf(at), key, "public"))
    return { jose, keys: await Promise.all(keys) }
  }

  const load = (): Promise<Loaded> =>
    (loaded ??= open().catch((error: unknown) => {
      loaded = undefined
      throw error
    }))

  const payloadOf = async (
    jose: Loaded["jose"],
    ticket: string,
    candidates: readonly LoadedKey[],
  ): Promise<Readonly<Record<string, unknown>>> => {
    let failure: unknown
    for (const { key } of candidates) {
      try {
        const { payload } = await jose.jwtVerify(ticket, key, {
          ...{ algorithms: [ALGORITHM], typ: TICKET_TYPE, issuer, audience, clockTolerance },
          requiredClaims: ["sub", "scp", "op", "rid", "inp", "iat", "nbf", "exp", "jti"],
          currentDate: new Date(wallTimeOf(clock)),
        })
        return payload
      } catch (error) {
        failure = error
        if (reasonOf(error) !== "signature") break
      }
    }
    throw failure
  }

  /** Verifies a ticket and reads its claims; the caller checks its times. */
  const read = async (ticket: string): Promise<TicketClaims> => {
    const { jose, keys } = await load()
    const { alg, typ, kid } = headerOf(jose, ticket)
    if (alg !== ALGORITHM) throw new TicketRefused("algorithm")
    if (typ !== TICKET_TYPE) throw new TicketRefused("type")
    const candidates = candidatesFor(kid, keys)
    if (candidates.length === 0) throw new TicketRefused("unknown key")
    const claims = readClaims(await payloadOf(jose, ticket, candidates))
    if (claims === undefined) throw new TicketRefused("claims")
    const lifetime = claims.exp - claims.nbf
    if (lifetime > (MAX_LIFETIME + SLACK) / 1000) throw new TicketRefused("holds too long")
    return claims
  }

  const remember = (hash: string, claims: TicketClaims): TicketClaims => {
    const [oldest = hash] = verified.keys()
    if (verified.size >= MAX_VERIFIED) verified.delete(oldest)
    verified.set(hash, claims)
    return claims
  }

  const checkTimes = ({ nbf, exp }: TicketClaims, hash: string): void => {
    const now = Math.floor(wallTimeOf(clock) / 1000)
    if (nbf > now + clockTolerance) throw new TicketRefused("not yet valid")
    if (exp > now - clockTolerance) return
    verified.delete(hash)
    throw new TicketRefused("expired")
  }

  const identityOf = async (
    ticket: unknown,
    { operationId, requestId, user, input }: Subject,
  ): Promise<Identity> => {
    if (senders?.has(user ?? "") === false) throw new TicketRefused("sender")
    if (typeof ticket !== "string") throw new TicketRefused("malformed")
    if (ticket.length > MAX_TICKET_LENGTH) throw new TicketRefused("too long")
    const hash = await hashOf(ticket)
    const claims = verified.get(hash) ?? remember(hash, await read(ticket))
    checkTimes(claims, hash)
    if (claims.op !== operationId) throw new TicketRefused("another operation")
    if (claims.rid !== requestId) throw new TicketRefused("another request")
    // An input that cannot be encoded has no hash, and matches no ticket.
    const inp = await inputHash(input).catch(() => undefined)
    if (claims.inp !== inp) throw new TicketRefused("another input")
    return claims.identity
  }

  /** Logs the reason, and returns an error without it: a caller that guesses must learn nothing. */
  const refused = (error: unknown, { operationId, requestId, user }: Subject): CallError => {
    const reason = reasonOf(error)
    if (reason !== undefined) {
      const fields = { reason, operationId, requestId, ...(user !== undefined && { user }) }
      logger.warn("A call was refused: its ticket is not valid", fields)
      const why = "the ticket for its caller is not valid."
      return notCalled("UNAUTHENTICATED", operationId, why, { requestId })
    }
    const cause = error instanceof Error ? error.message : String(error)
    logger.error("Tickets cannot be verified", { reason: cause, operationId, requestId })
    const why = "tickets cannot be verified at the moment."
    return notCalled("UNAVAILABLE", operationId, why, { requestId, retryAfterMs: 5000 })
  }

  return {
    verify: (ticket, subject) =>
      identityOf(ticket, subject).catch((error: unknown) => {
        throw refused(error, subject)
      }),
  }
}

function validateKeys(option: TicketKey | readonly TicketKey[]): readonly KeyForm[] {
  const keys = Array.isArray(option) ? (option as readonly TicketKey[]) : [option as TicketKey]
  if (keys.length === 0 || keys.length > MAX_KEYS) {
    throw new TypeError(`${USER}({ keys }) must be 1 to ${MAX_KEYS} public keys.`)
  }
  return keys.map((key, at) => validateTicketKey(nameOf(at), key, "public"))
}

function validateSenders(option: string | readonly string[]): ReadonlySet<string> | undefined {
  if (option === "any") return undefined
  const senders = typeof option === "string" ? [option] : option
  if (Array.isArray(senders) && senders.length > 0) {
    return new Set(senders.map((sender) => checkName(USER, "senders", sender)))
  }
  throw new TypeError(`${USER}({ senders }) must be users of the broker, such as "hub", or "any".`)
}

function nameOf(at: number): string {
  return `${USER}({ keys }): number ${at + 1}`
}

/** The keys with this id; if there are none, all keys without an id. */
function candidatesFor(kid: string | undefined, keys: readonly LoadedKey[]): readonly LoadedKey[] {
  if (kid === undefined) return keys
  const named = keys.filter(({ name, thumbprint }) => name === kid || thumbprint === kid)
  return named.length > 0 ? named : keys.filter(({ name }) => name === undefined)
}

function headerOf(
  jose: Loaded["jose"],
  ticket: string,
): { readonly alg?: unknown; readonly typ?: unknown; readonly kid?: string | undefined } {
  try {
    return jose.decodeProtectedHeader(ticket)
  } catch {
    throw new TicketRefused("malformed")
  }
}

/** Thrown for an invalid ticket; the message is the reason, for the log. */
class TicketRefused extends Error {}

/** Why `jose` refuses a token, by its error code. */
const BY_CODE: ReadonlyMap<unknown, string> = new Map([
  ["ERR_JOSE_ALG_NOT_ALLOWED", "algorithm"],
  ["ERR_JOSE_NOT_SUPPORTED", "malformed"],
  ["ERR_JWS_INVALID", "malformed"],
  ["ERR_JWT_INVALID", "malformed"],
  ["ERR_JWT_EXPIRED", "expired"],
  ["ERR_JWS_SIGNATURE_VERIFICATION_FAILED", "signature"],
])

const BY_CLAIM: ReadonlyMap<unknown, string> = new Map([
  ["iss", "issuer"],
  ["aud", "audience"],
  ["typ", "type"],
])

/** Why a ticket is invalid; `undefined` for errors with another cause. */
function reasonOf(error: unknown): string | undefined {
  if (error instanceof TicketRefused) return error.message
  const { code, claim, reason } = (error ?? {}) as Readonly<Record<string, unknown>>
  if (code !== "ERR_JWT_CLAIM_VALIDATION_FAILED") return BY_CODE.get(code)
  if (claim === "nbf" && reason === "check_failed") return "not yet valid"
  return BY_CLAIM.get(claim) ?? "claims"
}
