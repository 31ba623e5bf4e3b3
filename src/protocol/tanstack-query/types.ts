import type { CallError } from "../../core/errors.ts"
import type {
  CallArguments,
  DottedId,
  KeyBelow,
  KnownId,
  NamespaceOf,
  OutputIn,
  Route,
  RoutesOf,
  ShapeIn,
  TypeIn,
  UnroutedId,
} from "../../core/infer.ts"

/** A key of TanStack Query. */
export type OperationKey = readonly [path: readonly string[], details?: OperationKeyDetails]

/** What distinguishes the queries of one operation. */
export interface OperationKeyDetails {
  readonly type: "query" | "infinite" | "streamed"
  readonly input?: unknown
}

/** What TanStack Query passes to a query function, as far as it is used here. */
export interface QueryContextLike {
  readonly signal: AbortSignal
}

/** The same for streams, whose items are stored while they arrive. */
export interface StreamContextLike extends QueryContextLike {
  readonly queryKey: readonly unknown[]
  readonly client: { setQueryData(key: readonly unknown[], data: unknown): unknown }
}

/** The same for pages. */
export interface PageContextLike extends QueryContextLike {
  readonly pageParam: unknown
}

/** Types the errors of a query or mutation. It is never set: how often to retry is up to the query client. */
interface Failing {
  readonly retry?: (failureCount: number, error: CallError) => boolean
}

/**
 * Options that are made here, and `TGiven`, those that were given.
 *
 * `NoInfer`, because the hooks of TanStack Query expect a type of their own, from which the compiler would infer
 * `TGiven` instead of from the argument.
 */
type Options<TMade, TGiven> = Made<TMade, NoInfer<TGiven>> & NoInfer<TGiven>

type Made<TMade, TGiven> = Omit<TMade & Failing, keyof TGiven>

interface QueryMade<TOutput, TContext = QueryContextLike> {
  readonly queryKey: OperationKey
  readonly queryFn: (context: TContext) => Promise<TOutput>
}

interface MutationMade<TInput, TOutput> {
  readonly mutationKey: OperationKey
  readonly mutationFn: (input: Variables<TInput>) => Promise<TOutput>
}

// With `void`, `mutate()` needs no argument.
// oxlint-disable-next-line typescript/no-invalid-void-type -- see above
type Variables<TInput> = undefined extends TInput ? TInput | void : TInput

// What needs a type from here. All other options are an `object`: TanStack Query checks them where they are used.

interface QueryGiven<TData> {
  readonly select?: (data: TData) => unknown
}

/** Options of `streamedOptions` beside those of TanStack Query. */
export interface StreamGiven<TOutput> extends QueryGiven<TOutput[]> {
  /** Keeps only the last items; default: all. */
  readonly maxItems?: number
}

/** How pages follow each other. */
export interface PagesGiven<TOutput, TPage> {
  readonly initialPageParam: TPage
  readonly getNextPageParam: (
    lastPage: TOutput,
    allPages: TOutput[],
    lastPageParam: NoInfer<TPage>,
    allPageParams: NoInfer<TPage>[],
  ) => NoInfer<TPage> | undefined | null
}

interface MutationGiven<TInput, TOutput> {
  readonly onSuccess?: (data: TOutput, input: TInput, ...rest: never[]) => unknown
  readonly onError?: (error: CallError, input: TInput, ...rest: never[]) => unknown
}

/** The members that every operation has. */
export interface KeyUtils {
  /** A prefix of the keys of all queries below: `queryClient.invalidateQueries({ queryKey: utils.task.key() })`. */
  key(): OperationKey
}

type InputArguments<TInput> = undefined extends TInput ? [input?: TInput] : [input: TInput]

// Two signatures, because the compiler takes the parameters of `select` from the constraint of `TGiven` only if that has
// no default.

interface QueryOptionsMethod<TInput, TOutput> {
  (...args: InputArguments<TInput>): QueryMade<TOutput> & Failing
  <TGiven extends QueryGiven<TOutput> | object>(
    input: TInput,
    options: TGiven,
  ): Options<QueryMade<TOutput>, TGiven>
}

