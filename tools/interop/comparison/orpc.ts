// #region define
import { createORPCClient, isDefinedError, safe } from "@orpc/client"
import { RPCLink } from "@orpc/client/fetch"
import { eventIterator, ORPCError, os, type RouterClient } from "@orpc/server"
import { RPCHandler } from "@orpc/server/fetch"
import { z } from "zod"
import { addTask, findUser, tasks } from "./tasks.ts"

const Task = z.object({ id: z.number(), title: z.string(), owner: z.string() })

const base = os.$context<{ readonly headers: Headers }>()

const signedIn = base.use(({ context: { headers }, next }) => {
  const user = findUser(headers.get("authorization"))
  if (user === undefined) throw new ORPCError("UNAUTHORIZED")
  return next({ context: { user } })
})

const list = base.output(z.array(Task)).handler(() => tasks)

const create = signedIn
  .errors({ TITLE_TAKEN: { status: 409, data: z.object({ id: z.number() }) } })
  .input(z.object({ title: z.string().min(1) }))
  .output(Task)
  .handler(({ input: { title }, context: { user }, errors }) => {
    const taken = tasks.find((task) => task.title === title)
    if (taken === undefined) return addTask(title, user)
    throw errors.TITLE_TAKEN({ data: { id: taken.id } })
  })

const watch = base.output(eventIterator(Task)).handler(async function* () {
  for (const task of tasks) yield task
})

export const router = { task: { list, create, watch } }
// #endregion

// #region serve
const handler = new RPCHandler(router)

async function serve(request: Request): Promise<Response> {
  const context = { headers: request.headers }
  const { response } = await handler.handle(request, { prefix: "/rpc", context })
  return response ?? new Response("Not found", { status: 404 })
}
// #endregion

// #region client
const clientOf = (headers: Record<string, string>): RouterClient<typeof router> =>
  createORPCClient(new RPCLink({ url: "http://localhost/rpc", headers, fetch: serve }))

const client = clientOf({ authorization: "Bearer ada-1" })
const created = await client.task.create({ title: "Buy milk" })
console.log(created.id, created.title, created.owner)

const [taken] = await safe(client.task.create({ title: "Buy milk" }))
if (isDefinedError(taken)) console.log(taken.code, taken.data.id)

const [denied] = await safe(clientOf({}).task.create({ title: "Call Bob" }))
if (denied instanceof ORPCError) console.log(denied.code)

for await (const task of await client.task.watch()) console.log(task.title)
// #endregion
