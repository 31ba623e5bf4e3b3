// The serving side of a link.

import type { CallRequestedEvent } from "../../core/events.ts"
import type { Failures } from "../../engine/failures.ts"
import type { CallError } from "../../core/errors.ts"
import type { AnyRegistry } from "../../engine/registry.ts"
import type { ServedOperation, ServedOperations, TransportPeer } from "../transport.ts"
import type { Identity, OperationSpec } from "../../core/types.ts"
import type { OptionsSchema } from "../../internal/options.ts"
import { deferred, withTimeout, type Deferred } from "../../internal/wait.ts"
import { errorEvent } from "../../core/error-marks.ts"
import type { AccountOf } from "./account.ts"
import type { Endpoint } from "../endpoint.ts"
import { LoopbackLink } from "../links.ts"
import { OperationSlots } from "./operation-slots.ts"
import { RecentIds } from "../../internal/recent-ids.ts"
import { overloaded, unauthenticated } from "../../core/not-called.ts"
import { closing, missing, wrongKind } from "../refusals.ts"
import { ServedRequest, type ServedHost } from "./served.ts"
import { servicesOf } from "../services.ts"
import { servingOf, type RequestHandler, type Serving } from "../serving.ts"

/** The sender of a request, as far as the transport knows. */
export type CallPeer = TransportPeer

/** Identifies the caller. An error that it throws is reported to the caller as `UNAUTHENTICATED`. */
export type ResolveIdentity = (
  event: CallRequestedEvent,
  peer: CallPeer,
) => Identity | undefined | Promise<Identity | undefined>

/** Limits for the requests of one peer. */
export interface ServeLimits {
  /** Calls that run at the same time; no limit. An operation leaves some slots free while others are in use. */
  readonly maxInFlight?: number | undefined
  /** Calls that wait for a slot; 1,000, and a quarter more for operations that did not fill the queue. Then `OVERLOADED`. */
  readonly maxQueued?: number | undefined
  /** Streams that are open at the same time; no limit. */
  readonly maxStreams?: number | undefined
}

export const SERVE_LIMITS: OptionsSchema<ServeLimits> = {
  maxInFlight: { min: 1 },
  maxQueued: { min: 0 },
  maxStreams: { min: 0 },
}

/** How requests of one peer are identified and limited. */
export interface ServerOptions extends ServeLimits {
  readonly resolveIdentity?: ResolveIdentity | undefined
  /** @internal For servers with several links of one caller: limits count for all of them together. */
  readonly accountOf?: AccountOf | undefined
}

/** The serving side of a link: identifies callers, finds operations and enforces limits. */
export class RequestServer implements RequestHandler, ServedHost, ServedOperations {
  readonly endpoint: Endpoint
  readonly serving: Serving
  readonly failures: Failures
  readonly #registry: AnyRegistry
  readonly #resolveIdentity: ResolveIdentity | undefined
  readonly #accountOf: AccountOf | undefined
  readonly #maxInFlight: number
  readonly #maxQueued: number
  readonly #maxStreams: number
  /** Set when there are limits, and they apply to this link alone. */
  readonly #slots: OperationSlots | undefined
  readonly #recent: RecentIds | undefined
  readonly #isLoopback: boolean
  #calls = 0
  #waiting = 0
  #streams = 0
  #idle: Deferred | undefined
  isClosed = false
  /** New requests are refused, and running ones continue. */
  isLeaving = false

