// Answers from memory, and runs the same calls at the same time only once.
import { isCallError } from "../core/errors.ts"
import type { ResponseEnvelope } from "../core/envelope.ts"
import type { MiddlewareCall, MiddlewareFunction, Next, Revalidation } from "../core/middleware.ts"
import type { CachePolicy } from "../core/resilience.ts"
import { isPlainObject, isRecord } from "../internal/guards.ts"
import type { Clock } from "../internal/platform.ts"
import { lifetimeByHeaders, lifetimeOf, type Lifetime } from "./cache-control.ts"
import { CacheStore, type CacheEntry, type CachePool } from "./cache-store.ts"
import { jsonKey } from "../internal/json-key.ts"
import { viewerKey } from "./caller-key.ts"
import { isFailure, statusOf } from "./outcome.ts"
import type { SharedCall, SharedCalls } from "./shared-call.ts"

type Headers = Readonly<Record<string, string>>

const HIT = { result: "hit" }
const STALE = { result: "stale" }
const JOINED = { result: "joined" }
const MISS = { result: "miss" }
const MAX_RESULTS = 1_000

/** Dependencies that the caches of a registry share. */
export interface CacheHost {
  readonly clock: Clock
  readonly pool: CachePool
  readonly shared: SharedCalls
}

/** The cache of one operation; a replaced operation has another one. */
export class Cache {
  readonly #policy: CachePolicy
  readonly #clock: Clock
  readonly #shared: SharedCalls
  readonly #run: MiddlewareFunction
  readonly #store: CacheStore
  /** Running loads. */
  #loading = new Map<string, SharedCall<Loaded>>()
  readonly counts = { hits: 0, stale: 0, joined: 0, misses: 0 }

  constructor(policy: CachePolicy, { clock, pool, shared }: CacheHost, run: MiddlewareFunction) {
    this.#policy = policy
    this.#clock = clock
    this.#shared = shared
    this.#run = run
    this.#store = new CacheStore(policy.max ?? MAX_RESULTS, pool)
  }

  get size(): number {
    return this.#store.size
  }

  get bytes(): number {
    return this.#store.bytes
  }

  readonly call = (call: MiddlewareCall, next: Next): Promise<ResponseEnvelope> => {
    const wish = call.policy?.cache
    const key = wish === "skip" ? undefined : this.#keyOf(call)
    if (key === undefined) return this.#run(call, next)
    const entry = this.#store.get(key)
    if (entry !== undefined && wish !== "refresh") {
      const now = this.#clock.now()
      if (now < entry.freshUntil) {
        this.counts.hits++
        call.event?.("operations.cache", HIT)
        return Promise.resolve(answer(entry, now, "fresh"))
      }
      if (now < entry.staleUntil) {
        this.counts.stale++
        call.event?.("operations.cache", STALE)
        if (!this.#loading.has(flightKey(call, key))) this.#load(call, next, key, entry)
        return Promise.resolve(answer(entry, now, "stale"))
      }
    }
    return this.#loaded(call, next, key, entry)
  }

  /** Drops all results, also those that are being loaded: they may be from before a change. */
  clear(): void {
    this.#store.clear()
    this.#loading = new Map()
  }

  close(): void {
    this.clear()
    this.#store.close()
  }

  async #loaded(
    call: MiddlewareCall,
    next: Next,
    key: string,
    entry: CacheEntry | undefined,
  ): Promise<ResponseEnvelope> {
    const running = this.#loading.get(flightKey(call, key))
    if (running === undefined) this.counts.misses++
    else this.counts.joined++
    call.event?.("operations.cache", running === undefined ? MISS : JOINED)
    const load = running ?? this.#load(call, next, key, entry)
    try {
      const { envelope, isShareable } = await load.join(call, { endsWithLast: true })
      if (isShareable || running === undefined) return envelope
      return await this.#run(call, next)
    } catch (thrown) {
      const now = this.#clock.now()
      if (entry === undefined || now >= entry.errorUntil || !isFailure(thrown)) throw thrown
      this.counts.stale++
      call.event?.("operations.cache", STALE)
      return answer(entry, now, "stale")
    }
  }

