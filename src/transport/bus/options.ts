import type { OptionRule, OptionsSchema } from "../../internal/options.ts"
import type { Logger } from "../../internal/logger.ts"
import type { Clock } from "../../internal/platform.ts"
import type { Identity } from "../../core/types.ts"
import type { TicketSigner, TicketVerifier } from "./tickets/model.ts"

/** What the transports over brokers have in common. */
export interface BusOptions {
  /**
   * Who this end calls as: its segment of every address, "anyone" when left out. A broker with the permissions
   * of `operations nats-permissions` lets each user use their own only.
   */
  readonly user?: string | undefined
  /** What all addresses begin with, so that systems share a broker without meeting: "operations". */
  readonly prefix?: string | undefined
  /** Serving: identities that callers claim count. For a broker that only your own programs reach. */
  readonly isTrusted?: boolean | undefined
  /**
   * Serving: who a caller is by its segment; anonymous when left out.
   *
   * Give it where the broker enforces segments: on an open one everybody can use any.
   */
  readonly identify?:
    | ((user: string) => Identity | undefined | Promise<Identity | undefined>)
    | undefined
  /** Calling: signs who a call is for, from its `identity`. */
  readonly signer?: TicketSigner | undefined
  /** Serving: reads what a signer wrote. A ticket that does not hold is `UNAUTHENTICATED`. */
  readonly verifier?: TicketVerifier | undefined
  readonly guard?: GuardOptions | undefined
  readonly logger?: Logger | undefined
  readonly clock?: Clock | undefined
}

/** The times and limits of the guard, in milliseconds where nothing else is said. */
export interface GuardOptions {
  /** In which a worker has to accept a call, at the least; 500. It grows with what is observed. */
  readonly acceptMs?: number | undefined
  /** Between two pings to a worker that has calls; 500. */
  readonly pingMs?: number | undefined
  /** After which a worker is lost where nobody listens at its address; 1,500. */
  readonly goneMs?: number | undefined
  /** After which a worker is lost that says nothing; 3,000. */
  readonly silentMs?: number | undefined
  /** After which no first attempts go to a worker that says nothing; 1,200. */
  readonly suspectMs?: number | undefined
  /** How often one call is given to a worker at most; 5. */
  readonly maxAttempts?: number | undefined
  /** Repeats that are paid for before successes earn more; 100. */
  readonly retryBudget?: number | undefined
  /** Serving: after which a caller that says nothing is given up, with all it wanted; 30,000. */
  readonly callerSilentMs?: number | undefined
  /** Serving: bytes of results that are kept until their callers have them; 64 MiB. */
  readonly maxKeptBytes?: number | undefined
}

/** The guard's times and limits, all of them. */
export type GuardSettings = { readonly [TKey in keyof GuardOptions]-?: number }

const DEFAULTS: GuardSettings = {
  acceptMs: 500,
  pingMs: 500,
  goneMs: 1500,
  silentMs: 3000,
  suspectMs: 1200,
  maxAttempts: 5,
  retryBudget: 100,
  callerSilentMs: 30_000,
  maxKeptBytes: 64 * 1024 * 1024,
}

/** The settings with their defaults. */
export function settleGuard(options: GuardOptions = {}): GuardSettings {
  const given = Object.entries(options).filter(([, value]) => value !== undefined)
  return { ...DEFAULTS, ...Object.fromEntries(given) }
}

/** A user or prefix that is safe in any address. */
const SEGMENT: OptionRule = {
  pattern: /^[A-Za-z0-9_-]{1,64}$/,
  expected: '1 to 64 letters, digits, "-" or "_"',
}

const LIMIT: OptionRule = { min: 0 }

export const BUS_OPTIONS: OptionsSchema<BusOptions> = {
  user: SEGMENT,
  prefix: SEGMENT,
  isTrusted: "boolean",
  identify: "function",
  signer: { methods: ["sign"], expected: "what createTicketSigner() returns" },
  verifier: { methods: ["verify"], expected: "what createTicketVerifier() returns" },
  guard: {
    members: {
      acceptMs: LIMIT,
      pingMs: LIMIT,
      goneMs: LIMIT,
      silentMs: LIMIT,
      suspectMs: LIMIT,
      maxAttempts: LIMIT,
      retryBudget: LIMIT,
      callerSilentMs: LIMIT,
      maxKeptBytes: LIMIT,
    } satisfies OptionsSchema<GuardOptions>,
  },
  logger: "logger",
  clock: "clock",
}
