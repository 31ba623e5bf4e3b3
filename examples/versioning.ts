// #region evolve
import { createRegistry, defineOperation } from "@alkdev/operations"
import { toHTTP } from "@alkdev/operations/to-http"
import { Type } from "@alkdev/operations/type"

interface Task {
  title: string
  priority: number
  labels: string[]
}

function store(task: Task): Task {
  return task
}

const add = defineOperation({
  // 1.0.0 had only a title.
  version: "1.1.0",
  type: "mutation",
  description: "Adds a task",
  inputSchema: Type.Object({
    title: Type.String(),
    priority: Type.Integer({ minimum: 1, maximum: 3, default: 2 }),
  }),
  outputSchema: Type.Object({ title: Type.String(), priority: Type.Integer() }),
  accessControl: { requiredScopes: [] },
  deprecation: {
    since: "2026-03-01",
    sunset: "2026-09-01",
    replacedBy: "task.create",
    link: "https://example.com/changes/task-create",
  },
  // The same implementation, so that both stay in sync.
  handler: (task) => store({ ...task, labels: [] }),
})

const create = defineOperation({
  type: "mutation",
  description: "Creates a task with labels",
  inputSchema: Type.Object({
    title: Type.String(),
    priority: Type.Integer({ minimum: 1, maximum: 3 }),
    labels: Type.Array(Type.String()),
  }),
  outputSchema: Type.Object({
    title: Type.String(),
    priority: Type.Integer(),
    labels: Type.Array(Type.String()),
  }),
  accessControl: { requiredScopes: [] },
  handler: store,
})

const registry = createRegistry({ task: { add, create } }, { output: "strict" })

// A caller of 1.0.0, which knows neither priorities nor labels.
const { data } = await registry.execute("task.add", JSON.parse(`{ "title": "Milk" }`))
console.log(data)
// #endregion

// #region http
await using api = toHTTP(registry)

for (const path of ["/api/task/add", "/operations/task.add"]) {
  const response = await api.fetch(
    new Request(`http://localhost${path}`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ title: "Milk" }),
    }),
  )
  console.log(response.status, path)
  for (const name of ["deprecation", "sunset", "link"]) {
    console.log(`  ${name}: ${response.headers.get(name)?.replaceAll(", <", ",\n        <")}`)
  }
}
// #endregion
