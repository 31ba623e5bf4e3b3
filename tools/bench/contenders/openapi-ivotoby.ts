import type { Importer } from "./openapi.ts"

/** What is used of the package; its own types are written for a bundler and do not resolve here. */
interface IvotobyPackage {
  readonly OpenAPISpecLoader: new () => {
    loadOpenAPISpec(name: string, method: "inline", text: string): Promise<object>
    parseOpenAPISpec(document: object): ReadonlyMap<string, unknown>
  }
}

/** Inputs only, with all references put in place. */
export const ivotoby: Importer = {
  name: "@ivotoby/openapi-mcp-server",
  async load() {
    const loaded: object = await import("@ivotoby/openapi-mcp-server")
    const { OpenAPISpecLoader } = loaded as IvotobyPackage
    return async (text) => {
      const loader = new OpenAPISpecLoader()
      const document = await loader.loadOpenAPISpec("document", "inline", text)
      const tools = loader.parseOpenAPISpec(document)
      return { made: tools, operations: tools.size, outputs: 0 }
    }
  },
}
