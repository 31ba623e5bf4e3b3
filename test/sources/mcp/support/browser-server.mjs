// An MCP server on stdio that keeps a page open, as servers of browsers do. `--pids=FILE`: adds its process id to it.
import { appendFileSync } from "node:fs"
import { createInterface } from "node:readline"

const pids = process.argv.find((flag) => flag.startsWith("--pids="))?.slice(7)
if (pids !== undefined) appendFileSync(pids, `${process.pid}\n`)

let page = "about:blank"
let lastId = 0
const answers = new Map()

const tool = (name, properties = {}) => ({ name, inputSchema: { type: "object", properties } })
const TOOLS = [
  tool("navigate", { url: { type: "string" } }),
  tool("snapshot"),
  tool("confirm"),
  tool("wait", { ms: { type: "number" } }),
]

const METHODS = {
  initialize: ({ protocolVersion }) => ({
    protocolVersion,
    capabilities: { tools: {} },
    serverInfo: { name: "browser", version: "1.0.0" },
  }),
  ping: () => ({}),
  "tools/list": () => ({ tools: TOOLS }),
  "tools/call": async ({ name, arguments: input }) => {
    const text = await CALLS[name](input)
    return { content: [{ type: "text", text }] }
  },
}

const CALLS = {
  navigate: ({ url }) => (page = url),
  snapshot: () => page,
  wait: ({ ms }) => new Promise((resolve) => setTimeout(resolve, ms, "waited")),
  async confirm() {
    const requestedSchema = { type: "object", properties: { name: { type: "string" } } }
    const { action, content } = await ask({ message: `Leave ${page}?`, requestedSchema })
    return `${action} by ${content?.name}`
  },
}

function ask(params) {
  const id = `question-${++lastId}`
  send({ id, method: "elicitation/create", params })
  return new Promise((resolve) => answers.set(id, resolve))
}

function send(message) {
  process.stdout.write(`${JSON.stringify({ jsonrpc: "2.0", ...message })}\n`)
}

createInterface({ input: process.stdin }).on("line", (line) => void answer(line))

async function answer(line) {
  const { id, method, params, result, error } = JSON.parse(line)
  if (method === undefined) answers.get(id)?.(result ?? { action: `error ${error?.message}` })
  else if (id !== undefined) {
    const run = METHODS[method]
    if (run === undefined) send({ id, error: { code: -32601, message: "Method not found" } })
    else send({ id, result: await run(params) })
  }
}
