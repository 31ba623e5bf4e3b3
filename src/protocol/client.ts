// The client of a registry behind a link: its types, and the functions that make calls and open streams.
import type {
  AnyString,
  CallArguments,
  Callable,
  DottedId,
  Executable,
  KeyBelow,
  KnownId,
  NamespaceOf,
  OutputIn,
  Route,
  RoutesOf,
  ShapeIn,
  Subscribable,
  TypeIn,
  UnroutedId,
} from "../core/infer.ts"
import { snapshot } from "../core/plain-json.ts"
import { isRecord } from "../internal/guards.ts"
import { validateOptions } from "../internal/options.ts"
import type { Endpoint } from "./endpoint.ts"
import { mintNumber, requestIdOf } from "../engine/ids.ts"
import { endpointOver, PENDING_MAP_OPTIONS, PendingCall, startCall } from "./pending/requests.ts"
import type {
  CheckRequest,
  PendingRequestMapOptions,
  PendingResponse,
  PendingSubscription,
} from "./pending/requests.ts"
import type { CallLink } from "./pending/request-map.ts"
import type { PendingOptions } from "./pending/options.ts"
import type * as StreamModule from "./pending/stream.ts"
import { OPERATION_ID_LENGTH } from "../core/spec-schemas.ts"
import type { OperationRegistry } from "../engine/registry.ts"
import type { RegisteredOperations } from "../core/types.ts"

/** The operations that a registry's type knows. */
export type OperationsOf<TRegistry> =
  TRegistry extends OperationRegistry<infer TOperations> ? TOperations : RegisteredOperations

/** The methods of a client; every other property is a namespace. */
export interface ClientCalls<TOperations> extends AsyncDisposable {
  call<const TId extends KnownId<TOperations> | AnyString, TShape = Executable<TOperations, TId>>(
    id: TId & Callable<NoInfer<TShape>>,
    ...args: CallArguments<NoInfer<TShape>, PendingOptions>
  ): PendingResponse<OutputIn<TShape>>
  subscribe<
    const TId extends KnownId<TOperations> | AnyString,
    TShape = Subscribable<TOperations, TId>,
  >(
    id: TId & Callable<NoInfer<TShape>>,
    ...args: CallArguments<NoInfer<TShape>, PendingOptions>
  ): PendingSubscription<OutputIn<TShape>>
  /** Ends pending calls and streams, and closes the link. */
  close(): Promise<void>
}

type ClientFunction<TShape> = (
  ...args: CallArguments<TShape, PendingOptions>
) => TypeIn<TShape> extends "subscription"
  ? PendingSubscription<OutputIn<TShape>>
  : PendingResponse<OutputIn<TShape>>

type ClientNamespace<TOperations, TIds, TPath extends string, TReserved = "then"> = {
  readonly [
    TId in TIds & keyof TOperations as TId extends `${TPath}.${infer TName}`
      ? Exclude<TName, TReserved>
      : never
  ]: ClientFunction<TOperations[TId]>
} & {
  readonly [TKey in Exclude<KeyBelow<DottedId<TIds>, TPath>, TReserved>]: ClientNamespace<
    TOperations,
    DottedId<TIds>,
    `${TPath}.${TKey}`,
    InFunctions
  >
}

/** Names that members of functions cannot have. */
type InFunctions = "then" | "apply" | "bind" | "call"

// No `as` in these two: the compiler links the members of such a type to the keys that they were made from.
type RoutedNamespaces<TRoutes> = {
  readonly [TKey in keyof TRoutes]: TKey extends keyof ClientCalls<never>
    ? unknown
    : TKey extends "then"
      ? undefined
      : RoutedMembers<TRoutes[TKey], "then">
}

type RoutedMembers<TRoutes, TReserved> = {
  readonly [TKey in keyof TRoutes]: TKey extends TReserved
    ? undefined
    : TRoutes[TKey] extends Route
      ? ClientFunction<ShapeIn<TRoutes[TKey]>>
      : RoutedMembers<TRoutes[TKey], InFunctions>
}

/**
 * The namespaces of an untyped client: any namespace, any name.
 *
 * They are `any` because of `noUncheckedIndexedAccess`: it makes every other type possibly `undefined`, and
 * `client.task.create()` an error, though a client has a function for every name. `client.call` returns
 * `unknown`.
 */
// oxlint-disable-next-line typescript/no-explicit-any -- see above
type UntypedNamespaces = Readonly<Record<string, any>>

