// The operations of a peer, whose calls are forwarded to it.
import { keyForOthers } from "../core/call-policy.ts"
import type { AnyOperation } from "../core/define.ts"
import { changedError, repeatableLoss } from "../core/error-changes.ts"
import { isCallError, refusal, type CallError } from "../core/errors.ts"
import { answererOf } from "../core/input-requests.ts"
import { mapError } from "../core/map-error.ts"
import { validateOptions, type OptionsSchema } from "../internal/options.ts"
import { wallTimeOf } from "../internal/clock.ts"
import { isObject, isStrings } from "../internal/guards.ts"
import type { Clock } from "../internal/platform.ts"
import { addSignalListener, lightSignal, removeSignalListener } from "../internal/signals.ts"
import type { Logger } from "../internal/logger.ts"
import { callMapOver, type CallLink, type PendingRequestMap } from "./pending/request-map.ts"
import { endpointOver } from "./pending/requests.ts"
import type { PendingOptions } from "./pending/options.ts"
import { followPeer } from "./follow.ts"
import type { ServiceEntry } from "./services.ts"
import type { AnyRegistry } from "../engine/registry.ts"
import { OperationSpecSchema } from "../core/spec-schemas.ts"
import {
  traceExchange,
  traceStream,
  withoutTrace,
  type TraceAttributes,
  type TraceContext,
} from "../core/tracing.ts"
import type { NestedInOuter } from "../core/outer-call.ts"
import type { CredentialContext, OperationSpec } from "../core/types.ts"
import type { OperationContext } from "../core/handler.ts"

const PAGE_SIZE = 500
// A bound for a peer whose list never ends; no registry has as many.
const MAX_OPERATIONS = 1_000_000

/** Which of a peer's operations to import, and under which names. */
export interface FromCallOptions {
  /** Puts a namespace in front: `task.create` becomes `peer.task.create`. */
  readonly namespace?: string | undefined
  /** Imports only operations for which it returns `true`. It receives the peer's own spec. */
  readonly filter?: ((spec: OperationSpec) => boolean) | undefined
  /** Registers the operations, and follows the peer's changes, like `attach`. */
  readonly registry?: AnyRegistry | undefined
  /**
   * Chooses the link of a call, for peers that identify callers by their connections. If it returns none, the
   * link of the import is used. You close the links that you open.
   */
  readonly linkFor?:
    | ((context: CredentialContext) => CallLink | undefined | Promise<CallLink | undefined>)
    | undefined
  /** Ends the import. */
  readonly signal?: AbortSignal | undefined
  readonly logger?: Logger | undefined
}

export const FROM_CALL_OPTIONS: OptionsSchema<FromCallOptions> = {
  namespace: "text",
  filter: "function",
  linkFor: "function",
  registry: { methods: ["registerAll", "unregister"], expected: "an OperationRegistry" },
  signal: "signal",
  logger: "logger",
}

/** A peer's operations as definitions: for `registerAll`, or for `attach`. */
export interface RemoteOperations extends Array<AnyOperation>, AsyncDisposable {
  /**
   * Registers them, and follows the peer: what it adds, replaces or removes. Returns a function that stops
   * following and unregisters them.
   */
  attach(registry: AnyRegistry): Promise<() => Promise<void>>
  /** Detaches from every registry. The link stays open. */
  close(): Promise<void>
}

/**
 * Imports the operations of the registry behind a link, as far as this side may call them.
 *
 * Calls are forwarded with their deadline and signal; envelopes keep the `meta` of their origin, errors their
 * code. While the peer is gone they fail with `UNAVAILABLE`.
 */
export async function fromCall(
  link: CallLink,
  options: FromCallOptions = {},
): Promise<RemoteOperations> {
  validateOptions("fromCall", options, FROM_CALL_OPTIONS)
  const map = callMapOver(link, { logger: options.logger })
  const paths: Paths = new Map()
  const loadFor = async (
    registry: AnyRegistry | undefined,
    ids?: readonly string[],
  ): Promise<AnyOperation[]> => {
    const operations = await loadAll(map, options, paths, ids)
    const { originId } = (registry ?? {}) as { readonly originId?: string }
    // What came from the registry itself is not offered to it again.
    return operations.filter(({ via }) => via?.().includes(originId ?? "") !== true)
  }
  const operations = (await loadFor(options.registry)) as unknown as RemoteOperations
  const detachers = new Set<() => Promise<void>>()
  const attach = async (registry: AnyRegistry): Promise<() => Promise<void>> => {
    const load = (ids?: readonly string[]): Promise<AnyOperation[]> => loadFor(registry, ids)
    const stop = await followPeer(map, registry, load, (id) => localId(id, options.namespace))
    const detach = async (): Promise<void> => {
      if (detachers.delete(detach)) await stop()
    }
    detachers.add(detach)
    return detach
  }
  const close = async (): Promise<void> => {
    await Promise.all([...detachers].map((detach) => detach()))
  }
  // Not enumerable: the array holds operations and nothing else.
  Object.defineProperties(operations, {
    attach: { value: attach },
    close: { value: close },
    [Symbol.asyncDispose]: { value: close },
  })
  if (options.registry !== undefined) await attach(options.registry)
  return operations
}

