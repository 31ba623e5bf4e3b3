import { Type } from "typebox"
import { describe, expect, test } from "vitest"
import { FromOpenAPIUrl } from "../../../src/from-openapi.ts"
import type { OpenAPIUrlConfig } from "../../../src/from-openapi.ts"
import { CallError, isCallError, isDeclaredError } from "../../../src/index.ts"
import { silentLogger } from "../../../src/testing.ts"
import type { AnyOperation, OperationRegistry } from "../../../src/index.ts"
import { serveHTTP } from "../../../src/node.ts"
import type { ServeHTTPOptions } from "../../../src/node.ts"
import { hashApiKey } from "../../../src/to-http.ts"
import { operation, quietRegistry, rejection } from "../../support/operations.ts"

/** A registry, and the same one behind a server and its own document. */
interface Both extends AsyncDisposable {
  readonly here: OperationRegistry
  readonly there: OperationRegistry
  readonly imported: readonly AnyOperation[]
}

async function both(
  operations: readonly AnyOperation[],
  options: Partial<ServeHTTPOptions> = {},
  config: Partial<OpenAPIUrlConfig> = {},
): Promise<Both> {
  const here = quietRegistry(operations)
  const server = await serveHTTP(here, {
    port: 0,
    errors: "expose",
    logger: silentLogger,
    ...options,
  })
  const namespace = "shop"
  const imported = await FromOpenAPIUrl(`${server.url}/openapi.json`, {
    namespace,
    baseUrl: server.url,
    ...config,
  })
  const there = quietRegistry(imported)
  return {
    ...{ here, there, imported },
    async [Symbol.asyncDispose]() {
      await there.close()
      await server.close()
      await here.close()
    },
  }
}

/** What a caller goes by. */
function shown(error: unknown): unknown {
  if (!isCallError(error)) throw error
  const { code, message, details, retryable, mayHaveExecuted, retryAfterMs } = error
  return { code, message, details, retryable, mayHaveExecuted, retryAfterMs }
}

const Stock = Type.Object({ left: Type.Integer(), of: Type.Optional(Type.Array(Type.String())) })
const errorSchemas = [
  { code: "OUT_OF_STOCK", description: "None left", schema: Stock, httpStatus: 409 },
  { code: "CLOSED", description: "", schema: Type.Unknown() },
  { code: "DOWN", description: "Down", schema: Type.Null(), httpStatus: 503 },
  { code: "über-voll", description: "Voll", schema: Type.Object({}), httpStatus: 400 },
]

/** What an operation throws, by the name of what it is asked for. */
const THROWN: Readonly<Record<string, () => unknown>> = {
  declared: () =>
    new CallError("OUT_OF_STOCK", "Only 3 lamps are left.\nSorry – ❤", {
      details: { left: 3, of: ["lamp"] },
      mayHaveExecuted: false,
    }),
  retryable: () =>
    new CallError("DOWN", "Later", { retryable: true, retryAfterMs: 1234, mayHaveExecuted: false }),
  plain: () => Object.assign(new Error("Closed."), { code: "CLOSED", details: [1, { a: null }] }),
  bare: () => new CallError("CLOSED", "No more to say"),
  nothing: () => new CallError("DOWN", "Null is a value", { details: null }),
  other: () => new CallError("über-voll", "Voll", { details: {} }),
  large: () =>
    new CallError("CLOSED", "Much", { details: Array.from({ length: 9000 }, (_, at) => at) }),
  undeclared: () => new CallError("SURPRISE", "Nobody declared this", { details: { a: 1 } }),
  library: () => new CallError("CONFLICT", "Somebody was faster", { details: { version: 2 } }),
  bug: () => new Error("A bug"),
  odd: () => "a text",
}

