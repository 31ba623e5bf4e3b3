// Runs a call with an idempotency key once; later calls with the key get the same outcome.
import { CallError, isCallError, type CallErrorJSON } from "../core/errors.ts"
import type { ResponseEnvelope } from "../core/envelope.ts"
import { decodeEnvelope, encodeEnvelope } from "../core/envelope-codec.ts"
import { abandonedBy, isInternal, markInternal } from "../core/error-marks.ts"
import type { MiddlewareCall, MiddlewareFunction, Next } from "../core/middleware.ts"
import type { IdempotencyPolicy, IdempotencyStore } from "../core/resilience.ts"
import { wallTimeOf } from "../internal/clock.ts"
import type { Clock } from "../internal/platform.ts"
import { sha256Hex } from "../internal/sha256.ts"
import { pause } from "../internal/wait.ts"
import { ownerKey } from "./caller-key.ts"
import { jsonKey } from "../internal/json-key.ts"
import type { KnownKeys, Replayable } from "./known-keys.ts"
import { refuse } from "./outcome.ts"
import type { SharedCalls } from "./shared-call.ts"

/** The stored entry of a key: the input, and the outcome of the call. A result without a JSON form is not kept. */
type Kept = { readonly input: string } & (
  | { readonly state: "running"; readonly until: number; readonly owner: string }
  | { readonly state: "done"; readonly envelope?: unknown }
  | { readonly state: "failed"; readonly error: CallErrorJSON; readonly internal: boolean }
  | { readonly state: "unknown" }
)

/** Whose call it is, the hashes of its key and of its input, and its time limit in milliseconds, independent of its callers. */
type Keyed = Readonly<Record<"caller" | "key" | "input", string> & { timeout: number }>

interface IdempotencyHost {
  readonly clock: Clock
  readonly shared: SharedCalls
  readonly keys: KnownKeys
  /** Milliseconds that a call of the operation may take by default. */
  readonly timeout: number
  readonly toEnvelope: (result: unknown) => ResponseEnvelope
}

