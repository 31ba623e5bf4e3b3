import { silentLogger } from "../../src/testing.ts"
import type { AnyOperation, Identity, RegistryOptions } from "../../src/index.ts"
import type { MCPEra, MCPToolDefinition } from "../../src/mcp/model.ts"
import type { SurfaceCall, SurfaceResult } from "../../src/tools/model.ts"
import { ToolSurface } from "../../src/tools/surface.ts"
import type { SurfaceOptions } from "../../src/tools/options.ts"
import { quietRegistry } from "../support/operations.ts"

/** A surface over these operations that keeps its log to itself. */
export function surfaceOf(
  operations: readonly AnyOperation[],
  options: SurfaceOptions = {},
  registryOptions: RegistryOptions = {},
): ToolSurface {
  const registry = quietRegistry(operations, {
    output: "off",
    normalize: "off",
    ...registryOptions,
  })
  return new ToolSurface(registry, { logger: silentLogger, ...options })
}

/** A caller of either era, and what a call needs. */
export function caller(
  era: MCPEra = "modern",
  identity?: Identity,
  parts: Partial<SurfaceCall> = {},
): SurfaceCall {
  return { era, identity, signal: new AbortController().signal, ...parts }
}

/** Every tool of a list, page by page. */
export function allTools(surface: ToolSurface, who: SurfaceCall = caller()): MCPToolDefinition[] {
  const tools: MCPToolDefinition[] = []
  let cursor: string | undefined
  do {
    const page = surface.list(who, cursor)
    tools.push(...page.tools)
    cursor = page.nextCursor
  } while (cursor !== undefined)
  return tools
}

/** The only tool of a surface over one operation. */
export function toolOf(
  operation: AnyOperation,
  options: SurfaceOptions = {},
  era: MCPEra = "modern",
): MCPToolDefinition {
  const [tool] = allTools(surfaceOf([operation], options), caller(era))
  if (tool === undefined) throw new Error("There is no tool.")
  return tool
}

/** Calls the only tool of a surface over one operation. */
export async function callOf(
  operation: AnyOperation,
  input: unknown = {},
  options: SurfaceOptions = {},
  call: SurfaceCall = caller(),
): Promise<SurfaceResult> {
  const surface = surfaceOf([operation], options)
  const [tool] = allTools(surface, call)
  return await surface.call(tool?.name ?? "", input, call)
}

/** The texts of a result, one after another. */
export function textsOf(result: SurfaceResult): string {
  return result.content.map((block) => String(block["text"])).join("\n")
}
