import { FromOpenAPI } from "../../../../src/from-openapi.ts"
import { createRegistry } from "../../../../src/index.ts"
import { silentLogger } from "../../../../src/testing.ts"
import type { AnyOperation, OperationRegistry } from "../../../../src/index.ts"
import { operation } from "../../../support/operations.ts"

const object = { type: "object", properties: { id: { type: "integer" } }, required: ["id"] }

/** An own and an imported operation; both send what they receive to the server at `baseUrl`. */
export function exactRegistry(baseUrl: string): OperationRegistry {
  const own = operation("own.keep", {
    inputSchema: object,
    handler: async ({ id }: { id: number }) => {
      await fetch(baseUrl, { method: "POST", body: `${typeof id} ${id}` })
      return {}
    },
  })
  const imported = FromOpenAPI(documentOf(), { namespace: "api", baseUrl })
  return createRegistry([own, ...(imported as readonly AnyOperation[])], { logger: silentLogger })
}

function documentOf(): string {
  const content = { "application/json": { schema: object } }
  const post = {
    operationId: "keep",
    requestBody: { required: true, content },
    responses: { "200": { description: "ok" } },
  }
  const info = { title: "Ids", version: "1" }
  return JSON.stringify({ openapi: "3.1.0", info, paths: { "/keep": { post } } })
}
