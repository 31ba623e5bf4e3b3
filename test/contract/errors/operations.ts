import { createServer } from "node:http"
import type { AddressInfo } from "node:net"
import { Type } from "typebox"
import type { AnyOperation } from "../../../src/core/define.ts"
import { FromOpenAPI } from "../../../src/from-openapi.ts"
import { CallError } from "../../../src/index.ts"
import type { OperationContext } from "../../../src/index.ts"
import { operation } from "../../support/operations.ts"

export const SECRET = "connect ECONNREFUSED db.internal:5432"

/** An API that always fails, on loopback. */
export async function startUpstream(): Promise<{ readonly url: string } & AsyncDisposable> {
  const server = createServer((_, response) => {
    response.writeHead(500, { "content-type": "application/json" })
    response.end('{"message":"The upstream says no"}')
  })
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve))
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    [Symbol.asyncDispose]: () =>
      new Promise((resolve) => {
        server.closeAllConnections()
        server.close(() => resolve())
      }),
  }
}

/** Operations that fail, each in its own way. */
export function failingOperations(upstream: string): readonly AnyOperation[] {
  const shared = new CallError("BUSY", "Come back later.")
  return [
    failing("plain", () => {
      throw new Error(SECRET, { cause: new Error("the socket was closed") })
    }),
    failing("text", () => {
      throw SECRET
    }),
    failing("purpose", () => {
      throw new CallError("EXECUTION_ERROR", "The printer is out of paper.")
    }),
    // One error for all calls, as a module may have it.
    failing("busy", () => {
      throw shared
    }),
    operation("err.declared", {
      errorSchemas: [
        { code: "SOLD_OUT", description: "None left", schema: Type.Object({ sku: Type.String() }) },
      ],
      handler: () => {
        throw Object.assign(new Error("Sold out."), { code: "SOLD_OUT", details: { sku: "tea" } })
      },
    }),
    operation("err.nested", {
      handler: async (_: never, context: OperationContext) => await context.call("err.inner", {}),
    }),
    operation("err.inner", {
      visibility: "internal",
      handler: () => {
        throw new Error(SECRET)
      },
    }),
    operation("err.stream", {
      type: "subscription",
      async *handler() {
        yield 1
        yield 2
        throw new Error(SECRET)
      },
    }),
    operation("err.strict", {
      output: "strict",
      outputSchema: Type.Record(Type.String(), Type.Number()),
      handler: () => ({ [SECRET]: "no number" }),
    }),
    ...FromOpenAPI(
      {
        openapi: "3.1.0",
        info: { title: "t", version: "1" },
        paths: {
          "/x": { get: { operationId: "upstream", responses: { 200: { description: "" } } } },
        },
      },
      { namespace: "err", baseUrl: upstream },
    ),
  ]
}

function failing(name: string, handler: () => never): AnyOperation {
  return operation(`err.${name}`, { handler })
}
