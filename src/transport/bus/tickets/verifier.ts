import type * as jose from "jose"
import { refusal } from "../../../core/errors.ts"
import type { CallError } from "../../../core/errors.ts"
import type { KeyForm } from "../../../internal/jose-keys.ts"
import { systemClock, wallTimeOf } from "../../../internal/clock.ts"
import { validateOptions } from "../../../internal/options.ts"
import type { OptionsSchema } from "../../../internal/options.ts"
import { importPeer } from "../../../internal/import-peer.ts"
import type { Logger } from "../../../internal/logger.ts"
import type { Clock } from "../../../internal/platform.ts"
import type { Identity } from "../../../core/types.ts"
import {
  checkName,
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
import { reasonOf, TicketRefused } from "./reasons.ts"
import type { TicketSubject, TicketVerifier } from "./model.ts"
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

/** Creates a verifier of tickets, which identifies the callers behind a sender such as a hub. */
export function createTicketVerifier(options: TicketVerifierOptions): TicketVerifier {
  validateOptions(USER, options, TICKET_VERIFIER_OPTIONS)
  return new Verifier(options)
}

interface Loaded {
  readonly jose: typeof jose
  readonly keys: readonly LoadedKey[]
}

class Verifier implements TicketVerifier {
  readonly #issuer: string
  readonly #audience: string
  readonly #keys: readonly KeyForm[]
  readonly #senders: ReadonlySet<string> | undefined
  readonly #clockTolerance: number
  readonly #logger: Logger
  readonly #clock: Clock
  /** Claims of verified tickets, by hash; oldest first. */
  readonly #verified = new Map<string, TicketClaims>()
  #loaded: Promise<Loaded> | undefined

  constructor(options: TicketVerifierOptions) {
    const { clockTolerance = 5, clock = systemClock } = options
    const logger = isolatedLogger(options.logger)
    this.#issuer = checkName(USER, "issuer", options.issuer)
    this.#audience = checkName(USER, "audience", options.audience)
    this.#keys = validateKeys(options.keys)
    this.#senders = validateSenders(options.senders)
    this.#clockTolerance = clockTolerance
    this.#logger = logger
    this.#clock = clock
  }

  async verify(ticket: string, subject: Omit<TicketSubject, "timeout">): Promise<Identity> {
    try {
      return await this.#identityOf(ticket, subject)
    } catch (error) {
      throw this.#refused(error, subject)
    }
  }

  async #identityOf(
    ticket: unknown,
    { operationId, requestId, user, input }: Omit<TicketSubject, "timeout">,
  ): Promise<Identity> {
    if (this.#senders?.has(user ?? "") === false) throw new TicketRefused("sender")
    if (typeof ticket !== "string") throw new TicketRefused("malformed")
    if (ticket.length > MAX_TICKET_LENGTH) throw new TicketRefused("too long")
    const hash = await hashOf(ticket)
    const claims = this.#verified.get(hash) ?? this.#remember(hash, await this.#read(ticket))
    this.#checkTimes(claims, hash)
    if (claims.op !== operationId) throw new TicketRefused("another operation")
    if (claims.rid !== requestId) throw new TicketRefused("another request")
    // An input that cannot be encoded has no hash, and matches no ticket.
    const inp = await inputHash(input).catch(() => undefined)
    if (claims.inp !== inp) throw new TicketRefused("another input")
    return claims.identity
  }

  /** Verifies a ticket and reads its claims; the caller checks its times. */
  async #read(ticket: string): Promise<TicketClaims> {
    const { jose, keys } = await this.#load()
    const { alg, typ, kid } = headerOf(jose, ticket)
    if (alg !== ALGORITHM) throw new TicketRefused("algorithm")
    if (typ !== TICKET_TYPE) throw new TicketRefused("type")
    const candidates = candidatesFor(kid, keys)
    if (candidates.length === 0) throw new TicketRefused("unknown key")
    const claims = readClaims(await this.#payloadOf(jose, ticket, candidates))
    if (claims === undefined) throw new TicketRefused("claims")
    if (claims.exp - claims.nbf > (MAX_LIFETIME + SLACK) / 1000) {
      throw new TicketRefused("holds too long")
    }
    return claims
  }

  async #payloadOf(
    jose: Loaded["jose"],
    ticket: string,
    candidates: readonly LoadedKey[],
  ): Promise<Readonly<Record<string, unknown>>> {
    let failure: unknown
    for (const { key } of candidates) {
      try {
        const { payload } = await jose.jwtVerify(ticket, key, {
          algorithms: [ALGORITHM],
          typ: TICKET_TYPE,
          issuer: this.#issuer,
          audience: this.#audience,
          requiredClaims: ["sub", "scp", "op", "rid", "inp", "iat", "nbf", "exp", "jti"],
          clockTolerance: this.#clockTolerance,
          currentDate: new Date(wallTimeOf(this.#clock)),
        })
        return payload
      } catch (error) {
        failure = error
        if (reasonOf(error) !== "signature") break
      }
    }
    throw failure
  }

  #checkTimes({ nbf, exp }: TicketClaims, hash: string): void {
    const now = Math.floor(wallTimeOf(this.#clock) / 1000)
    if (nbf > now + this.#clockTolerance) throw new TicketRefused("not yet valid")
    if (exp > now - this.#clockTolerance) return
    this.#verified.delete(hash)
    throw new TicketRefused("expired")
  }

  #remember(hash: string, claims: TicketClaims): TicketClaims {
    if (this.#verified.size >= MAX_VERIFIED) {
      const [oldest = hash] = this.#verified.keys()
      this.#verified.delete(oldest)
    }
    this.#verified.set(hash, claims)
    return claims
  }

  #load(): Promise<Loaded> {
    this.#loaded ??= this.#open().catch((error: unknown) => {
      this.#loaded = undefined
      throw error
    })
    return this.#loaded
  }

  async #open(): Promise<Loaded> {
    const jose = await importPeer(USER, "jose", () => import("jose"))
    const keys = this.#keys.map((key, at) => loadTicketKey(jose, nameOf(at), key, "public"))
    return { jose, keys: await Promise.all(keys) }
  }

  /** Logs the reason, and returns an error without it: a caller that guesses must learn nothing. */
  #refused(error: unknown, subject: Omit<TicketSubject, "timeout">): CallError {
    const { operationId, requestId, user } = subject
    const reason = reasonOf(error)
    if (reason !== undefined) {
      const fields = { reason, operationId, requestId, ...(user !== undefined && { user }) }
      this.#logger.warn("A call was refused: its ticket is not valid", fields)
      const message = `"${operationId}" was not called: the ticket for its caller is not valid.`
      return refusal("UNAUTHENTICATED", message, { operationId, requestId })
    }
    const why = error instanceof Error ? error.message : String(error)
    this.#logger.error("Tickets cannot be verified", { reason: why, operationId, requestId })
    const message = `"${operationId}" was not called: tickets cannot be verified at the moment.`
    return refusal("UNAVAILABLE", message, { operationId, requestId, retryAfterMs: 5000 })
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

async function hashOf(ticket: string): Promise<string> {
  const bytes = new TextEncoder().encode(ticket)
  const hash = new Uint8Array(await globalThis.crypto.subtle.digest("SHA-256", bytes))
  return String.fromCharCode(...hash)
}
