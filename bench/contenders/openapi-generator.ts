import type { Importer } from "./openapi.ts"

/** Inputs only; references are left out (`{ type: "object" }`) unless it is told to resolve all. */
export const generator: Importer = {
  name: "openapi-mcp-generator",
  async load() {
    const { getToolsFromOpenApi } = await import("openapi-mcp-generator")
    return async (text) => {
      const tools = await getToolsFromOpenApi(JSON.parse(text))
      return { made: tools, operations: tools.length, outputs: 0 }
    }
  },
}
