import type { MCPResults } from "./goals.ts"
import type { MCPLibrary } from "./library.ts"
import { mcp } from "./mcp.ts"
import { mcpOverHTTP, measureFirst } from "./mcp-http.ts"
import { measureStdio } from "./mcp-stdio.ts"
import { measure } from "./measure.ts"
import type { Effort } from "./measure.ts"

/** Measures calls of MCP tools, served and imported. */
export async function measureMCP(
  library: MCPLibrary,
  effort: Effort,
  log: (text: string) => void,
): Promise<MCPResults> {
  log("Measuring MCP tools")
  const rows = await mcp(library)
  // A call takes long next to what the other rows measure: batches have to be longer too.
  const longer = { ...effort, batch: effort.batch * 4 }
  const served = await measure(rows.served, longer)
  const imported = await measure(rows.imported, longer)
  await rows.close()
  log("Measuring MCP tools over HTTP")
  const remote = await mcpOverHTTP()
  try {
    const overHTTP = await measure(remote.workloads, {
      ...effort,
      batch: effort.batch * 10,
      warmUp: effort.warmUp * 8,
    })
    log("Measuring MCP over stdio")
    const stdio = await measureStdio(Math.ceil(effort.rounds / 2))
    return { served, imported, overHTTP, stdio, first: await measureFirst(effort.rounds / 2) }
  } finally {
    remote.close()
  }
}