  constructor(
    endpoint: Endpoint,
    registry: AnyRegistry,
    options: ServerOptions,
    failures: Failures,
  ) {
    const { resolveIdentity, accountOf, maxQueued = 1000, ...limits } = options
    this.endpoint = endpoint
    this.serving = servingOf(endpoint)
    this.failures = failures
    this.#registry = registry
    this.#resolveIdentity = resolveIdentity
    this.#accountOf = accountOf
    this.#maxInFlight = limits.maxInFlight ?? Number.POSITIVE_INFINITY
    this.#maxQueued = maxQueued
    this.#maxStreams = limits.maxStreams ?? Number.POSITIVE_INFINITY
    if (accountOf === undefined && this.#maxInFlight !== Number.POSITIVE_INFINITY) {
      const { settings } = endpoint
      this.#slots = new OperationSlots(this.#maxInFlight, this.#maxQueued, settings.clock)
    }
    this.#isLoopback = endpoint.link instanceof LoopbackLink
    this.#recent = endpoint.link.mayRepeat === true ? new RecentIds() : undefined
  }

  get inFlight(): number {
    return this.#calls + this.#streams + this.#waiting
  }

  requested(event: CallRequestedEvent, peer?: TransportPeer, whenOver?: () => void): void {
    const { requestId } = event
    const { requests } = this.serving
    // A duplicate runs once. A loopback link has no duplicates.
    if (
      !this.#isLoopback &&
      (requests.has(requestId) || this.#recent?.remember(requestId) === false)
    ) {
      return whenOver?.()
    }
    if (this.isClosed || this.isLeaving) {
      this.endpoint.trySend(errorEvent(requestId, closing(event.operationId, false)))
      return whenOver?.()
    }
    const request = new ServedRequest(this, event, whenOver)
    const pending = this.#isLoopback ? this.endpoint.sending : undefined
    if (pending?.requestId === requestId) {
      request.pending = pending
      pending.served = request
    } else requests.set(requestId, request)
    if (this.#resolveIdentity === undefined) {
      const { link } = this.endpoint
      const isTrusted = link.isLocal === true || link.isTrusted === true
      request.identity = (isTrusted ? event.identity : undefined) ?? peer?.identity ?? link.identity
      return this.#admit(request)
    }
    void this.#identify(request, this.#resolveIdentity, peer)
  }

  list(): readonly ServedOperation[] {
    return this.#registry
      .getAllSpecs()
      .filter(({ visibility }) => visibility !== "internal")
      .map(({ namespace, name, type, annotations }) => ({
        id: `${namespace}.${name}`,
        isIdempotent: annotations?.idempotent ?? type === "query",
      }))
  }

  onChange(listener: () => void): () => void {
    return this.#registry.onChange(listener)
  }

  versionOf(operationId: string): string | undefined {
    return this.#specFor(operationId)?.version
  }

  refuse(operationId: string): CallError | undefined {
    if (this.isClosed || this.isLeaving) return closing(operationId, false)
    const isStream = this.#specFor(operationId)?.type === "subscription"
    if (isStream) {
      return this.#streams < this.#maxStreams ? undefined : this.#tooManyStreams(operationId)
    }
    return this.#slots?.hasRoom(operationId) === false ? this.#tooManyCalls(operationId) : undefined
  }

  /** Releases the slot of a request. */
  finished(request: ServedRequest): void {
    const { place, account } = request
    request.place = "none"
    if (place === "queue") {
      this.#waiting--
      account?.dequeue(request)
      this.#slots?.dequeue(request)
    } else if (place === "streams") {
      this.#streams--
      account?.leaveStream()
    } else if (place === "calls") this.#calls--
    if (this.inFlight === 0) {
      this.#idle?.resolve()
      this.#idle = undefined
    }
    if (place !== "calls") return
    if (account === undefined) this.#slots?.leave(request.operationId)
    else account.leave()
  }

  /** Runs a queued request. */
  start(request: ServedRequest): boolean {
    if (this.isClosed || this.serving.isEnding || this.endpoint.isClosed) return false
    this.#waiting--
    this.#run(request)
    return true
  }

  /** Resolves when nothing runs or waits, or after `grace` milliseconds. */
  idle(grace: number): Promise<void> {
    if (this.inFlight === 0 || this.isClosed) return Promise.resolve()
    this.#idle ??= deferred()
    return withTimeout(this.#idle.promise, grace, () => undefined, this.endpoint.settings)
  }

  /** Refuses new requests, and ends running ones; with the error `why`, if it is set. */
  close(why?: CallError): void {
    this.isClosed = true
    this.#end(why)
  }

  /** Ends streams; their callers may open them elsewhere. */
  endStreams(): void {
    this.#end(undefined, "streams")
  }

  #end(why: CallError | undefined, only?: ServedRequest["place"]): void {
    const { requests } = this.serving
    const { pending } = this.endpoint
    for (const request of [...requests.values(), ...pending.all().map((entry) => entry.served)]) {
      if (!(request instanceof ServedRequest) || request.host !== this) continue
      const { requestId, operationId, place } = request
      if (only !== undefined && place !== only) continue
      const hadStarted = place === "calls" || place === "streams"
      request.abort(why?.message ?? "The server was closed.")
      this.endpoint.trySend(errorEvent(requestId, closing(operationId, hadStarted, why)))
    }
  }

  async #identify(
    request: ServedRequest,
    resolve: ResolveIdentity,
    peer: TransportPeer | undefined,
  ): Promise<void> {
    const { identity } = this.endpoint.link
    try {
      const identified = resolve(
        request.event,
        peer ?? (identity === undefined ? {} : { identity }),
      )
      if (identified instanceof Promise) request.postpone()
      request.identity = await identified
    } catch (thrown) {
      return request.fail(unauthenticated(request.operationId, thrown))
    }
    if (!request.isOver) this.#admit(request)
  }