/** The registries through which a peer's operations come, by the peer's ids. A peer can only hide its own from us. */
type Paths = Map<string, readonly string[]>

/** The local id of a peer's operation. */
function localId(id: string, namespace: string | undefined): string {
  return namespace === undefined ? id : `${namespace}.${id}`
}

async function loadAll(
  map: PendingRequestMap,
  options: FromCallOptions,
  paths: Paths,
  ids: readonly string[] | undefined,
): Promise<AnyOperation[]> {
  const { filter, signal } = options
  const all: OperationSpec[] = []
  let wanted = ids ?? (await listIds(map, signal))
  while (wanted.length > 0) {
    const [now, later] = [wanted.slice(0, PAGE_SIZE), wanted.slice(PAGE_SIZE)]
    const { data } = await map.call("services.schema", { ids: now }, { signal })
    const { specs, rest } = (data ?? {}) as { specs?: unknown; rest?: unknown }
    if (!isObjects(specs) || !isStrings(rest)) throw unreadable("services.schema")
    // Otherwise a peer that makes no progress would be asked forever.
    if (rest.length >= now.length) throw unreadable("services.schema")
    all.push(...(specs as OperationSpec[]))
    wanted = [...rest, ...later]
  }
  const specs = all.map(pickSpecFields)
  if (ids === undefined) paths.clear()
  for (const { namespace, name, via } of all as (OperationSpec & { readonly via?: unknown })[]) {
    paths.set(`${namespace}.${name}`, isStrings(via) ? via : [])
  }
  return specs
    .filter((spec) => filter === undefined || filter(spec))
    .map((spec) => createForwarder(map, spec, paths, options))
}

async function listIds(
  map: PendingRequestMap,
  signal: AbortSignal | undefined,
): Promise<readonly string[]> {
  const ids: string[] = []
  for (let hasMore = true; hasMore;) {
    const { data } = await map
      .call("services.list", { after: ids.at(-1) ?? "" }, { signal })
      .catch(explainUnlisted)
    const page = (data ?? {}) as { readonly operations?: unknown; readonly hasMore?: unknown }
    if (!isObjects(page.operations)) throw unreadable("services.list")
    const more = page.operations.map((entry) => (entry as ServiceEntry).id)
    if (!isStrings(more)) throw unreadable("services.list")
    ids.push(...more)
    if (ids.length > MAX_OPERATIONS) {
      const why = `it lists more than ${MAX_OPERATIONS}.`
      throw notImported("PAYLOAD_TOO_LARGE", "services.list", why)
    }
    hasMore = page.hasMore === true && more.length > 0
  }
  // Versions that are served side by side have one id.
  return [...new Set(ids)]
}

/** Picks the fields of a spec; a peer must not decide how its operations run here, or which paths lead to them. */
function pickSpecFields(spec: OperationSpec): OperationSpec {
  const fields = Object.keys(OperationSpecSchema["properties"] as object)
  return Object.fromEntries(
    Object.entries(spec).filter(([key]) => key !== "route" && fields.includes(key)),
  ) as unknown as OperationSpec
}

function isObjects(value: unknown): value is readonly object[] {
  return Array.isArray(value) && value.every(isObject)
}

function notImported(code: string, operationId: string, why: string): CallError {
  return refusal(code, `The peer's operations were not imported: ${why}`, { operationId })
}

function explainUnlisted(error: unknown): never {
  if (!isCallError(error, "OPERATION_NOT_FOUND")) throw error
  const why =
    "it does not list them. Connect to a WebSocket, thread or broker that it serves; over HTTP, import its document with FromOpenAPIUrl()."
  throw notImported(error.code, "services.list", why)
}

