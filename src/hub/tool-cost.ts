import type { Identity } from "../core/types.ts"
import { loggerOf } from "../engine/failures.ts"
import type { AnyRegistry } from "../engine/registry.ts"
import type { SurfaceCost } from "../tools/model.ts"
import { ToolSurface } from "../tools/surface.ts"
import type { HubInternals } from "./create-hub.ts"

/** What a model reads of the operations as tools of MCP, by source. Reads every schema. */
export function toolCost(
  registry: AnyRegistry,
  sourceOf: HubInternals["sourceOf"],
  identity: Identity | "all" | undefined,
): SurfaceCost {
  const surface = new ToolSurface(registry, { logger: loggerOf(registry) })
  try {
    return surface.cost(identity, ({ id, spec }) => sourceOf(id) ?? spec.namespace)
  } finally {
    surface.close()
  }
}