const DAY_MS = 86_400_000
/** Maximum duration of a call. */
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
  readonly #store: IdempotencyStore | undefined
  readonly #host: IdempotencyHost
  readonly #run: MiddlewareFunction

  constructor(
    { ttl = DAY_MS, store }: IdempotencyPolicy,
    host: IdempotencyHost,
    run: MiddlewareFunction,
  ) {
    this.#ttl = ttl
    this.#store = store
    this.#host = host
    this.#run = run
  }

  readonly call = (call: MiddlewareCall, next: Next): Promise<ResponseEnvelope> =>
    call.idempotencyKey === undefined
      ? this.#run(call, next)
      : this.#once(call, next, call.idempotencyKey)

  async #once(call: MiddlewareCall, next: Next, idempotencyKey: string): Promise<ResponseEnvelope> {
    const { operationId, identity, requestId, signal } = call
    const { keys, shared } = this.#host
    const text = jsonKey(call.input)
    if (text === undefined) throw notComparable(operationId)
    const input = sha256Hex(text)
    const caller = identity?.id ?? ""
    const key = storedKey(call, idempotencyKey)
    const known = keys.get(caller, key)
    if (known !== undefined) {
      if (known.input !== input) throw conflict(call, "KEY_REUSED")
      if (known.running === undefined) return replayed(outcomeOf(call, JSON.parse(known.value)))
      if (call.isUnder?.(known.requestId) === true) throw conflict(call, "KEY_RUNNING")
      return replayed((await known.running.join(call, { endsWithLast: false })).envelope)
    }
    if (!keys.makeRoom(caller)) throw tooMany(call)
    // The caller left while the policies were loaded.
    if (signal.aborted) throw signal.reason
    const timeout = Math.min(Math.max(this.#host.timeout, call.remainingMs), MAX_RUN_MS)
    const running = shared.start(call, next, timeout, (detached, attempt) =>
      this.#outcome(detached, attempt, { caller, key, input, timeout }),
    )
    // It cannot have an outcome yet, because nothing in it finishes synchronously.
    keys.set(caller, key, { input, running, requestId })
    const { envelope, isReplay } = await running.join(call, { endsWithLast: false })
    return isReplay ? replayed(envelope) : envelope
  }

  /** The outcome for all callers of this process: that of another process, or of a call that is made now. */
  async #outcome(call: MiddlewareCall, next: Next, keyed: Keyed): Promise<Replayable> {
    const { clock, keys } = this.#host
    try {
      for (;;) {
        const kept = await this.#begin(call, keyed)
        if (kept === undefined) break
        if (kept.input !== keyed.input) throw conflict(call, "KEY_REUSED")
        if (kept.state !== "running") return { envelope: outcomeOf(call, kept), isReplay: true }
        if (wallTimeOf(clock) > kept.until) throw conflict(call, "IN_DOUBT")
        await pause(POLL_MS, { clock, signal: call.signal })
        if (call.signal.aborted) throw conflict(call, "IN_DOUBT")
      }
    } catch (thrown) {
      keys.delete(keyed.caller, keyed.key)
      throw thrown
    }
    return { envelope: await this.#runOnce(call, next, keyed), isReplay: false }
  }

  async #runOnce(call: MiddlewareCall, next: Next, keyed: Keyed): Promise<ResponseEnvelope> {
    const { input } = keyed
    try {
      const envelope = await this.#run(call, next)
      await this.#finish(call, keyed, { input, state: "done", envelope })
      return envelope
    } catch (thrown) {
      if (!isCallError(thrown) || !thrown.mayHaveExecuted || thrown.retryable) {
        this.#host.keys.delete(keyed.caller, keyed.key)
        await this.#write(call, () => this.#store?.forget(keyed.key))
      } else if (IN_DOUBT.has(thrown.code)) {
        await this.#finish(call, keyed, { input, state: "unknown" })
        // A handler that goes on after its time may still succeed.
        abandonedBy(thrown)
          ?.then((result) => this.#finishLate(call, keyed, this.#host.toEnvelope(result)))
          .catch(() => undefined)
      } else {
        const [error, internal] = [thrown.toJSON(), isInternal(thrown)]
        await this.#finish(call, keyed, { input, state: "failed", error, internal })
      }
      throw thrown
    }
  }

  async #finishLate(call: MiddlewareCall, keyed: Keyed, envelope: ResponseEnvelope): Promise<void> {
    const known = this.#host.keys.get(keyed.caller, keyed.key)
    // Its time may be over, and another call may run.
    if (known === undefined || known.running !== undefined) return
    await this.#finish(call, keyed, { input: keyed.input, state: "done", envelope })
  }

  async #begin(call: MiddlewareCall, { key, input, timeout }: Keyed): Promise<Kept | undefined> {
    const limit = timeout + GRACE_MS
    const until = wallTimeOf(this.#host.clock) + limit
    try {
      const owner = crypto.randomUUID()
      const value = textOf({ input, state: "running", until, owner })
      const kept = await this.#store?.begin(key, value, limit + this.#ttl)
      return kept === undefined ? undefined : (JSON.parse(kept) as Kept)
    } catch (cause) {
      throw refuse(
        "UNAVAILABLE",
        `"${call.operationId}" was not called: the store of its idempotency keys does not answer.`,
        { operationId: call.operationId, cause },
      )
    }
  }

  /** Keeps an outcome here, too: the store may lose it. */
  async #finish(call: MiddlewareCall, { caller, key, input }: Keyed, kept: Kept): Promise<void> {
    const { keys, clock } = this.#host
    const value = textOf(kept)
    keys.set(caller, key, { input, value, until: clock.now() + this.#ttl })
    await this.#write(call, async () => {
      if ((await this.#store?.finish(key, value, this.#ttl)) !== false) return
      const message =
        "The store of idempotency keys lost a key while its call ran; it may run twice"
      call.log.warn(message, { operationId: call.operationId })
    })
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

/** The key of a call as it is stored: hashed, so that neither keys nor identities of callers are. */
export function storedKey(call: MiddlewareCall, idempotencyKey: string): string {
  return sha256Hex(JSON.stringify([ownerKey(call), call.operationId, idempotencyKey]))
}

/** An entry as text; that of a success without its result if that cannot be restored from JSON. */
function textOf(kept: Kept): string {
  try {
    const wire = kept.state === "done" && encodeEnvelope(kept.envelope as ResponseEnvelope)
    return JSON.stringify(wire ? { ...kept, envelope: wire } : kept, refuseCollections)
  } catch {
    return JSON.stringify({ ...kept, envelope: undefined })
  }
}

/** Maps, sets and streams would become `{}`. */
function refuseCollections(_name: string, value: unknown): unknown {
  const isCollection =
    typeof value === "object" &&
    value !== null &&
    !Array.isArray(value) &&
    (Symbol.iterator in value || Symbol.asyncIterator in value || "getReader" in value)
  if (isCollection) throw new TypeError("It has no JSON form.")
  return value
}

/** The outcome for a later caller. */
function outcomeOf(call: MiddlewareCall, kept: Kept): ResponseEnvelope {
  switch (kept.state) {
    case "done":
      if (kept.envelope === undefined) throw conflict(call, "RESULT_NOT_KEPT")
      return decodeEnvelope(kept.envelope)
    case "failed":
      throw restoredError(kept)
    case "unknown":
    case "running":
      throw conflict(call, "IN_DOUBT")
  }
}

function restoredError({ error, internal }: Kept & { readonly state: "failed" }): CallError {
  const restored = new CallError(error.code, error.message, error)
  return internal ? markInternal(restored) : restored
}

function replayed({ data, meta }: ResponseEnvelope): ResponseEnvelope {
  return { data, meta: { ...meta, replayed: true } }
}

/** Conflicts with an earlier call: whether that one may have had its effect, and the words. */
const CONFLICTS = {
  KEY_REUSED: [
    false,
    "The idempotency key of this call of %s was used with another input. Use a new key for another call.",
  ],
  KEY_RUNNING: [
    false,
    "%s was called with the idempotency key of a call that it is part of, and would wait for itself. Use another key, or none.",
  ],
  IN_DOUBT: [
    true,
    "An earlier call of %s with this idempotency key ended without a known outcome. Find out whether it had its effect before you call again.",
  ],
  RESULT_NOT_KEPT: [
    true,
    "An earlier call of %s with this idempotency key succeeded, but its result has no JSON form and was not kept. Do not call again with another key.",
  ],
} as const

function conflict({ operationId }: MiddlewareCall, reason: keyof typeof CONFLICTS): CallError {
  const [mayHaveExecuted, words] = CONFLICTS[reason]
  const details = { reason: `IDEMPOTENCY_${reason}` }
  const message = words.replace("%s", () => `"${operationId}"`)
  return refuse("CONFLICT", message, { operationId, mayHaveExecuted, details })
}

function tooMany({ operationId }: MiddlewareCall): CallError {
  return refuse(
    "OVERLOADED",
    `"${operationId}" was not called: too many calls of this caller with idempotency keys run. Wait until some have ended.`,
    { operationId, details: { reason: "IDEMPOTENCY_KEYS_FULL" } },
  )
}

function notComparable(operationId: string): CallError {
  return refuse(
    "VALIDATION_ERROR",
    `"${operationId}" was called with an idempotency key, but its input is not JSON and cannot be compared.`,
    { operationId },
  )
}
