// The public API of a registry: types, and methods of one line. The catalog and the kernel do the work.
/// <reference lib="esnext.disposable" preserve="true" />
import type { TSchema } from "typebox"
import type { AnyOperation, NamesInput, Operation, OperationInput } from "../core/define.ts"
import { Catalog, type RegistryChange, type SearchOptions, type SearchResult } from "./catalog.ts"
import { createEnv } from "./env-proxy.ts"
import { Kernel } from "./kernel.ts"
import type { CallRecorder, CallTrace } from "./observe.ts"
import type { CallSink } from "./sink.ts"
import type { AnyHandler } from "./record.ts"
import { notRegistered } from "./refusals.ts"
import { readRoutes } from "./routes.ts"
import type { PolicyDirectory } from "./policies.ts"
import type { AppliedPolicy, PolicyState } from "../core/policy-state.ts"
import { kernelOptions, replaces, validateRegistryOptions } from "./registry-options.ts"
import type { RegisterOptions, RegistryOptions } from "./registry-options.ts"
import type {
  AnyString,
  Callable,
  CallArguments,
  EnvelopeStream,
  Executable,
  IfRouted,
  NotCallable,
  KnownId,
  OperationCall,
  OperationEnv,
  OperationId,
  OperationRoutes,
  OutputIn,
  RoutedOperation,
  RoutedShapes,
  ShapesOf,
  Subscribable,
  With,
} from "../core/infer.ts"
import type { Approvals } from "../approvals/approvals.ts"
import type { Outlook } from "../approvals/outlook.ts"
import type { ApprovalCall } from "../core/approvals.ts"
import type { CallError } from "../core/errors.ts"
import type { Logger } from "../internal/logger.ts"
import { mintRequestId } from "./ids.ts"
import type { ResponseEnvelope } from "../core/envelope.ts"
import type { CallTracer } from "../core/tracing.ts"
import type { Middleware, MiddlewareFunction, MiddlewareOptions } from "../core/middleware.ts"
import type {
  CallOptions,
  ErrorDefinition,
  Identity,
  OperationSpec,
  OperationType,
  RegisteredOperations,
} from "../core/types.ts"
import type { OperationPolicy } from "../core/operation-settings.ts"
import type { OperationContext } from "../core/handler.ts"

/** The calls of a registry without an identity check, for the application's own use. */
export interface TrustedCalls<TOperations> {
  execute<
    const TId extends KnownId<TOperations> | AnyString,
    TShape = Executable<TOperations, TId>,
  >(
    id: TId & Callable<NoInfer<TShape>>,
    ...args: CallArguments<NoInfer<TShape>>
  ): Promise<ResponseEnvelope<OutputIn<TShape>>>
  subscribe<
    const TId extends KnownId<TOperations> | AnyString,
    TShape = Subscribable<TOperations, TId>,
  >(
    id: TId & Callable<NoInfer<TShape>>,
    ...args: CallArguments<NoInfer<TShape>>
  ): EnvelopeStream<OutputIn<TShape>>
}

/** Any registry, whatever its static types, for code that works with all of them. */
export interface AnyRegistry {
  execute(id: string, input?: unknown, context?: CallOptions): Promise<ResponseEnvelope>
  subscribe(id: string, input?: unknown, context?: CallOptions): EnvelopeStream
  get(id: string): RegisteredOperation | undefined
  getSpec(id: string): OperationSpec | undefined
  has(id: string): boolean
  list(): RegisteredOperation[]
  getAllSpecs(): OperationSpec[]
  search(query: string, options?: SearchOptions): SearchResult[]
  onChange(listener: (change: RegistryChange) => void): () => void
  registerAll(operations: readonly AnyOperation[], options?: RegisterOptions): unknown
  unregister(id: string): boolean
  close(): Promise<void>
}

/** A registered operation: its spec, and its handler if it has one. */
export type RegisteredOperation = OperationSpec & { readonly handler?: AnyHandler }

/**
 * Holds operations and runs them. Every call takes the same path: access, input, handler, result.
 *
 * Close a registry that you have created.
 */
export class OperationRegistry<TOperations = RegisteredOperations> {
  readonly #catalog: Catalog
  readonly #kernel: Kernel
  #trusted: TrustedCalls<TOperations> | undefined
  #originId: string | undefined

  constructor(options: RegistryOptions = {}) {
    const resolved = kernelOptions(options)
    this.#catalog = new Catalog(resolved)
    this.#kernel = new Kernel(this.#catalog.store, resolved)
  }

