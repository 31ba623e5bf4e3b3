// #region serve
import { createRegistry, defineOperation } from "@alkdev/operations"
import { toMCP } from "@alkdev/operations/to-mcp"
import { setTimeout as sleep } from "node:timers/promises"
import { Type } from "@alkdev/operations/type"

const notes: string[] = ["Water the plants"]

const add = defineOperation({
  type: "mutation",
  description: "Adds a note",
  inputSchema: Type.Object({ text: Type.String({ minLength: 1 }) }),
  outputSchema: Type.Object({ count: Type.Integer() }),
  accessControl: { requiredScopes: [] },
  handler: ({ text }) => ({ count: notes.push(text) }),
})

const find = defineOperation({
  type: "query",
  description: "Finds notes that contain a word",
  inputSchema: Type.Object({ word: Type.String() }),
  outputSchema: Type.Array(Type.String()),
  accessControl: { requiredScopes: [] },
  handler: ({ word }) => notes.filter((note) => note.includes(word)),
})
// #endregion

// #region ask
const clear = defineOperation({
  type: "mutation",
  description: "Deletes all notes, if the user agrees",
  inputSchema: Type.Object({}),
  outputSchema: Type.Object({ removed: Type.Integer() }),
  accessControl: { requiredScopes: [] },
  handler: async (_, { requestInput }) => {
    const { action } = await requestInput({
      message: `Throw away ${notes.length} notes?`,
      schema: { type: "object", properties: {} },
    })
    return { removed: action === "accept" ? notes.splice(0).length : 0 }
  },
})
// #endregion

// #region stream
const read = defineOperation({
  type: "subscription",
  description: "Streams the notes one by one",
  inputSchema: Type.Object({}),
  outputSchema: Type.String(),
  accessControl: { requiredScopes: [] },
  async *handler(_, { signal }) {
    for (;;) {
      yield* notes
      await sleep(10, undefined, { signal })
    }
  },
})
// #endregion

// #region start
const registry = createRegistry({ note: { add, find, clear, read } }, { output: "strict" })
await toMCP(registry, { name: "notes" }).stdio()
// #endregion
