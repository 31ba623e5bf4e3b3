// #region connect
import { createRegistry, isCallError } from "@alkdev/operations"
import { createMCPClient, MCPClientLoader } from "@alkdev/operations/from-mcp"

const desk = await createMCPClient("desk", {
  command: "npx",
  args: ["tsx", "mcp/notes.ts"],
  elicitation: async ({ message }) => {
    console.log("asked:", message)
    return { action: "accept", content: {} }
  },
})

const registry = createRegistry([])
desk.registerAll(registry)

const added = await registry.execute("desk.note_add", { text: "Buy milk" })
console.log(added.data, added.meta.source)
// #endregion

// #region list
for (const { name, type, inputSchema } of desk.tools) {
  const { properties = {} } = inputSchema as { properties?: object }
  console.log(`${type} ${name}(${Object.keys(properties).join(", ")})`)
}
// #endregion

// #region wrong
await registry.execute("desk.note_add", { text: "" }).catch((error: unknown) => {
  if (isCallError(error)) console.log(error.code, error.details)
})
// #endregion

// #region ask
console.log((await registry.execute("desk.note_clear", {})).data)
// #endregion

// #region stream
await registry.execute("desk.note_add", { text: "Call Ada" })
const progress: number[] = []
const heard = await registry.execute(
  "desk.note_read",
  { limit: 3 },
  { progress: (value) => progress.push(value.progress) },
)
console.log(heard.data, progress)
await desk.close()
// #endregion

// #region several
const loader = new MCPClientLoader()
const loaded = await loader.load({
  mcpServers: {
    notes: { command: "npx", args: ["tsx", "mcp/notes.ts"] },
    broken: { command: "no-such-program" },
  },
})
console.log(loaded.map(({ name }) => name))
for (const { name, status, tools } of Object.values(loaded.servers)) {
  console.log(name, status, tools)
}
await loader.closeAll()
// #endregion