  /** Adds an operation. Throws if it is invalid or its id exists; then nothing has changed. */
  register<
    const TNamespace extends string,
    const TName extends string,
    const TType extends OperationType,
    const TInput extends TSchema,
    const TOutput extends TSchema,
    const TErrors extends readonly ErrorDefinition[] = readonly [],
  >(
    operation: OperationInput<TType, TInput, TOutput, TErrors, OperationContext<TOperations>> &
      NamesInput<TNamespace, TName> &
      Pick<OperationSpec, "version" | "accessControl">,
    options?: RegisterOptions,
  ): OperationRegistry<
    With<TOperations, Operation<TNamespace, TName, TType, TInput, TOutput, TErrors>>
  >
  // A definition from elsewhere does not know the types of this registry: its context is the general one.
  register<
    const TNamespace extends string,
    const TName extends string,
    const TType extends OperationType,
    const TInput extends TSchema,
    const TOutput extends TSchema,
    const TErrors extends readonly ErrorDefinition[] = readonly [],
  >(
    operation: OperationInput<TType, TInput, TOutput, TErrors> &
      NamesInput<TNamespace, TName> &
      Pick<OperationSpec, "version" | "accessControl">,
    options?: RegisterOptions,
  ): OperationRegistry<
    With<TOperations, Operation<TNamespace, TName, TType, TInput, TOutput, TErrors>>
  >
  register(operation: AnyOperation, options?: RegisterOptions): unknown {
    this.#catalog.add([operation], replaces("register", options))
    return this
  }

  /** Adds all of them, or none. */
  registerAll<const TDefinitions extends readonly AnyOperation[]>(
    operations: TDefinitions,
    options?: RegisterOptions,
  ): OperationRegistry<TOperations & ShapesOf<TDefinitions>> {
    this.#catalog.add(operations, replaces("registerAll", options))
    return this as unknown as OperationRegistry<TOperations & ShapesOf<TDefinitions>>
  }

  /** Adds a spec whose handler follows later. Other members of the object are ignored. */
  registerSpec(spec: OperationSpec, options?: RegisterOptions): this {
    this.#catalog.addSpec(spec, replaces("registerSpec", options))
    return this
  }

  /** Sets the handler of a registered spec. */
  registerHandler(
    id: OperationId<TOperations>,
    // The type of the input is known to the author of the spec; it cannot be inferred from an id.
    handler: (input: never, context: OperationContext<TOperations>) => unknown,
    options?: RegisterOptions & OperationPolicy,
  ): this {
    const replace = replaces("registerHandler", options)
    this.#catalog.addHandler(id, handler, options ?? {}, replace)
    return this
  }

  /** Removes an operation; running calls continue. Returns false if there was none. */
  unregister(id: OperationId<TOperations>): boolean {
    return this.#catalog.remove(id)
  }

  get(id: OperationId<TOperations>): RegisteredOperation | undefined {
    return this.#catalog.store.get(id)?.view
  }

  getByName(namespace: string, name: string): RegisteredOperation | undefined {
    if (typeof namespace !== "string" || typeof name !== "string") return undefined
    return this.get(`${namespace}.${name}`)
  }

  getSpec(id: OperationId<TOperations>): OperationSpec | undefined {
    return this.#catalog.store.get(id)?.spec
  }

  getHandler(id: OperationId<TOperations>): AnyHandler | undefined {
    return this.#catalog.store.get(id)?.handler
  }

  has(id: OperationId<TOperations>): boolean {
    return this.#catalog.store.get(id) !== undefined
  }

