import type { CallError } from "../../errors.ts"
import type { Identity } from "../../types.ts"
import type { Limits, Usage } from "./limits.ts"
import type { HTTPAnswer } from "./model.ts"

/** Who calls, and for how long that holds. */
export interface Caller {
  readonly identity: Identity | undefined
  readonly expiresAt?: number | undefined
}

/** A request that is let in. */
export interface Admitted {
  readonly kind: "admitted"
  readonly identity: Identity | undefined
  /** Epoch milliseconds from which on the identity holds no more. */
  readonly expiresAt: number | undefined
  /** Belong on the answer, whatever it is. */
  readonly headers: Readonly<Record<string, string>>
  /** Pays for calls beyond the one that the request itself is; gives why they may not be. */
  charge(calls?: number): CallError | undefined
  /** Makes the request a stream, which counts among streams; gives why it may not be one. */
  openStream(): CallError | undefined
  /** Whether the request has become a stream. */
  readonly isStream: boolean
  /** The answer is over. Calling it twice is fine. */
  release(): void
}

/** A request that is turned away. */
export interface Refused {
  readonly kind: "refused"
  readonly status: number
  readonly error: CallError
  readonly headers: Readonly<Record<string, string>>
}

/** A request that needs nothing else. */
export interface Answered {
  readonly kind: "answered"
  readonly answer: HTTPAnswer
}

export type Admission = Admitted | Refused | Answered

/** What a request that is let in holds, until it is released. */
export class Entrance implements Admitted {
  readonly kind = "admitted"
  readonly identity: Identity | undefined
  readonly expiresAt: number | undefined
  readonly headers: Readonly<Record<string, string>>
  readonly #limits: Limits
  readonly #usage: Usage
  #holds: "call" | "stream" | "nothing" = "call"

  constructor(
    { identity, expiresAt }: Caller,
    headers: Readonly<Record<string, string>>,
    limits: Limits,
    usage: Usage,
  ) {
    this.identity = identity
    this.expiresAt = expiresAt
    this.headers = headers
    this.#limits = limits
    this.#usage = usage
  }

  charge(calls = 1): CallError | undefined {
    return calls > 0 ? this.#limits.charge(this.#usage, calls) : undefined
  }

  get isStream(): boolean {
    return this.#holds === "stream"
  }

  openStream(): CallError | undefined {
    if (this.#holds !== "call") return undefined
    const full = this.#limits.openStream(this.#usage)
    if (full !== undefined) return full
    this.#usage.running--
    this.#holds = "stream"
    return undefined
  }

  release(): void {
    if (this.#holds === "call") this.#usage.running--
    else if (this.#holds === "stream") this.#usage.streams--
    this.#holds = "nothing"
  }
}
