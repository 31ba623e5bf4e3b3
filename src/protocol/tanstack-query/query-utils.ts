import { unwrapOrThrow, type ResponseEnvelope } from "../../core/envelope.ts"
import type { Client } from "../client.ts"
import type {
  OperationKey,
  OperationKeyDetails,
  PageContextLike,
  QueryContextLike,
  QueryUtils,
  StreamContextLike,
} from "./types.ts"

/** What is used of a client. */
interface Calls {
  call(id: string, input: unknown, options: CallTerms): PromiseLike<ResponseEnvelope>
  subscribe(id: string, input: unknown, options: CallTerms): AsyncIterable<ResponseEnvelope>
}

type CallTerms = { readonly signal?: AbortSignal | undefined }

type Given = Readonly<Record<string, unknown>>

/**
 * Options for TanStack Query, by operation: `useQuery(utils.task.list.queryOptions({ done: false }))`.
 *
 * It calls nothing by itself, and needs no package: every adapter of TanStack Query 5 accepts the options.
 */
export function createQueryUtils<TOperations>(
  client: Client<TOperations>,
): QueryUtils<TOperations> {
  if (typeof (client as Partial<Calls> | undefined)?.call !== "function") {
    throw new TypeError("createQueryUtils(client): client must be one of createClient().")
  }
  const calls = client as unknown as Calls
  return members([], (namespace) =>
    members([namespace], (name) => operationAt(calls, `${namespace}.${name}`)),
  ) as QueryUtils<TOperations>
}

/** The options of an operation; further names lead to operations in nested objects. */
function operationAt(calls: Calls, id: string): object {
  const path = id.split(".")
  const options = new OperationOptions(calls, id, path)
  return members(path, (name) => operationAt(calls, `${id}.${name}`), options)
}

/**
 * An object with a member for every name, and `key`.
 *
 * A namespace or an operation may itself be called `key`: then that member is both.
 */
function members(
  path: readonly string[],
  create: (name: string) => object,
  own: object = {},
): object {
  const known = new Map<string, unknown>()
  return new Proxy(own, {
    get(_, name) {
      if (typeof name === "symbol" || name === "then") return undefined
      if (Object.hasOwn(own, name)) return Reflect.get(own, name) as unknown
      let member = known.get(name)
      if (member === undefined) {
        member = create(name)
        if (name === "key") member = keyOrMember(path, member as object)
        known.set(name, member)
      }
      return member
    },
  })
}

function keyOrMember(path: readonly string[], member: object): unknown {
  return new Proxy((): OperationKey => [path], {
    get: (_, name) => Reflect.get(member, name) as unknown,
  })
}

/** The options of one operation. Its methods are properties, because users pass them on without their object. */
class OperationOptions {
  readonly #calls: Calls
  readonly #id: string
  readonly #path: readonly string[]

  constructor(calls: Calls, id: string, path: readonly string[]) {
    this.#calls = calls
    this.#id = id
    this.#path = path
  }

  readonly key = (): OperationKey => [this.#path]

  readonly queryKey = (input?: unknown): OperationKey => this.#keyOf("query", input)

  readonly streamedKey = (input?: unknown): OperationKey => this.#keyOf("streamed", input)

  readonly queryOptions = (input?: unknown, given?: Given): object => ({
    ...given,
    queryKey: given?.["queryKey"] ?? this.#keyOf("query", input),
    queryFn: ({ signal }: QueryContextLike) => this.#run(input, signal),
  })

  readonly infiniteOptions = (input: (page: unknown) => unknown, given: Given): object => ({
    ...given,
    queryKey: given["queryKey"] ?? this.#keyOf("infinite", input(given["initialPageParam"])),
    queryFn: ({ signal, pageParam }: PageContextLike) => this.#run(input(pageParam), signal),
  })

  readonly mutationOptions = (given?: Given): object => ({
    ...given,
    mutationKey: given?.["mutationKey"] ?? this.key(),
    mutationFn: (input: unknown) => this.#run(input),
  })

  readonly streamedOptions = (input?: unknown, given: Given = {}): object => {
    const { maxItems = Infinity, ...rest } = given as Given & { readonly maxItems?: number }
    return {
      ...rest,
      queryKey: rest["queryKey"] ?? this.#keyOf("streamed", input),
      queryFn: (context: StreamContextLike) => this.#collect(input, maxItems, context),
    }
  }

  #keyOf(type: OperationKeyDetails["type"], input: unknown): OperationKey {
    return [this.#path, input === undefined ? { type } : { type, input }]
  }

  async #run(input: unknown, signal?: AbortSignal): Promise<unknown> {
    return dataOf(await this.#calls.call(this.#id, input, { signal }))
  }

  /** Stores the items so far after each one, and returns them all when the stream ends. */
  async #collect(
    input: unknown,
    maxItems: number,
    { signal, queryKey, client }: StreamContextLike,
  ): Promise<readonly unknown[]> {
    let items: readonly unknown[] = []
    for await (const envelope of this.#calls.subscribe(this.#id, input, { signal })) {
      // The query client has already forgotten a query that was cancelled.
      if (signal.aborted) break
      const kept = items.length < maxItems ? items : items.slice(items.length - maxItems + 1)
      items = [...kept, dataOf(envelope)]
      client.setQueryData(queryKey, items)
    }
    return items
  }
}

/** The data of an envelope; `null` for `undefined`, which TanStack Query treats as a mistake. */
function dataOf(envelope: ResponseEnvelope): unknown {
  const data = unwrapOrThrow(envelope)
  return data === undefined ? null : data
}