function unreadable(operationId: string): CallError {
  const why = `the answer of "${operationId}" is invalid. Is the peer served by serveCalls()?`
  return notImported("EXECUTION_ERROR", operationId, why)
}

function createForwarder(
  map: PendingRequestMap,
  spec: OperationSpec,
  paths: Paths,
  { namespace, linkFor }: FromCallOptions,
): AnyOperation {
  const id = `${spec.namespace}.${spec.name}`
  const version = endpointOver(map).link.hasVersions === true ? spec.version : undefined
  const { clock } = endpointOver(map).settings
  const about = (
    context: OperationContext,
    signal: AbortSignal | undefined,
    trace: TraceContext | undefined,
  ): PendingOptions => forwardedOptions(context, signal, trace, version, clock)
  // Not kept: a peer may have a hundred thousand operations.
  const known = (): TraceAttributes => ({ "rpc.system.name": "operations", "rpc.method": id })
  const { replacedBy, ...deprecation } = spec.deprecation ?? {}
  const named = {
    ...spec,
    ...(namespace !== undefined && { namespace, name: id }),
    ...(replacedBy !== undefined && {
      deprecation: paths.has(replacedBy)
        ? { ...deprecation, replacedBy: localId(replacedBy, namespace) }
        : deprecation,
    }),
    imported: true,
    claims: true,
    via: () => paths.get(id) ?? [],
  }
  const mapFor = async (context: OperationContext): Promise<PendingRequestMap> => {
    const { identity, signal } = context
    const operationId = localId(id, namespace)
    const token = lightSignal(context) ?? signal
    // A call that ends meanwhile was not sent.
    const unsent = { handleEvent: () => {}, mayHaveExecuted: () => false }
    addSignalListener(token, unsent)
    try {
      const link = await linkFor?.({ identity, operationId, signal })
      return link === undefined ? map : callMapOver(link)
    } catch (error) {
      throw changedError(mapError(error), { mayHaveExecuted: false })
    } finally {
      removeSignalListener(token, unsent)
    }
  }
  if (spec.type === "subscription") {
    const over = (own: PendingRequestMap, input: unknown, context: OperationContext) =>
      traceStream(context, id, "remote", known(), (trace) =>
        own.subscribe(id, input, about(context, context.signal, trace)),
      )
    return {
      ...named,
      handler:
        linkFor === undefined
          ? (input: unknown, context: OperationContext) => over(map, input, context)
          : async function* (input: unknown, context: OperationContext) {
              yield* over(await mapFor(context), input, context)
            },
    }
  }
  const isIdempotent = spec.annotations?.idempotent ?? spec.type === "query"
  return {
    ...named,
    handler: async (input: unknown, context: OperationContext) => {
      try {
        const own = linkFor === undefined ? map : await mapFor(context)
        const { idempotencyKey: key, identity } = context
        const isShared = key !== undefined && own === map
        const idempotencyKey = isShared ? await keyForOthers(key, identity) : key
        return await traceExchange(context, id, "remote", known(), (trace) => {
          const options = about(context, lightSignal(context), trace)
          return own.call(id, input, key === undefined ? options : { ...options, idempotencyKey })
        })
      } catch (error) {
        // Retrying is harmless, and the peer may be back or faster.
        throw isIdempotent && isLoss(error) ? repeatableLoss(error) : error
      }
    },
  }
}

/** Whether the connection was lost, or the time ran out, before there was an answer. */
function isLoss(error: unknown): error is CallError {
  if (isCallError(error, "TIMEOUT")) return true
  return isCallError(error, "UNAVAILABLE") && error.mayHaveExecuted
}

function forwardedOptions(
  context: OperationContext,
  signal: AbortSignal | undefined,
  trace: TraceContext | undefined,
  version: string | undefined,
  clock: Clock,
): PendingOptions & NestedInOuter {
  const { identity, deadline, requestId, progress, policy } = context
  const metadata = withoutTrace(context.metadata)
  return {
    outer: (context as NestedInOuter).outer,
    signal,
    // What is left, because the clocks of both sides stop while a person is asked.
    ...(deadline === undefined
      ? { deadline: Number.POSITIVE_INFINITY }
      : { timeout: deadline - wallTimeOf(clock) }),
    parentRequestId: requestId,
    progress,
    requestInput: answererOf(context),
    ...(identity !== undefined && { identity }),
    ...(metadata !== undefined && { metadata }),
    trace,
    ...(policy !== undefined && { policy }),
    ...(version !== undefined && { version }),
  }
}
