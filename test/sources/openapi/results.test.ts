// Results of imported operations go through the registry's own pipeline.
import { describe, expect, test } from "vitest"
import { FromOpenAPI } from "../../../src/from-openapi.ts"
import type { OpenAPIConfig } from "../../../src/from-openapi.ts"
import type { RegistryOptions } from "../../../src/index.ts"
import { quietRegistry, rejection } from "../../support/operations.ts"
import { apiOf } from "./api.ts"
import { oneOperation } from "./recorder.ts"
import type { Raw } from "./recorder.ts"

const SCHEMA = {
  type: "object",
  properties: { count: { type: "integer" }, unit: { type: "string", default: "m" } },
  required: ["count"],
}
const SPEC = oneOperation("/x", "get", {
  responses: { 200: { description: "", content: { "application/json": { schema: SCHEMA } } } },
})

/** An import that is answered with this, in a registry with these options. */
function registryOf(
  body: unknown,
  config: Partial<OpenAPIConfig> = {},
  options: RegistryOptions = {},
  change: (operation: Raw) => Raw = (operation) => operation,
) {
  const operations = FromOpenAPI(SPEC, {
    namespace: "api",
    baseUrl: "https://api.test",
    fetch: async () => Response.json(body),
    ...config,
  })
  return quietRegistry(operations.map((one) => change(one as unknown as Raw)) as never, options)
}

describe("a result of an imported operation", () => {
  const body = { count: "12", extra: 1 }
  const kept = { count: 12, unit: "m", extra: 1 }
  const stripped = { count: 12, unit: "m" }

  test.each<[string, Partial<OpenAPIConfig>, RegistryOptions, unknown]>([
    ["is converted and keeps undeclared properties", {}, {}, kept],
    ["is stripped where the registry says so", {}, { normalize: "strip" }, stripped],
    ["is left alone where the registry says so", {}, { normalize: "off" }, body],
    ["is stripped where the import says so", { normalize: "strip" }, {}, stripped],
    ["is kept where the import says so", { normalize: "keep" }, { normalize: "strip" }, kept],
    ["is left alone where the import says so", { normalize: "off" }, {}, body],
  ])("%s", async (_what, config, options, expected) => {
    const plain = registryOf(body, config, options)
    const copied = registryOf(body, config, options, (operation) => ({ ...operation, tags: ["t"] }))

    expect((await plain.execute("api.op", {})).data).toEqual(expected)
    expect((await copied.execute("api.op", {})).data).toEqual(expected)
  })

  test("is not converted where something would be lost", async () => {
    const registry = registryOf({ count: "12.5", unit: null })

    expect((await registry.execute("api.op", {})).data).toEqual({ count: "12.5", unit: null })
  })

  test.each<[string, Partial<OpenAPIConfig>, RegistryOptions]>([
    ["the registry", {}, { output: "strict" }],
    ["the import", { output: "strict" }, {}],
  ])("that does not fit fails where %s is strict", async (_what, config, options) => {
    const call = registryOf({ count: "many" }, config, options).execute("api.op", {})

    expect(await rejection(call)).toMatchObject({ code: "OUTPUT_VALIDATION_ERROR" })
  })

  test.each<[string, Partial<OpenAPIConfig>, RegistryOptions]>([
    ["where the import is not strict", { output: "off" }, { output: "strict" }],
    ["by default", {}, {}],
  ])("that does not fit is delivered %s", async (_what, config, options) => {
    const { data } = await registryOf({ count: "many" }, config, options).execute("api.op", {})

    expect(data).toEqual({ count: "many" })
  })

  test("that is something else gets no defaults, and what can be converted is", async () => {
    const registry = registryOf({ count: "7", unit: 5, extra: true })
    const other = registryOf({ error: "down" })

    expect((await registry.execute("api.op", {})).data).toEqual({
      count: 7,
      unit: "5",
      extra: true,
    })
    expect((await other.execute("api.op", {})).data).toEqual({ error: "down" })
  })

  test("is reported to the registry's listeners", async () => {
    const seen: unknown[] = []
    const registry = registryOf(
      body,
      {},
      { onNormalize: ({ operationId, changes }) => void seen.push(operationId, changes.length) },
    )
    await registry.execute("api.op", {})

    expect(seen).toEqual(["api.op", 2])
  })

  test("of an operation that is not imported is stripped, as ever", async () => {
    const registry = registryOf(body, {}, {}, (operation) => ({ ...operation, imported: false }))

    expect((await registry.execute("api.op", {})).data).toEqual(stripped)
  })

  test("is not converted back and forth by wrong options", () => {
    expect(() => registryOf({}, { normalize: "yes" as never })).toThrow('"strip", "keep" or "off"')
    expect(() => registryOf({}, { output: "loud" as never })).toThrow('"warn", "strict" or "off"')
  })
})

describe("the timeout of an import", () => {
  test("is what its calls have instead of the registry's default", async () => {
    const operations = FromOpenAPI(SPEC, { namespace: "api", timeout: 90_000 })

    expect(operations[0]).toMatchObject({ timeout: 90_000 })
  })

  test("lets a call take longer than the registry's default", async () => {
    let release: (() => void) | undefined
    await using api = await apiOf(
      SPEC,
      (_request, response) => {
        release = () => {
          response.writeHead(200, { "content-type": "application/json" }).end('{"count":1}')
        }
      },
      { timeout: 60_000 },
    )
    // The registry's own limit has long passed when the answer comes.
    const operations = FromOpenAPI(SPEC, {
      namespace: "api",
      baseUrl: api.server.url,
      timeout: 60_000,
    })
    const registry = quietRegistry(operations, { timeout: 1 })
    const call = registry.execute("api.op", {})
    await expect.poll(() => release).toBeDefined()
    release?.()

    expect((await call).data).toEqual({ count: 1, unit: "m" })
  })

  test("is not for streams, and the caller's own counts", async () => {
    const stream = oneOperation("/x", "get", {
      responses: { 200: { description: "", content: { "text/event-stream": {} } } },
    })

    expect(FromOpenAPI(stream, { namespace: "api", timeout: 5 })[0]?.timeout).toBeUndefined()
    await using api = await apiOf(SPEC, () => undefined, { timeout: 60_000 })
    expect(await rejection(api.registry.execute("api.op", {}, { timeout: 30 }))).toMatchObject({
      code: "TIMEOUT",
    })
  })
})