  /** Every operation, in the order of registration. */
  list(): RegisteredOperation[] {
    return Array.from(this.#catalog.store.values(), (record) => record.view)
  }

  /** Every spec, in the order of registration. */
  getAllSpecs(): OperationSpec[] {
    return Array.from(this.#catalog.store.values(), (record) => record.spec)
  }

  // `TListed` is `TOperations`, inferred from `this`: a type that is inferred is taken as it is, while the compiler
  // instantiates the types of all operations in a list again for each call that names `TOperations`. Those of an
  // object it does not; there `TListed` is `never`, so that editors have room for input and result beside it.
  // `object` is for objects that have only this method of a registry.
  /** Runs a query or mutation as `context.identity`. Rejects with a `CallError`, never throws. */
  execute<
    const TId extends KnownId<TOperations> | AnyString,
    TListed extends IfRouted<TOperations, never, unknown> = IfRouted<
      TOperations,
      never,
      TOperations
    >,
    TShape = Executable<IfRouted<TOperations, TOperations, TListed>, TId>,
  >(
    this: OperationRegistry<TListed> | object,
    id: TId & Callable<NoInfer<TShape>>,
    ...args: CallArguments<NoInfer<TShape>>
  ): Promise<ResponseEnvelope<OutputIn<TShape>>>
  execute(id: string, input?: unknown, context?: CallOptions): Promise<ResponseEnvelope> {
    return this.#kernel.call(id, input, context, undefined, false)
  }

  /** Opens a stream. It starts when the first item is requested; leaving the loop stops the handler. */
  subscribe<
    const TId extends KnownId<TOperations> | AnyString,
    TListed extends IfRouted<TOperations, never, unknown> = IfRouted<
      TOperations,
      never,
      TOperations
    >,
    TShape = Subscribable<IfRouted<TOperations, TOperations, TListed>, TId>,
  >(
    this: OperationRegistry<TListed> | object,
    id: TId & Callable<NoInfer<TShape>>,
    ...args: CallArguments<NoInfer<TShape>>
  ): EnvelopeStream<OutputIn<TShape>>
  subscribe(id: string, input?: unknown, context?: CallOptions): EnvelopeStream {
    return this.#kernel.stream(id, input, context, undefined, false)
  }

  /**
   * The application's own calls, without an access check. Input is validated as usual.
   *
   * Not part of any context: pass it only to code that acts for the application.
   * Calls nested under such a call are checked against its identity again.
   */
  get trusted(): TrustedCalls<TOperations> {
    const kernel = this.#kernel
    const calls = {
      execute: (id: string, input?: unknown, context?: CallOptions) =>
        kernel.call(id, input, context, undefined, true),
      subscribe: (id: string, input?: unknown, context?: CallOptions) =>
        kernel.stream(id, input, context, undefined, true),
    }
    return (this.#trusted ??= Object.freeze(calls) as unknown as TrustedCalls<TOperations>)
  }

  /**
   * Ranked full-text search over ids, titles, descriptions, tags, paths and the names of inputs.
   *
   * With `identity` in the options, even as `undefined`, it finds only what that caller may call.
   * Without it, it finds all external operations. Internal operations are never found.
   */
  search(query: string, options: SearchOptions = {}): SearchResult[] {
    return this.#catalog.search(query, options, (id) => {
      const known = "identity" in options ? { identity: options.identity } : {}
      return this.outlook(id, known)?.isDenied !== true
    })
  }

  /** Notifies a listener of added, removed and replaced operations; returns a function that removes it. */
  onChange(listener: (change: RegistryChange) => void): () => void {
    return this.#catalog.onChange(listener)
  }

  /** Notifies a listener when a call starts and ends, nested ones too; returns a function that removes it. */
  onCall(listener: (trace: CallTrace) => void): () => void {
    return this.#kernel.onCall(listener)
  }

  /**
   * Adds a tracer: it sees each call from before its access and input are checked until its end, and the handler runs in
   * its scope. It cannot change an outcome. Returns a function that removes it.
   */
  trace(tracer: CallTracer): () => void {
    return this.#kernel.trace(tracer)
  }

  /**
   * Runs a middleware around calls, after the access and input checks and around the handler and the result
   * pipeline, for operations of every source. The first one is outermost. Returns a function that removes it.
   *
   * A function applies to queries and mutations; an object may also have `stream` for subscriptions.
   */
  use(middleware: Middleware | MiddlewareFunction, options?: MiddlewareOptions): () => void {
    return this.#kernel.middleware.use(middleware, options)
  }

  /** Ends running calls with `ABORTED`, removes listeners and rejects later calls. You can call it twice. */
  close(): Promise<void> {
    this.#kernel.close()
    this.#catalog.close()
    return Promise.resolve()
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.close()
  }

  /** @internal For servers without a logger. */
  get logger(): Logger {
    return this.#kernel.logger
  }

  /** @internal Identifies this registry in the paths of its operations. */
  get originId(): string {
    return (this.#originId ??= mintRequestId())
  }

  /** @internal The registries that an operation came through; the last one is this. */
  pathOf(id: string): readonly string[] {
    return [...(this.#catalog.store.get(id)?.via?.() ?? []), this.originId]
  }

  /** @internal `execute` with a sink that receives the outcome. */
  executeInto(id: string, input: unknown, sink: CallSink & CallOptions): void {
    this.#kernel.callInto(id, input, sink)
  }

  /** @internal The ids of operations with a handler, without making their public views. */
  callableIds(): string[] {
    const ids: string[] = []
    for (const { id, handler } of this.#catalog.store.values()) {
      if (handler !== undefined) ids.push(id)
    }
    return ids
  }

  /** @internal Prepares `search` in parts; `false` if `isDue` interrupted it. */
  updateIndex(isDue: () => boolean): boolean {
    return this.#catalog.updateIndex(isDue)
  }

  /** @internal Records inputs and results of calls, which `onCall` never reports; returns a function that ends it. */
  recordCalls(recorder: CallRecorder): () => void {
    return this.#kernel.record(recorder)
  }

  /** What `approvals` decides, and the calls that wait for a person; `undefined` without rules. */
  get approvals(): Approvals | undefined {
    return this.#kernel.middleware.approvals
  }

  /** @internal Applies other rules to calls that start from now on. */
  setApprovals(approvals: Approvals | undefined): void {
    this.#kernel.middleware.setApprovals(approvals)
    this.#catalog.announceAll()
  }

  /** @internal Masks further secrets in what dry runs show. */
  setMask(mask: (text: string) => string): void {
    this.#kernel.middleware.mask = mask
  }

  /** @internal What rules say of the calls of an operation; `undefined` without rules. */
  outlook(id: string, call: Partial<ApprovalCall>): Outlook | undefined {
    const record = this.#catalog.store.get(id)
    return record && this.#kernel.middleware.outlook(record, call)
  }

  /** @internal What is wrong with the rules for the operations that are registered. */
  async reviewApprovals(): Promise<readonly string[]> {
    return await this.#kernel.middleware.reviewApprovals()
  }

  /** @internal Sets the policies of operations besides those of their definitions. */
  setPolicies(directory: PolicyDirectory): void {
    this.#kernel.middleware.policies.setDirectory(directory)
  }

  /** @internal The policies of an operation, and where they were set. */
  async describePolicies(id: string): Promise<readonly AppliedPolicy[]> {
    const record = this.#catalog.store.get(id)
    return record === undefined ? [] : await this.#kernel.middleware.policies.describe(record)
  }

  /** @internal The current state of the policies: breakers, budgets, counts. */
  get policyState(): PolicyState {
    return this.#kernel.middleware.policies.state()
  }

  /** @internal The error for an id that a remote caller may not know. */
  missing(id: string, identity: Identity | undefined): CallError {
    return notRegistered(this.#catalog.store, id, identity)
  }

  /** @internal The implementation of `buildEnv`. */
  createEnv(
    context: OperationContext | CallOptions | undefined,
    allowedNamespaces: ReadonlySet<string> | undefined,
  ): OperationEnv<TOperations> {
    const call = (id: string, input?: unknown, options?: CallOptions): Promise<ResponseEnvelope> =>
      this.#kernel.callFrom(context, id, input, options)
    return createEnv(this.#kernel, call as OperationCall<never>, allowedNamespaces)
  }
}

type Routable<TRoutes> = TRoutes extends readonly unknown[]
  ? NotCallable<"Operations in a list need namespace and name. Or let keys give them: createRegistry({ task: { create } })">
  : unknown

/**
 * Creates a registry with these operations, typed for them: an object of namespaces, whose keys give the operations
 * their names, or a list of operations that have names.
 */
export function createRegistry<const TDefinitions extends readonly AnyOperation[]>(
  operations: TDefinitions,
  options?: RegistryOptions,
): OperationRegistry<ShapesOf<TDefinitions>>
export function createRegistry<TRoutes extends OperationRoutes | readonly RoutedOperation[]>(
  operations: TRoutes & Routable<TRoutes>,
  options?: RegistryOptions,
): OperationRegistry<RoutedShapes<TRoutes>>
export function createRegistry(
  operations: readonly AnyOperation[] | OperationRoutes,
  options: RegistryOptions = {},
): OperationRegistry {
  validateRegistryOptions("createRegistry", options)
  const registry = new OperationRegistry(options)
  registry.registerAll(
    Array.isArray(operations) ? operations : readRoutes(operations as OperationRoutes),
  )
  return registry
}

export type { RegisterOptions, RegistryChange, RegistryOptions, SearchOptions, SearchResult }
