import assert from "node:assert/strict"
import test from "node:test"
import { createTasks } from "./tasks.ts"

test("a task belongs to whoever creates it", async () => {
  const registry = createTasks()
  const identity = { id: "ada", scopes: ["tasks:write"] }

  const { data } = await registry.execute("task.create", { title: "Buy milk" }, { identity })

  assert.deepEqual(data, { id: 1, title: "Buy milk", owner: "ada" })
})

test("creating a task needs a scope", async () => {
  const identity = { id: "bob", scopes: [] }

  await assert.rejects(createTasks().execute("task.create", { title: "Buy milk" }, { identity }), {
    code: "ACCESS_DENIED",
  })
})
