import { withoutUndefined } from "../../internal/own.ts"
import type { OptionRule, OptionsSchema } from "../../internal/options.ts"
import type { Logger } from "../../internal/logger.ts"
import type { Clock } from "../../internal/platform.ts"
import type { Identity } from "../../core/types.ts"
import type { TicketSigner, TicketVerifier } from "./tickets/model.ts"
import type { Bus } from "./types.ts"

/** Options that the transports over brokers share. */
export interface BusOptions {
  /**
   * The user that this end calls as, which is a segment of every address; "anyone" when left out. A broker with the
   * permissions of docs/guides/broker-permissions.md restricts each user to their own segment.
   */
  readonly user?: string | undefined
  /** The prefix of all addresses, which separates systems that share a broker: "operations". */
  readonly prefix?: string | undefined
  /** Serving: accept identities that callers claim. For a broker that only your own programs can reach. */
  readonly isTrusted?: boolean | undefined
  /**
   * Serving: identifies a caller by its user; callers are anonymous when left out.
   *
   * Use it only if the broker enforces users: on an open broker anyone can claim any user.
   */
  readonly identify?:
    | ((user: string) => Identity | undefined | Promise<Identity | undefined>)
    | undefined
  /** Calling: signs the `identity` of each call as a ticket. */
  readonly signer?: TicketSigner | undefined
  /** Serving: verifies tickets. A call with an invalid ticket is `UNAUTHENTICATED`. */
  readonly verifier?: TicketVerifier | undefined
  readonly guard?: GuardOptions | undefined
  readonly logger?: Logger | undefined
  readonly clock?: Clock | undefined
}

/** Times and limits of the delivery guarantees; milliseconds unless stated otherwise. */
export interface GuardOptions {
  /** The minimum time that a worker has to accept a call; 500. It grows with the observed latency. */
  readonly acceptMs?: number | undefined
  /** The interval of pings to a worker that has calls; 500. */
  readonly pingMs?: number | undefined
  /** The time until a worker is lost when nothing listens at its address; 1,500. */
  readonly goneMs?: number | undefined
  /** The time until a silent worker is lost; 3,000. */
  readonly silentMs?: number | undefined
  /** The time until a silent worker gets no new calls; 1,200. */
  readonly suspectMs?: number | undefined
  /** The maximum number of attempts per call; 5. */
  readonly maxAttempts?: number | undefined
  /** Retries that are available at first; ten successful calls earn one; 100. Without any left, ten per second
   * are allowed. 0 for no retries. */
  readonly retryBudget?: number | undefined
  /** Serving: the time until a silent caller is given up, with all of its calls; 30,000. */
  readonly callerSilentMs?: number | undefined
  /** Serving: bytes of results that are kept until their callers confirm them; 64 MiB. */
  readonly maxKeptBytes?: number | undefined
}

/** `GuardOptions` with all defaults filled in. */
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

/** What all parts of both ends of a transport use. */
export interface BusContext extends Pick<BusOptions, "signer" | "identify" | "verifier"> {
  readonly bus: Bus
  readonly settings: GuardSettings
  readonly clock: Clock
  readonly logger: Logger
  /** A number from 0 to 1, for choices, delays and the keys of grants; tests replace it. */
  readonly random?: (() => number) | undefined
}

/** Fills in the defaults. */
export function resolveGuardSettings(options: GuardOptions = {}): GuardSettings {
  return { ...DEFAULTS, ...withoutUndefined(options) }
}

/** A user or prefix that is safe in any address. */
const SEGMENT: OptionRule = {
  pattern: /^[A-Za-z0-9_-]{1,64}$/,
  expected: '1 to 64 letters, digits, "-" or "_"',
}

export const BUS_OPTIONS: OptionsSchema<BusOptions> = {
  user: SEGMENT,
  prefix: SEGMENT,
  isTrusted: "boolean",
  identify: "function",
  signer: { methods: ["sign"], expected: "what createTicketSigner() returns" },
  verifier: { methods: ["verify"], expected: "what createTicketVerifier() returns" },
  guard: {
    members: Object.fromEntries(
      Object.keys(DEFAULTS).map((name) => [name, { min: 0 }]),
    ) as unknown as OptionsSchema<GuardOptions>,
  },
  logger: "logger",
  clock: "clock",
}
