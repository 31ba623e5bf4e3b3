// A server of MCP over standard input and output that writes each run of an operation into a file. It does not start
// where there is a file that says that it is gone.
import { appendFileSync, existsSync } from "node:fs"
import { toMCP } from "../../src/to-mcp.ts"
import { silentLogger } from "../../src/testing.ts"
import { countedOperations } from "./counted-operations.ts"

const [, , type = "query", file = ""] = process.argv
if (existsSync(`${file}.gone`)) process.exit(1)
appendFileSync(file, `process ${process.pid}\n`)
const registry = countedOperations(
  type as "query" | "mutation",
  () => appendFileSync(file, "run\n"),
  new Promise(() => undefined),
)
await toMCP(registry, { logger: silentLogger, expose: { mode: "all" } }).stdio()