/**
 * A registry on the other side of a link: `client.task.create(input)`.
 *
 * A namespace called `call`, `subscribe`, `close` or `then` is reached with `client.call("close.door")`, and so is an
 * operation called `then`: a member of this name would make an object a promise. In an object within a namespace, this
 * applies to `apply`, `bind` and `call` as well, which functions have.
 */
export type Client<TOperations> = ClientCalls<TOperations> &
  ([KnownId<TOperations>] extends [never]
    ? UntypedNamespaces
    : Namespaces<TOperations, UnroutedId<TOperations>>)

type Namespaces<TOperations, TIds> = RoutedNamespaces<RoutesOf<TOperations>> & {
  readonly [
    TNamespace in Exclude<NamespaceOf<TIds>, keyof ClientCalls<never> | "then">
  ]: ClientNamespace<TOperations, TIds, TNamespace>
}

/**
 * A client for a registry behind a link, typed like it: `createClient<typeof registry>(transport)`.
 *
 * It sends nothing before the first call, and works in browsers.
 */
export function createClient<TRegistry = OperationRegistry>(
  link: CallLink,
  options: PendingRequestMapOptions = {},
): Client<OperationsOf<TRegistry>> {
  validateOptions("createClient", options, PENDING_MAP_OPTIONS)
  const endpoint = endpointOver(link, options)
  const close = (): Promise<void> => endpoint.close()
  const own = {
    call: (id: string, input?: unknown, callOptions?: PendingOptions) =>
      startCall(endpoint, checkRequest, id, input, callOptions),
    subscribe: (id: string, input?: unknown, callOptions?: PendingOptions) =>
      openStream(endpoint, id, input, callOptions),
    close,
    [Symbol.asyncDispose]: close,
  }
  const streams = new Set<string>()
  const start: Start = (id, input, callOptions) =>
    streams.has(id)
      ? openStream(endpoint, id, input, callOptions)
      : callOrStream(endpoint, streams, id, input, callOptions)
  return new Proxy(own, membersOf("", start)) as unknown as Client<OperationsOf<TRegistry>>
}

type Start = (id: string, input?: unknown, options?: PendingOptions) => unknown

/**
 * The members of a client below a path: functions that have members themselves, made on first use. Only the peer
 * knows which of them are operations.
 */
function membersOf(path: string, start: Start): ProxyHandler<object> {
  const members = new Map<string, unknown>()
  return {
    get(target, key) {
      const isOwn =
        typeof target === "function"
          ? key === "apply" || key === "bind" || key === "call"
          : Object.hasOwn(target, key)
      if (isOwn || typeof key === "symbol") return Reflect.get(target, key)
      // Not a promise: `await client` returns the client.
      if (key === "then") return undefined
      let member = members.get(key)
      if (member === undefined) {
        const id = path + key
        const own = path === "" ? {} : start.bind(undefined, id)
        members.set(key, (member = new Proxy(own, membersOf(`${id}.`, start))))
      }
      return member
    },
  }
}

/**
 * A promise of the result that can be iterated as well: only the peer knows which one it is.
 *
 * The call is made immediately, with the current input. If the operation is a subscription, the peer refuses
 * the call without running it; from then on the operation is opened as a stream right away.
 */
function callOrStream(
  endpoint: Endpoint,
  streams: Set<string>,
  id: string,
  input: unknown,
  options: PendingOptions | undefined,
): unknown {
  const call = startCall(endpoint, checkRequest, id, input, options, ({ code }, isAnswer) => {
    if (isAnswer && code === "INVALID_OPERATION_TYPE") streams.add(id)
    if (isAnswer && !OF_EITHER.has(code)) return
    // The call may not be awaited if a stream was meant. A caller that awaits it still gets the error.
    queueMicrotask(() => void call.catch(() => undefined))
  }) as ClientCall
  let stream: PendingSubscription | undefined
  const { abort }: { abort: (this: void, reason?: string) => void } = call
  call.abort = (reason) => {
    abort(reason)
    stream?.abort(reason)
  }
  call[STREAM] = () => {
    if (stream === undefined) {
      stream = openStream(endpoint, id, input, options)
      // The outcome of the call is irrelevant now.
      call.catch(() => undefined)
    }
    return stream
  }
  return Object.setPrototypeOf(call, ITERABLE)
}

