// Runs a call with an idempotency key once; later calls with the key get the same outcome.
import { CallError, isCallError } from "../core/errors.ts"
import type { CallErrorJSON } from "../core/errors.ts"
import type { ResponseEnvelope } from "../core/envelope.ts"
import { decodeEnvelope, encodeEnvelope } from "../core/envelope-codec.ts"
import type { WireEnvelope } from "../core/envelope-codec.ts"
import { isInternal, markInternal } from "../core/error-marks.ts"
import type { MiddlewareCall, MiddlewareFunction, Next } from "../core/middleware.ts"
import type { IdempotencyPolicy, IdempotencyStore } from "../core/resilience.ts"
import { wallTimeOf } from "../internal/clock.ts"
import type { Clock } from "../internal/platform.ts"
import { sha256Hex } from "../internal/sha256.ts"
import { pause } from "../internal/wait.ts"
import { ownerKey } from "./caller-key.ts"
import { jsonKey } from "./json-key.ts"
import { MemoryOutcomes } from "./memory-idempotency-store.ts"
import { refuse } from "./outcome.ts"
import type { SharedCall, SharedCalls } from "./shared-call.ts"

/** The stored entry of a key: the input, and the outcome of the call. */
type Kept = { readonly input: string } & (
  | { readonly state: "running"; readonly until: number }
  | { readonly state: "done"; readonly envelope: unknown }
  | { readonly state: "failed"; readonly error: CallErrorJSON; readonly internal: boolean }
  | { readonly state: "unknown" }
)

const DAY_MS = 86_400_000
/** Maximum duration of a call without a deadline. */
const MAX_RUN_MS = 600_000
/** Added to the end of a call, for clocks of other processes that differ. */
const GRACE_MS = 5_000
/** Interval at which the outcome of another process is requested. */
const POLL_MS = 100

/**
 * Errors after which the call may or may not have had its effect. For codes of refused calls, this is about an
 * earlier attempt.
 */
const IN_DOUBT: ReadonlySet<string> = new Set([
  ...["TIMEOUT", "ABORTED", "WORKER_LOST", "DATA_LOSS", "UNAVAILABLE"],
  ...["OVERLOADED", "RATE_LIMITED", "CIRCUIT_OPEN"],
])

export class Idempotency {
  readonly #ttl: number
  readonly #store: IdempotencyStore
  readonly #clock: Clock
  readonly #shared: SharedCalls
  readonly #run: MiddlewareFunction
  readonly #running = new Map<string, SharedCall<ResponseEnvelope>>()

  constructor(
    { ttl = DAY_MS, store }: IdempotencyPolicy,
    { clock, shared }: { readonly clock: Clock; readonly shared: SharedCalls },
    run: MiddlewareFunction,
  ) {
    this.#shared = shared
    this.#ttl = ttl
    this.#store = store ?? new MemoryOutcomes(clock)
    this.#clock = clock
    this.#run = run
  }

  readonly call = (call: MiddlewareCall, next: Next): Promise<ResponseEnvelope> =>
    call.idempotencyKey === undefined
      ? this.#run(call, next)
      : this.#once(call, next, call.idempotencyKey)