const shop: readonly AnyOperation[] = [
  operation("shop.order", {
    inputSchema: Type.Object({ what: Type.String() }),
    errorSchemas,
    handler: ({ what }: { what: string }) => {
      throw THROWN[what]?.()
    },
  }),
  operation("shop.look", {
    type: "query",
    inputSchema: Type.Object({ what: Type.String() }),
    errorSchemas,
    handler: ({ what }: { what: string }) => {
      throw THROWN[what]?.()
    },
  }),
  operation("shop.watch", {
    type: "subscription",
    inputSchema: Type.Object({ what: Type.String(), first: Type.Optional(Type.Boolean()) }),
    errorSchemas,
    async *handler({ what, first = false }: { what: string; first?: boolean }) {
      if (first) yield 1
      throw THROWN[what]?.()
    },
  }),
  operation("shop.private", {
    accessControl: { requiredScopes: ["admin"] },
    handler: () => "secret",
  }),
  operation("shop.slow", {
    inputSchema: Type.Void(),
    timeout: 20,
    handler: () => new Promise<void>(() => undefined),
  }),
]

async function drained(registry: OperationRegistry, id: string, input: unknown): Promise<unknown> {
  const items: unknown[] = []
  for await (const { data } of registry.subscribe(id, input)) items.push(data)
  return items
}

describe("an error that an operation throws behind its document", () => {
  test.each(Object.keys(THROWN))("is the same error here: %s", async (what) => {
    await using api = await both(shop)
    const { here, there } = api

    const expected = await rejection(here.execute("shop.order", { what }))
    expect(shown(await rejection(there.execute("shop.order", { body: { what } })))).toEqual(
      shown(expected),
    )
    expect(shown(await rejection(there.execute("shop.look", { what })))).toEqual(
      shown(await rejection(here.execute("shop.look", { what }))),
    )
    for (const first of [false, true]) {
      const input = { what, first }
      expect(shown(await rejection(drained(there, "shop.watch", input)))).toEqual(
        shown(await rejection(drained(here, "shop.watch", input))),
      )
    }
  })

  test("is known as declared, with what came over the wire as its cause", async () => {
    await using api = await both(shop)
    const order = api.imported.find(({ name }) => name === "order") as AnyOperation
    const error = await rejection(api.there.execute("shop.order", { body: { what: "declared" } }))

    expect(isDeclaredError(order, error)).toBe(true)
    expect((error as CallError).cause).toMatchObject({
      code: "EXECUTION_ERROR",
      details: { statusCode: 409, body: { code: "OUT_OF_STOCK" } },
    })
    expect(JSON.stringify(error)).not.toContain("statusCode")
  })

  test("goes through as many servers as there are", async () => {
    await using first = await both(shop)
    await using second = await both(first.imported)
    const input = { what: "declared" }

    expect(
      shown(await rejection(second.there.execute("shop.order", { body: { body: input } }))),
    ).toEqual(shown(await rejection(first.here.execute("shop.order", input))))
  })
})

/** Long enough to be a key. */
function keyOf(name: string): string {
  return `${name}-key-0123456789-0123456789-0123456789`
}

describe("an error of the library behind a document", () => {
  test("is what it was there", async () => {
    await using api = await both(shop)
    const { here, there } = api

    expect(shown(await rejection(there.execute("shop.slow", {})))).toMatchObject({
      code: "TIMEOUT",
      mayHaveExecuted: true,
    })
    here.unregister("shop.order")
    const gone = await rejection(there.execute("shop.order", { body: { what: "x" } }))
    expect(shown(gone)).toMatchObject({ code: "OPERATION_NOT_FOUND", mayHaveExecuted: false })
  })

  test("errors for forbidden and unauthenticated callers survive the round trip", async () => {
    const scopes = { ada: ["admin"], bob: [] }
    const apiKeys = Object.entries(scopes).map(([id, own]) => ({
      hash: hashApiKey(keyOf(id)),
      identity: { id, scopes: own },
    }))
    let key = keyOf("ada")
    await using api = await both(
      shop,
      { auth: { apiKeys } },
      {
        auth: { type: "apiKey", token: () => key },
        documentHeaders: { "x-api-key": key },
      },
    )

    expect((await api.there.execute("shop.private", { body: {} })).data).toBe("secret")
    key = keyOf("bob")
    expect(shown(await rejection(api.there.execute("shop.private", { body: {} })))).toMatchObject({
      code: "ACCESS_DENIED",
    })
    key = keyOf("eve")
    const error = await rejection(api.there.execute("shop.private", { body: {} }))
    expect(shown(error)).toMatchObject({ code: "UNAUTHENTICATED" })
    expect(JSON.stringify([error, (error as CallError).cause])).not.toContain(key)
  })
})
