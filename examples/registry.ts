// #region define
import { createRegistry, defineOperation } from "@alkdev/operations"
import { Type } from "@alkdev/operations/type"

const Task = Type.Object({ id: Type.Integer(), title: Type.String() })
const tasks = [{ id: 1, title: "Buy milk" }]

const create = defineOperation({
  type: "mutation",
  description: "Adds a task to the list",
  tags: ["todo"],
  inputSchema: Type.Object({ title: Type.String() }),
  outputSchema: Task,
  accessControl: { requiredScopes: ["task.write"] },
  handler: ({ title }) => {
    const task = { id: tasks.length + 1, title }
    tasks.push(task)
    return task
  },
})

const list = defineOperation({
  type: "query",
  description: "Lists the tasks",
  inputSchema: Type.Unknown(),
  outputSchema: Type.Array(Task),
  accessControl: { requiredScopes: [] },
  handler: () => tasks,
})

const registry = createRegistry({ task: { create, list } }, { output: "strict" })

const { data } = await registry.execute("task.list")
console.log(data.map((task) => task.title))
// #endregion

// #region chain
const first = defineOperation({ ...list, namespace: "task", name: "first" })
const chained = createRegistry({ task: { create, list } }, { output: "strict" }).register(first)

console.log(chained.list().map(({ namespace, name }) => `${namespace}.${name}`))
// #endregion

// #region change
const stop = registry.onChange(({ type, id }) => console.log(type, id))

const listAll = { ...list, namespace: "task", name: "list", description: "Lists all tasks" }
registry.register(listAll, { replace: true })
registry.registerSpec({
  namespace: "task",
  name: "clear",
  version: "1.0.0",
  type: "mutation",
  description: "Removes all tasks",
  inputSchema: Type.Unknown(),
  outputSchema: Type.Null(),
  accessControl: { requiredScopes: ["task.write"] },
})
registry.registerHandler("task.clear", () => {
  tasks.length = 0
  return null
})
registry.unregister("task.clear")

stop()
// #endregion

// #region faults
for (const attempt of [
  () => registry.register({ ...create, namespace: "task", name: "create" }),
  () => {
    const accessControl = { requiredScopes: [], resourceType: "task", resourceIdPath: "id" }
    const undo = { ...create, namespace: "task", name: "undo", accessControl }
    registry.register({ ...undo, composes: ["audit"] })
  },
]) {
  try {
    attempt()
  } catch (error) {
    console.log((error as Error).message)
  }
}
// #endregion

// #region search
const ids = (found: readonly { readonly id: string }[]): string[] => found.map(({ id }) => id)

console.log("for the application", ids(registry.search("task")))
console.log("for a stranger", ids(registry.search("task", { identity: undefined })))
console.log(
  "for Ada",
  ids(registry.search("add todo", { identity: { id: "ada", scopes: ["task.write"] }, limit: 1 })),
)
// #endregion

// #region close
await registry.close()
await registry.execute("task.list").catch((error: Error) => console.log(error.message))
// #endregion
