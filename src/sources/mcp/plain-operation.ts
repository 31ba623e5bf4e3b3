import { lazyOperation } from "../../core/lazy-operation.ts"
import type { LazyOperation, LazyParts } from "../../core/lazy-operation.ts"
import type { MCPOrigin } from "../../mcp/model.ts"
import type { OperationServer } from "./tool-operation.ts"

/** What resources and prompts are made of. */
export interface PlainParts extends Pick<
  LazyParts,
  | "name"
  | "namespace"
  | "title"
  | "description"
  | "inputSchema"
  | "outputSchema"
  | "handler"
  | "inputNames"
> {
  /** The definition's own. */
  readonly own: Readonly<Record<string, unknown>> | undefined
  readonly origin: MCPOrigin & Readonly<Record<string, unknown>>
}

/** A query of a server that is not one of its tools. Reading changes nothing, whoever says so. */
export function plainOperation(
  { own, origin, ...parts }: PlainParts,
  server: Omit<OperationServer, "trust" | "tools">,
): LazyOperation {
  return lazyOperation({
    ...parts,
    version: server.version,
    type: "query",
    tags: undefined,
    accessControl: server.accessControl,
    visibility: server.visibility,
    annotations: Object.freeze({ readOnly: true }),
    deprecated: undefined,
    errorSchemas: undefined,
    examples: undefined,
    composes: undefined,
    normalize: server.normalize ?? "off",
    output: server.output,
    defaults: "leave",
    timeout: server.maxTotalTimeout,
    _meta: Object.freeze({ ...own, mcp: Object.freeze(origin) }),
  })
}
