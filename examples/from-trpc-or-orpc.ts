// #region define
import {
  CallError,
  createClient,
  createRegistry,
  defineOperation,
  isCallError,
  isDeclaredError,
} from "@alkdev/operations"
import { createHTTPTransport } from "@alkdev/operations/http"
import { toHTTP } from "@alkdev/operations/to-http"
import { z } from "zod"
import { addTask, findUser, tasks } from "./from-trpc-or-orpc/tasks.ts"

const Task = z.object({ id: z.number(), title: z.string(), owner: z.string() })

const list = defineOperation({
  type: "query",
  description: "Lists the tasks",
  inputSchema: z.object({}),
  outputSchema: z.array(Task),
  accessControl: { requiredScopes: [] },
  handler: () => tasks,
})

const create = defineOperation({
  type: "mutation",
  description: "Creates a task",
  inputSchema: z.object({ title: z.string().min(1) }),
  outputSchema: Task,
  errorSchemas: [
    {
      code: "TITLE_TAKEN",
      description: "There is such a task already",
      schema: z.object({ id: z.number() }),
      httpStatus: 409,
    },
  ],
  accessControl: { requiredScopes: ["task.write"] },
  handler: ({ title }, { identity }) => {
    const taken = tasks.find((task) => task.title === title)
    if (taken === undefined) return addTask(title, identity?.id ?? "")
    throw new CallError("TITLE_TAKEN", `Task ${taken.id} has this title.`, {
      details: { id: taken.id },
    })
  },
})

const watch = defineOperation({
  type: "subscription",
  description: "Streams the tasks",
  inputSchema: z.object({}),
  outputSchema: Task,
  accessControl: { requiredScopes: [] },
  async *handler() {
    for (const task of tasks) yield task
  },
})

export const registry = createRegistry({ task: { list, create, watch } }, { output: "strict" })
// #endregion

// #region serve
const api = toHTTP(registry, {
  authenticate: (request) => {
    const id = findUser(String(request.headers["authorization"]))
    return id === undefined ? null : { id, scopes: ["task.write"] }
  },
})
// #endregion

// #region client
const clientOf = (headers: Record<string, string>) =>
  createClient<typeof registry>(
    createHTTPTransport("http://localhost", {
      headers,
      fetch: (input, init) => api.fetch(new Request(input, init)),
    }),
  )

const client = clientOf({ authorization: "Bearer ada-1" })
const { data: created } = await client.task.create({ title: "Buy milk" })
console.log(created.id, created.title, created.owner)

try {
  await client.task.create({ title: "Buy milk" })
} catch (error) {
  if (isDeclaredError(create, error)) console.log(error.code, error.details?.id)
}
try {
  await clientOf({}).task.create({ title: "Call Bob" })
} catch (error) {
  if (isCallError(error)) console.log(error.code)
}
for await (const { data: task } of client.task.watch({})) console.log(task.title)
// #endregion