  #admit(request: ServedRequest): void {
    const { event, identity, operationId } = request
    const account = this.#accountOf?.(identity)
    const unpaid = account?.charge(1)
    if (unpaid !== undefined) return request.fail(unpaid)
    request.account = account
    const spec = this.#specFor(operationId)
    if (spec === undefined) return request.fail(missing(this.#registry, operationId, identity))
    const isStream = spec.type === "subscription" && !request.dryRun
    if (event.kind !== undefined && isStream !== (event.kind === "stream")) {
      return request.fail(wrongKind(operationId, spec))
    }
    if (isStream) this.#open(request)
    else if (account?.tryEnter(this.#maxInFlight) ?? this.#slots?.tryEnter(operationId) ?? true) {
      this.#run(request)
    } else this.#enqueue(request)
  }

  #run(request: ServedRequest): void {
    request.place = "calls"
    this.#calls++
    request.runCall(this.#registryFor(request.operationId))
  }

  #open(request: ServedRequest): void {
    if (!(request.account?.tryStream(this.#maxStreams) ?? this.#streams < this.#maxStreams)) {
      return request.fail(this.#tooManyStreams(request.operationId))
    }
    request.place = "streams"
    this.#streams++
    // Never rejects: errors are sent to the caller.
    void request.runStream(this.#registryFor(request.operationId))
  }

  #enqueue(request: ServedRequest): void {
    const { account } = request
    const hasRoom =
      account?.enqueue(request, this.#maxInFlight, this.#maxQueued) ?? this.#slots?.enqueue(request)
    if (hasRoom === false) return request.fail(this.#tooManyCalls(request.operationId))
    request.place = "queue"
    request.postpone()
    this.#waiting++
  }

  #tooManyStreams(operationId: string): CallError {
    return overloaded(operationId, `${this.#maxStreams} streams are open`)
  }

  #tooManyCalls(operationId: string): CallError {
    return overloaded(operationId, `${this.#maxQueued} calls wait already`)
  }

  #registryFor(operationId: string): AnyRegistry {
    return operationId.startsWith("services.") && servicesOf(this.#registry).has(operationId)
      ? servicesOf(this.#registry)
      : this.#registry
  }

  /** The spec of an operation that peers may call: internal operations do not exist for them. */
  #specFor(operationId: string): OperationSpec | undefined {
    const spec = this.#registryFor(operationId).getSpec(operationId)
    return spec?.visibility === "internal" ? undefined : spec
  }
}
