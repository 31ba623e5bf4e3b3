import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client"

const { TASKS_KEY } = process.env
const client = new Client({ name: "agent", version: "1.0.0" })
await client.connect(
  new StreamableHTTPClientTransport(new URL("http://localhost:3000/mcp"), {
    requestInit: { headers: { authorization: `Bearer ${TASKS_KEY}` } },
  }),
)

const { tools } = await client.listTools()
console.log(tools.map(({ name }) => name))

const result = await client.callTool({
  name: "task_create",
  arguments: { title: "Call from an agent" },
})
console.log(result.structuredContent)

await client.close()
