import { describe, expectTypeOf, test } from "vitest"
import {
  createRegistry,
  FromOpenAPI,
  FromOpenAPIFile,
  FromOpenAPIUrl,
  OpenAPIServiceRegistry,
} from "../../src/index.ts"
import { paginate } from "../../src/from-openapi.ts"
import type { OpenAPIConfig, OperationSpec, ResponseEnvelope } from "../../src/index.ts"
import { prepareRequest } from "../../src/from-openapi.ts"
import type {
  Credential,
  ImportedOperation,
  ImportedOperations,
  ImportReport,
  OpenAPIUrlConfig,
  PreparedRequest,
} from "../../src/from-openapi.ts"

describe("imports", () => {
  test("a document may be an object of any type, or a text", () => {
    interface Document {
      readonly openapi: string
      readonly paths: object
    }
    const document: Document = { openapi: "3.1.0", paths: {} }

    expectTypeOf(FromOpenAPI(document, { namespace: "api" })).toEqualTypeOf<ImportedOperations>()
    expectTypeOf(FromOpenAPI("openapi: 3.1.0", { namespace: "api" })).toExtend<
      ImportedOperation[]
    >()
    // @ts-expect-error a number is no document
    FromOpenAPI(5, { namespace: "api" })
  })

  test("files and URLs are waited for", () => {
    expectTypeOf(FromOpenAPIFile).returns.toEqualTypeOf<Promise<ImportedOperations>>()
    expectTypeOf(FromOpenAPIUrl).returns.toEqualTypeOf<Promise<ImportedOperations>>()
    expectTypeOf(FromOpenAPIUrl).parameter(0).toEqualTypeOf<string | URL>()
    expectTypeOf(FromOpenAPIFile)
      .parameter(2)
      .toExtend<{ readFile(path: string): Promise<string> } | undefined>()
  })

  test("operations are specs with handlers, and carry their report", () => {
    expectTypeOf<ImportedOperation>().toExtend<OperationSpec>()
    expectTypeOf<ImportedOperation>().toHaveProperty("handler")
    expectTypeOf<ImportedOperations["report"]>().toEqualTypeOf<ImportReport>()
    expectTypeOf<ImportReport["counts"]["twins"]>().toEqualTypeOf<number>()
    expectTypeOf<ImportReport["operations"][number]["status"]>().toEqualTypeOf<
      "kept" | "widened" | "skipped"
    >()
  })

  test("can be registered, called and paged through", () => {
    const operations = FromOpenAPI({}, { namespace: "api" })
    const registry = createRegistry(operations)
    const plain = createRegistry([])
    plain.registerAll(operations)
    new OpenAPIServiceRegistry().registerAll(plain)

    expectTypeOf(registry.execute("api.anything", { a: 1 })).toExtend<Promise<ResponseEnvelope>>()
    expectTypeOf(paginate(plain, "api.list")).toExtend<AsyncIterable<ResponseEnvelope>>()
  })

  test("requests can be prepared from what a registry gives", () => {
    const registry = createRegistry([])
    const operation = registry.get("api.x")

    expectTypeOf(prepareRequest).returns.toEqualTypeOf<Promise<PreparedRequest>>()
    if (operation !== undefined) void prepareRequest(operation, {}, { contentType: "text/plain" })
    expectTypeOf<PreparedRequest["headers"]>().toEqualTypeOf<Record<string, string>>()
    // @ts-expect-error the namespace of an operation cannot be said anew for a request
    void prepareRequest(operation ?? {}, {}, { namespace: "other" })
  })
})

describe("configuration", () => {
  test("needs a namespace, and knows its options", () => {
    expectTypeOf<{ namespace: string }>().toExtend<OpenAPIConfig>()
    // @ts-expect-error a namespace is missing
    const missing: OpenAPIConfig = { baseUrl: "https://api.test" }
    // @ts-expect-error servers is "document" or nothing
    const servers: OpenAPIConfig = { namespace: "api", servers: "https://api.test" }
    const config: OpenAPIUrlConfig = {
      namespace: "api",
      baseUrl: new URL("https://api.test"),
      allowedOrigins: ["https://uploads.test"],
      reconnect: true,
      filter: ({ method, tags }) => method === "GET" && tags.includes("pets"),
      documentHeaders: { authorization: "Bearer x" },
    }

    expectTypeOf([missing, servers, config]).toExtend<OpenAPIConfig[]>()
  })

  test("credentials are values or functions, and of a kind", () => {
    const credentials: Record<string, Credential> = {
      bearer: { type: "bearer", token: async () => "t", prefix: "Bot " },
      key: { type: "apiKey", token: "k", in: "query", headerName: "key" },
      basic: { type: "basic", username: "a", password: () => "b" },
      oauth: { type: "clientCredentials", clientId: "a", clientSecret: "b", scopes: ["x"] },
    }
    const config: OpenAPIConfig = { namespace: "api", auth: () => "token", credentials }
    // @ts-expect-error a bearer credential has a token
    const bearer: Credential = { type: "bearer" }
    // @ts-expect-error there is no such kind
    const other: Credential = { type: "digest", token: "x" }

    expectTypeOf([config.auth, bearer, other]).toBeArray()
  })
})
