import { Type } from "typebox"
import { expectTypeOf, test } from "vitest"
import { createMCPClient } from "../../src/from-mcp.ts"
import { OperationType } from "../../src/index.ts"
import type {
  CallHandlerConfig,
  CallHandlerOptions,
  IOperationDefinition,
  MCPContentBlock,
  MCPResponseMeta,
  OpenAPIOperation,
  OpenAPIParameter,
  OperationSpec,
} from "../../src/index.ts"

test("a definition satisfies its interface without saying the type of its input", () => {
  const definition = {
    name: "myOperation",
    namespace: "myapp",
    version: "1.0.0",
    type: OperationType.QUERY,
    description: "Does something useful",
    inputSchema: Type.Object({ name: Type.String() }),
    outputSchema: Type.Object({ result: Type.String() }),
    accessControl: { requiredScopes: ["read"] },
    handler: async (input) => ({ result: `Hello, ${input.name}` }),
  } satisfies IOperationDefinition
  const typed = {
    ...definition,
    handler: async (input: { name: string }) => ({ result: input.name }),
  } satisfies IOperationDefinition

  expectTypeOf(definition.name).toEqualTypeOf<string>()
  expectTypeOf(typed.handler).parameter(0).toEqualTypeOf<{ name: string }>()
})

test("types of documents and of serving have their names", () => {
  const parameter: OpenAPIParameter = { name: "id", in: "path", required: true }
  const operation: OpenAPIOperation = { operationId: "get", parameters: [parameter], "x-own": 1 }
  expectTypeOf(operation.operationId).toEqualTypeOf<string | undefined>()
  expectTypeOf<CallHandlerConfig>().toEqualTypeOf<CallHandlerOptions>()
})

test("content blocks and tools are plain arrays", async () => {
  expectTypeOf<MCPResponseMeta["content"]>().toEqualTypeOf<MCPContentBlock[]>()
  const { tools } = await createMCPClient("files", { command: "files" })
  const list: Array<OperationSpec & { handler: (...args: never[]) => unknown }> = tools
  expectTypeOf(list).toBeArray()
})
