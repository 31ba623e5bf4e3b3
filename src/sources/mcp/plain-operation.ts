import { lazyOperation, type LazyOperation, type LazyParts } from "../../core/lazy-operation.ts"
import type { MCPOrigin } from "../../mcp/model.ts"
import type { OperationServer } from "./tool-operation.ts"

/** The parts of an operation for a resource or a prompt. */
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
  /** The `_meta` of the definition. */
  readonly own: Readonly<Record<string, unknown>> | undefined
  readonly origin: MCPOrigin & Readonly<Record<string, unknown>>
}

/** Creates the query for a resource or a prompt; reading never has an effect. */
export function plainOperation(
  { own, origin, ...parts }: PlainParts,
  server: Omit<OperationServer, "trust" | "tools">,
): LazyOperation {
  return lazyOperation({
    ...parts,
    version: server.version,
    type: "query",
    accessControl: server.accessControl,
    visibility: server.visibility,
    annotations: Object.freeze({ readOnly: true }),
    policy: {
      normalize: server.normalize ?? "off",
      output: server.output,
      defaults: "leave",
      timeout: server.maxTotalTimeout,
      imported: true,
    },
    _meta: Object.freeze({ ...own, mcp: Object.freeze(origin) }),
  })
}