  /** Starts loading a result. Loading continues when this caller leaves. */
  #load(
    call: MiddlewareCall,
    next: Next,
    key: string,
    entry: CacheEntry | undefined,
  ): SharedCall<Loaded> {
    const loading = this.#loading
    const flight = flightKey(call, key)
    const revalidate = entry?.validators
    const shared = this.#shared.start(
      call,
      next,
      Infinity,
      async (detached, attempt): Promise<Loaded> => {
        try {
          const envelope = await this.#run(
            detached,
            revalidate === undefined ? attempt : (change) => attempt({ ...change, revalidate }),
          )
          // The result of a call that has asked depends on the answer.
          return this.#keep(key, envelope, shared.hasAsked ? undefined : loading)
        } catch (thrown) {
          const renewed = entry === undefined ? undefined : this.#renew(key, entry, thrown, loading)
          if (renewed === undefined) throw thrown
          return renewed
        } finally {
          loading.delete(flight)
        }
      },
    )
    // It cannot have settled yet, because nothing above finishes synchronously.
    loading.set(flight, shared)
    return shared
  }

  #keep(key: string, envelope: ResponseEnvelope, loading: object | undefined): Loaded {
    const frozen = freezeData(envelope.data)
    const meta = freezeData(envelope.meta)
    if (frozen === undefined || meta === undefined) return { envelope, isShareable: false }
    const kept: ResponseEnvelope = Object.freeze({
      data: frozen.data,
      meta: meta.data as ResponseEnvelope["meta"],
    })
    // What a peer gave instead of a result: it is not kept, and an older result stays.
    if (envelope.meta.fallback === true || envelope.meta.cache?.state === "stale") {
      return { envelope: kept, isShareable: true }
    }
    const lifetime = lifetimeOf(envelope, this.#policy)
    // Another map: the cache was cleared while this was loaded.
    if (lifetime !== undefined && loading === this.#loading) {
      const size = frozen.size + meta.size
      this.#store.set(key, this.#entryOf(kept, size, lifetime, validatorsOf(kept)))
    } else if (loading === this.#loading) this.#store.delete(key)
    return { envelope: kept, isShareable: true }
  }

  /** Makes an entry fresh again if the server reported that it has not changed. */
  #renew(
    key: string,
    { envelope, size, validators }: CacheEntry,
    thrown: unknown,
    loading: Map<string, unknown>,
  ): Loaded | undefined {
    if (!isCallError(thrown) || statusOf(thrown) !== 304) return undefined
    const headers = isRecord(thrown.details) ? thrown.details["headers"] : undefined
    const lifetime = lifetimeByHeaders(isRecord(headers) ? (headers as Headers) : {}, this.#policy)
    if (lifetime !== undefined && loading === this.#loading) {
      this.#store.set(key, this.#entryOf(envelope, size, lifetime, validators))
    }
    return { envelope, isShareable: true }
  }

  #entryOf(
    envelope: ResponseEnvelope,
    size: number,
    { ttl, stale, staleIfError }: Lifetime,
    validators: Revalidation | undefined,
  ): CacheEntry {
    const storedAt = this.#clock.now()
    const freshUntil = storedAt + ttl
    return {
      ...{ envelope, size, storedAt, freshUntil, validators },
      staleUntil: freshUntil + stale,
      errorUntil: freshUntil + staleIfError,
    }
  }

  /** The caller and the input; `undefined` if the call cannot be cached. */
  #keyOf(call: MiddlewareCall): string | undefined {
    const input = jsonKey(call.input)
    if (input === undefined) return undefined
    const { vary = "identity" } = this.#policy
    if (vary === "none") return input
    return `${vary === "identity" ? viewerKey(call) : JSON.stringify(vary(call))}\n${input}`
  }
}

interface Loaded {
  readonly envelope: ResponseEnvelope
  /** Frozen: callers can share it. */
  readonly isShareable: boolean
}

/** The key of a running load: a caller with other policy options does not wait for it. */
function flightKey({ policy }: MiddlewareCall, key: string): string {
  return policy === undefined ? key : `${key}\n${jsonKey(policy)}`
}

function answer(
  { envelope, storedAt }: CacheEntry,
  now: number,
  state: "fresh" | "stale",
): ResponseEnvelope {
  const cache = { age: now - storedAt, state }
  return { data: envelope.data, meta: { ...envelope.meta, cache } }
}

function validatorsOf({ meta }: ResponseEnvelope): Revalidation | undefined {
  if (meta.source !== "http") return undefined
  const { etag, "last-modified": lastModified } = meta.headers ?? {}
  return etag === undefined && lastModified === undefined ? undefined : { etag, lastModified }
}

/** Data that can be shared, and its approximate size in bytes. */
interface FrozenData {
  readonly data: unknown
  readonly size: number
}

const MAX_DEPTH = 512
/** Approximate bytes of an object or a number besides its content. */
const OVERHEAD = 16

/**
 * A copy of JSON data that is frozen all the way down, so that callers can share it: the handler may go on changing
 * its own. `undefined` for values that cannot be frozen, such as bytes.
 */
function freezeData(value: unknown): FrozenData | undefined {
  const measure = { size: 0 }
  try {
    return { data: copy(value, measure, 0), size: measure.size }
  } catch (thrown) {
    if (thrown === CANNOT_FREEZE) return undefined
    throw thrown
  }
}

const CANNOT_FREEZE = new Error("cannot be frozen")

function copy(value: unknown, measure: { size: number }, depth: number): unknown {
  measure.size += OVERHEAD
  if (typeof value === "string") {
    measure.size += value.length * 2
    return value
  }
  if (typeof value === "function") throw CANNOT_FREEZE
  if (typeof value !== "object" || value === null) return value
  if (depth === MAX_DEPTH) throw CANNOT_FREEZE
  if (Array.isArray(value)) {
    return Object.freeze(value.map((item) => copy(item, measure, depth + 1)))
  }
  if (!isPlainObject(value)) throw CANNOT_FREEZE
  const members = Object.entries(value).map(([key, item]): [string, unknown] => {
    measure.size += key.length * 2
    return [key, copy(item, measure, depth + 1)]
  })
  // Entries are defined, not assigned: a key named `__proto__` stays a key.
  return Object.freeze(Object.fromEntries(members))
}
