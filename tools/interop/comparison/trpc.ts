// #region define
import {
  createTRPCClient,
  httpBatchLink,
  httpSubscriptionLink,
  splitLink,
  TRPCClientError,
} from "@trpc/client"
import { initTRPC, TRPCError } from "@trpc/server"
import { fetchRequestHandler } from "@trpc/server/adapters/fetch"
import { EventSource } from "eventsource"
import { z } from "zod"
import { addTask, findUser, tasks } from "./tasks.ts"

const Task = z.object({ id: z.number(), title: z.string(), owner: z.string() })

class TitleTaken extends Error {
  readonly id: number
  constructor(id: number) {
    super(`Task ${id} has this title.`)
    this.id = id
  }
}

const t = initTRPC.context<{ readonly user: string | undefined }>().create({
  errorFormatter: ({ shape, error: { cause } }) => ({
    ...shape,
    data: { ...shape.data, takenBy: cause instanceof TitleTaken ? cause.id : undefined },
  }),
})

const signedIn = t.procedure.use(({ ctx: { user }, next }) => {
  if (user === undefined) throw new TRPCError({ code: "UNAUTHORIZED" })
  return next({ ctx: { user } })
})

export const router = t.router({
  task: t.router({
    list: t.procedure.output(z.array(Task)).query(() => tasks),
    create: signedIn
      .input(z.object({ title: z.string().min(1) }))
      .output(Task)
      .mutation(({ input: { title }, ctx: { user } }) => {
        const taken = tasks.find((task) => task.title === title)
        if (taken === undefined) return addTask(title, user)
        throw new TRPCError({ code: "CONFLICT", cause: new TitleTaken(taken.id) })
      }),
    watch: t.procedure.subscription(async function* () {
      for (const task of tasks) yield task
    }),
  }),
})
// #endregion

// #region serve
const serve = (request: Request): Promise<Response> =>
  fetchRequestHandler({
    endpoint: "/rpc",
    req: request,
    router,
    createContext: ({ req }) => ({ user: findUser(req.headers.get("authorization")) }),
  })
// #endregion

// #region client
const url = "http://localhost/rpc"
const clientOf = (headers: Record<string, string>) =>
  createTRPCClient<typeof router>({
    links: [
      splitLink({
        condition: ({ type }) => type === "subscription",
        true: httpSubscriptionLink({
          url,
          EventSource,
          eventSourceOptions: { fetch: (input, init) => serve(new Request(input, init)) },
        }),
        false: httpBatchLink({
          url,
          headers,
          fetch: (input, init) => serve(new Request(input, init as RequestInit)),
        }),
      }),
    ],
  })

const client = clientOf({ authorization: "Bearer ada-1" })
const created = await client.task.create.mutate({ title: "Buy milk" })
console.log(created.id, created.title, created.owner)

try {
  await client.task.create.mutate({ title: "Buy milk" })
} catch (error) {
  if (isTRPCError(error)) console.log(error.data?.code, error.data?.takenBy)
}
try {
  await clientOf({}).task.create.mutate({ title: "Call Bob" })
} catch (error) {
  if (isTRPCError(error)) console.log(error.data?.code)
}
await new Promise<void>((resolve, reject) => {
  client.task.watch.subscribe(undefined, {
    onData: (task) => console.log(task.title),
    onError: reject,
    onComplete: resolve,
  })
})

function isTRPCError(error: unknown): error is TRPCClientError<typeof router> {
  return error instanceof TRPCClientError
}
// #endregion