  async #once(call: MiddlewareCall, next: Next, idempotencyKey: string): Promise<ResponseEnvelope> {
    const { operationId } = call
    const text = jsonKey(call.input)
    if (text === undefined) throw notComparable(operationId)
    const input = sha256Hex(text)
    // Hashed: neither keys nor identities of callers are stored.
    const key = sha256Hex(JSON.stringify([ownerKey(call), operationId, idempotencyKey]))
    const timeout = Math.min(call.remainingMs, MAX_RUN_MS)
    const until = wallTimeOf(this.#clock) + timeout + GRACE_MS
    const started: Kept = { input, state: "running", until }
    for (;;) {
      const kept = await this.#begin(call, key, started)
      if (kept === undefined) break
      const outcome = this.#outcomeOf(call, key, input, kept)
      if (outcome !== undefined) return replayed(await outcome)
      // Another process runs it.
      await pause(POLL_MS, { clock: this.#clock, signal: call.signal })
      if (call.signal.aborted) throw inDoubt(call)
    }
    const shared = this.#shared.start(call, next, timeout, (detached, attempt) =>
      this.#runOnce(detached, attempt, key, input),
    )
    this.#running.set(key, shared)
    return await shared.join(call, { endsWithLast: false })
  }

  async #runOnce(
    call: MiddlewareCall,
    next: Next,
    key: string,
    input: string,
  ): Promise<ResponseEnvelope> {
    try {
      const envelope = await this.#run(call, next)
      const wire = encoded(envelope)
      const isKept = wire !== undefined
      await this.#finish(
        call,
        key,
        isKept ? { input, state: "done", envelope: wire } : { input, state: "unknown" },
      )
      return envelope
    } catch (thrown) {
      if (!isCallError(thrown) || !thrown.mayHaveExecuted || thrown.retryable) {
        await this.#forget(call, key)
      } else if (IN_DOUBT.has(thrown.code)) {
        await this.#finish(call, key, { input, state: "unknown" })
      } else {
        const [error, internal] = [thrown.toJSON(), isInternal(thrown)]
        await this.#finish(call, key, { input, state: "failed", error, internal })
      }
      throw thrown
    } finally {
      this.#running.delete(key)
    }
  }

  /** The outcome for a later caller; `undefined` while it is not known here. */
  #outcomeOf(
    call: MiddlewareCall,
    key: string,
    input: string,
    kept: Kept,
  ): ResponseEnvelope | Promise<ResponseEnvelope> | undefined {
    if (kept.input !== input) throw reused(call)
    switch (kept.state) {
      case "done":
        return decodeEnvelope(kept.envelope)
      case "failed":
        throw restoredError(kept)
      case "unknown":
        throw inDoubt(call)
      case "running":
        if (wallTimeOf(this.#clock) > kept.until) throw inDoubt(call)
        return this.#running.get(key)?.join(call, { endsWithLast: false })
    }
  }

  async #begin(call: MiddlewareCall, key: string, value: Kept): Promise<Kept | undefined> {
    try {
      const kept = await this.#store.begin(key, JSON.stringify(value), this.#ttl)
      return kept === undefined ? undefined : (JSON.parse(kept) as Kept)
    } catch (cause) {
      throw refuse(
        "UNAVAILABLE",
        `"${call.operationId}" was not called: the store of its idempotency keys does not answer.`,
        { operationId: call.operationId, cause },
      )
    }
  }

  async #finish(call: MiddlewareCall, key: string, value: Kept): Promise<void> {
    await this.#write(call, () => this.#store.finish(key, JSON.stringify(value), this.#ttl))
  }

  async #forget(call: MiddlewareCall, key: string): Promise<void> {
    await this.#write(call, () => this.#store.forget(key))
  }

  /**
   * Stores an outcome. If that fails, the caller still gets the outcome, and the state of the key is unknown.
   */
  async #write(call: MiddlewareCall, write: () => unknown): Promise<void> {
    try {
      await write()
    } catch (error) {
      const { operationId } = call
      call.log.warn("The outcome of an idempotency key could not be stored", { operationId, error })
    }
  }
}

/** An envelope for JSON; `undefined` for a result that has no JSON form. */
function encoded(envelope: ResponseEnvelope): WireEnvelope | undefined {
  try {
    return encodeEnvelope(envelope)
  } catch {
    return undefined
  }
}

function restoredError({ error, internal }: Kept & { readonly state: "failed" }): CallError {
  const restored = new CallError(error.code, error.message, error)
  return internal ? markInternal(restored) : restored
}

function replayed({ data, meta }: ResponseEnvelope): ResponseEnvelope {
  return { data, meta: { ...meta, replayed: true } }
}

function reused({ operationId }: MiddlewareCall): CallError {
  return refuse(
    "CONFLICT",
    `The idempotency key of this call of "${operationId}" was used with another input. Use a new key for another call.`,
    { operationId, details: { reason: "IDEMPOTENCY_KEY_REUSED" } },
  )
}

function inDoubt({ operationId }: MiddlewareCall): CallError {
  return refuse(
    "CONFLICT",
    `An earlier call of "${operationId}" with this idempotency key ended without a known outcome. Find out whether it had its effect before you call again.`,
    { operationId, mayHaveExecuted: true, details: { reason: "IDEMPOTENCY_IN_DOUBT" } },
  )
}

function notComparable(operationId: string): CallError {
  return refuse(
    "VALIDATION_ERROR",
    `"${operationId}" was called with an idempotency key, but its input is not JSON and cannot be compared.`,
    { operationId },
  )
}
