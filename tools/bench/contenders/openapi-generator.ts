import type { Importer } from "./openapi.ts"

/** Inputs only; references are left out (`{ type: "object" }`) unless its option to resolve all is set. */
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
