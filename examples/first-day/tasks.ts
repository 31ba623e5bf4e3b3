import { createRegistry, defineOperation } from "@alkdev/operations"
import { Type } from "@alkdev/operations/type"

const Task = Type.Object({ id: Type.Integer(), title: Type.String(), owner: Type.String() })

/** Creates operations with their own list of tasks, so that each test gets a new one. */
export function createTasks() {
  const tasks: { id: number; title: string; owner: string }[] = []

  const create = defineOperation({
    type: "mutation",
    description: "Creates a task",
    inputSchema: Type.Object({ title: Type.String({ minLength: 1 }) }),
    outputSchema: Task,
    accessControl: { requiredScopes: ["tasks:write"] },
    handler: ({ title }, { identity }) => {
      const task = { id: tasks.length + 1, title, owner: identity?.id ?? "anonymous" }
      tasks.push(task)
      return task
    },
  })

  const list = defineOperation({
    type: "query",
    description: "Lists all tasks",
    inputSchema: Type.Object({}),
    outputSchema: Type.Array(Task),
    accessControl: { requiredScopes: [] },
    handler: () => tasks,
  })

  return createRegistry({ task: { create, list } }, { output: "strict" })
}