/** Codes that do not tell whether a call or an unread stream was meant. */
const OF_EITHER: ReadonlySet<string> = new Set([
  "INVALID_OPERATION_TYPE",
  "ABORTED",
  "TIMEOUT",
  "UNAVAILABLE",
  "OVERLOADED",
  "RATE_LIMITED",
])

const STREAM = /* @__PURE__ */ Symbol("stream")

/** A call of a client, and what opens the stream that it may turn out to be. */
type ClientCall = PendingResponse & {
  abort: (reason?: string) => void
  [STREAM]: () => PendingSubscription
}

/** The prototype of client calls: a promise that can be iterated. Shared, because own properties cost memory per call. */
const ITERABLE: object = /* @__PURE__ */ iterablePromise()

function iterablePromise(): object {
  const methods = {
    [Symbol.asyncIterator](this: ClientCall) {
      return this[STREAM]()
    },
    next(this: ClientCall) {
      return this[STREAM]().next()
    },
    return(this: ClientCall) {
      return this[STREAM]().return()
    },
    [Symbol.asyncDispose](this: ClientCall) {
      return this[STREAM]()[Symbol.asyncDispose]()
    },
  }
  return Object.setPrototypeOf(methods, Promise.prototype) as object
}

type OnUse = typeof StreamModule

let loaded: OnUse | undefined

async function load(): Promise<OnUse> {
  return (loaded ??= await import("./pending/stream.ts"))
}

/** Opens a stream. What only streams need is loaded with the first item of the first one. */
function openStream(
  endpoint: Endpoint,
  id: string,
  input: unknown,
  options: PendingOptions | undefined,
): PendingSubscription {
  if (loaded !== undefined) return loaded.startStream(endpoint, id, input, options)
  const number = mintNumber()
  let stream: PendingSubscription | undefined
  let opening: Promise<PendingSubscription> | undefined
  const begin = (): Promise<PendingSubscription> => {
    // What the caller changes meanwhile is not sent.
    const copy = snapshot(input)
    return load().then(
      ({ startStream }) => (stream = startStream(endpoint, id, copy, options, number)),
      (thrown: unknown) => {
        throw new PendingCall(endpoint, id, options, number).sendFailure(thrown)
      },
    )
  }
  const open = (): Promise<PendingSubscription> => (opening ??= begin())
  const opened: PendingSubscription = {
    requestId: requestIdOf(number),
    abort: (reason) =>
      void open().then(
        (it) => it.abort(reason),
        () => undefined,
      ),
    next: () => stream?.next() ?? open().then((it) => it.next()),
    return: () =>
      open().then(
        (it) => it.return(),
        () => ({ done: true, value: undefined }),
      ),
    [Symbol.asyncIterator]: () => opened,
    [Symbol.asyncDispose]: async () => void (await opened.return()),
  }
  return opened
}

/**
 * Whether the id and the options of a call are common ones that need no further check. Written out, because
 * every call is checked.
 */
function isUsual(id: unknown, options: PendingOptions | undefined): boolean {
  if (typeof id !== "string" || id === "" || id.length > OPERATION_ID_LENGTH) return false
  if (options === undefined) return true
  try {
    const { deadline, timeout, signal, metadata, parentRequestId } = options
    const {
      trace,
      traceparent,
      version,
      progress,
      requestInput,
      policy,
      idempotencyKey,
      dryRun,
      window,
      idleTimeout,
    } = options
    return (
      isRecord(options) &&
      maybe("number", deadline) &&
      maybe("number", timeout) &&
      (deadline ?? 1) > 0 &&
      (timeout ?? 1) > 0 &&
      (signal === undefined || typeof signal.addEventListener === "function") &&
      maybe("object", metadata) &&
      maybe("string", parentRequestId) &&
      trace === undefined &&
      maybe("string", traceparent) &&
      maybe("string", version) &&
      maybe("function", progress) &&
      maybe("function", requestInput) &&
      !("requestId" in options) &&
      policy === undefined &&
      idempotencyKey === undefined &&
      dryRun === undefined &&
      window === undefined &&
      idleTimeout === undefined
    )
  } catch {
    // A getter threw.
    return false
  }
}

function maybe(type: string, value: unknown): boolean {
  return value === undefined || (typeof value === type && value !== null)
}

/** Most options are common ones. The code for other options and their messages is loaded on use. */
const checkRequest: CheckRequest = (id, options) => {
  if (isUsual(id, options)) return undefined
  if (loaded !== undefined) return loaded.requestError(id, options)
  return load().then(({ requestError }) => requestError(id, options))
}