interface StreamedOptionsMethod<TInput, TOutput> {
  (...args: InputArguments<TInput>): QueryMade<TOutput[], StreamContextLike> & Failing
  <TGiven extends StreamGiven<TOutput> | object>(
    input: TInput,
    options: TGiven,
  ): Options<QueryMade<TOutput[], StreamContextLike>, Omit<TGiven, "maxItems">>
}

/** Options for `useQuery`, `useInfiniteQuery` and their kin. */
export interface QueryOperationUtils<TInput, TOutput> extends KeyUtils {
  /** The key of `queryOptions(input)`. */
  queryKey(...args: InputArguments<TInput>): OperationKey
  readonly queryOptions: QueryOptionsMethod<TInput, TOutput>
  /** `input` returns the input of a page. */
  infiniteOptions<TPage, TGiven extends PagesGiven<TOutput, TPage>>(
    input: (page: TPage) => TInput,
    options: TGiven & PagesGiven<TOutput, TPage>,
  ): Options<QueryMade<TOutput, PageContextLike>, TGiven>
}

/** Options for `useMutation` and its kin. */
export interface MutationOperationUtils<TInput, TOutput> extends KeyUtils {
  mutationOptions(): MutationMade<TInput, TOutput> & Failing
  mutationOptions<TGiven extends MutationGiven<TInput, TOutput> | object>(
    options: TGiven,
  ): Options<MutationMade<TInput, TOutput>, TGiven>
}

/** Options for `useQuery` with the items of a stream so far. */
export interface StreamOperationUtils<TInput, TOutput> extends KeyUtils {
  /** The key of `streamedOptions(input)`. */
  streamedKey(...args: InputArguments<TInput>): OperationKey
  readonly streamedOptions: StreamedOptionsMethod<TInput, TOutput>
}

/** What an operation has, by its type. */
export type OperationUtils<TType, TInput, TOutput> = TType extends "mutation"
  ? MutationOperationUtils<TInput, TOutput>
  : TType extends "subscription"
    ? StreamOperationUtils<TInput, TOutput>
    : QueryOperationUtils<TInput, TOutput>

type UtilsOf<TShape> = OperationUtils<
  TypeIn<TShape>,
  CallArguments<TShape, never>[0],
  OutputIn<TShape>
>

type NamespaceUtils<TOperations, TIds, TPath extends string> = KeyUtils & {
  readonly [
    TId in TIds & keyof TOperations as TId extends `${TPath}.${infer TName}` ? TName : never
  ]: UtilsOf<TOperations[TId]>
} & {
  readonly [TKey in KeyBelow<DottedId<TIds>, TPath>]: NamespaceUtils<
    TOperations,
    DottedId<TIds>,
    `${TPath}.${TKey}`
  >
}

// No `as` here: the compiler links the members of such a type to the keys that they were made from.
type RoutedUtils<TRoutes> = {
  readonly [TKey in keyof TRoutes]: TRoutes[TKey] extends Route
    ? UtilsOf<ShapeIn<TRoutes[TKey]>>
    : KeyUtils & RoutedUtils<TRoutes[TKey]>
}

/**
 * The namespaces of an untyped client: any namespace, any name.
 *
 * They are `any` for the same reason as in an untyped client.
 */
// oxlint-disable-next-line typescript/no-explicit-any -- see above
type UntypedNamespaces = Readonly<Record<string, any>>

/** Operations by namespace and name: `utils.task.list.queryOptions(input)`. */
export type QueryUtils<TOperations> = KeyUtils &
  ([KnownId<TOperations>] extends [never]
    ? UntypedNamespaces
    : Namespaces<TOperations, UnroutedId<TOperations>>)

type Namespaces<TOperations, TIds> = RoutedUtils<RoutesOf<TOperations>> & {
  readonly [TNamespace in NamespaceOf<TIds>]: NamespaceUtils<TOperations, TIds, TNamespace>
}
