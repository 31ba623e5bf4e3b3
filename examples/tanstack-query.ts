// #region setup
import { createClient, createRegistry, defineOperation, serveCalls } from "@alkdev/operations"
import { createMemoryTransports } from "@alkdev/operations/testing"
import { createQueryUtils } from "@alkdev/operations/tanstack-query"
import { QueryClient, QueryClientProvider, useQuery } from "@tanstack/react-query"
import { createElement } from "react"
import type { ReactNode } from "react"
import { renderToString } from "react-dom/server"
import { Type } from "@alkdev/operations/type"

const titles = ["Milk", "Bread", "Tea"]

const list = defineOperation({
  type: "query",
  description: "Lists tasks, two at a time",
  inputSchema: Type.Object({ from: Type.Integer({ default: 0 }) }),
  outputSchema: Type.Object({
    titles: Type.Array(Type.String()),
    next: Type.Optional(Type.Integer()),
  }),
  accessControl: { requiredScopes: [] },
  handler: ({ from }) => {
    const page = { titles: titles.slice(from, from + 2) }
    return from + 2 < titles.length ? { ...page, next: from + 2 } : page
  },
})

const create = defineOperation({
  type: "mutation",
  description: "Creates a task",
  inputSchema: Type.Object({ title: Type.String({ minLength: 1 }) }),
  outputSchema: Type.Integer(),
  accessControl: { requiredScopes: [] },
  handler: ({ title }) => titles.push(title),
})

const watch = defineOperation({
  type: "subscription",
  description: "Streams titles",
  inputSchema: Type.Object({}),
  outputSchema: Type.String(),
  accessControl: { requiredScopes: [] },
  async *handler() {
    for (const title of titles) yield await Promise.resolve(title)
  },
})

const registry = createRegistry({ task: { list, create, watch } }, { output: "strict" })

// In a browser: createWebSocketTransport("wss://…"), and only the type of the registry.
const [near, far] = createMemoryTransports()
const server = serveCalls(registry, { transport: far })
const client = createClient<typeof registry>(near)

const utils = createQueryUtils(client)
const queryClient = new QueryClient()

function Tasks(): ReactNode {
  const { data, error } = useQuery(utils.task.list.queryOptions({ from: 0 }, { staleTime: 60_000 }))
  return createElement("p", null, error === null ? data?.titles.join(", ") : error.code)
}
// #endregion

// #region render
await queryClient.prefetchQuery(utils.task.list.queryOptions({ from: 0 }))
const app = createElement(QueryClientProvider, { client: queryClient }, createElement(Tasks))
console.log(renderToString(app))
// #endregion

// #region infinite
const { pages } = await queryClient.fetchInfiniteQuery({
  ...utils.task.list.infiniteOptions((from: number) => ({ from }), {
    initialPageParam: 0,
    getNextPageParam: ({ next }) => next,
  }),
  pages: 2,
})
console.log(pages.map((page) => page.titles))
// #endregion

// #region mutation
const mutation = queryClient.getMutationCache().build(
  queryClient,
  utils.task.create.mutationOptions({
    onSuccess: () => queryClient.invalidateQueries({ queryKey: utils.task.key() }),
  }),
)
console.log(await mutation.execute({ title: "Salt" }))
console.log(queryClient.getQueryState(utils.task.list.queryKey({ from: 0 }))?.isInvalidated)
// #endregion

// #region streamed
console.log(await queryClient.fetchQuery(utils.task.watch.streamedOptions({}, { maxItems: 2 })))
// #endregion

// #region keys
console.log(JSON.stringify(utils.task.list.queryKey({ from: 2 })))
console.log(JSON.stringify(utils.task.list.key()))
console.log(JSON.stringify(utils.task.key()))
// #endregion

queryClient.clear()
await server.close()
