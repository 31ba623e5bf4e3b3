import fc from "fast-check"
import { Type } from "typebox"
import { describe, expect, test } from "vitest"
import type { AnyOperation } from "../../src/core/define.ts"
import { compilePattern } from "../../src/internal/pattern.ts"
import { Shaper } from "../../src/hub/apply-source-config.ts"
import { FromOpenAPI, prepareRequest } from "../../src/from-openapi.ts"
import { lazyOperation } from "../../src/core/lazy-operation.ts"
import type { LazyParts } from "../../src/core/lazy-operation.ts"
import { OperationRegistry } from "../../src/engine/registry.ts"
import { sourceOf } from "./plain.ts"

function operation(id: string, more: Partial<AnyOperation> = {}): AnyOperation {
  const [namespace = "", ...rest] = id.split(".")
  return {
    namespace,
    name: rest.join("."),
    version: "1.0.0",
    type: "query",
    description: "Says something",
    inputSchema: Type.Object({}),
    outputSchema: Type.Unknown(),
    accessControl: { requiredScopes: [] },
    handler: () => id,
    ...more,
  }
}

/** An operation that fails when somebody looks at its schemas. */
function dear(name: string, reads: string[]): AnyOperation {
  const parts: Partial<LazyParts> = {
    namespace: "api",
    name,
    version: "1.0.0",
    type: "query",
    description: "Costs a lot",
    accessControl: { requiredScopes: [] },
    inputNames: [],
    policy: {},
    handler: () => name,
  }
  for (const key of ["inputSchema", "outputSchema", "errorSchemas", "examples", "_meta"]) {
    Object.defineProperty(parts, key, {
      get: () => {
        reads.push(key)
        return key.endsWith("Schema") ? {} : undefined
      },
    })
  }
  return lazyOperation(parts as LazyParts)
}

function idsOf(operations: readonly AnyOperation[]): string[] {
  return operations.map(({ namespace, name }) => `${namespace}.${name}`)
}

describe("compilePattern", () => {
  test.each([
    ["issues.*", "issues.create", true],
    ["issues.*", "issues", false],
    ["*", "", true],
    ["*", "anything at all", true],
    ["a*a", "a", false],
    ["a*a", "aa", true],
    ["*.create", "a.b.create", true],
    ["a**b", "ab", true],
    ["", "", true],
    ["", "a", false],
    ["a.c", "abc", false],
    ["*b*", "abc", true],
    ["*ab*ba", "aba", false],
  ])("%j on %j: %s", (pattern, text, expected) => {
    expect(compilePattern(pattern)(text)).toBe(expected)
  })

  test("agrees with the equivalent regular expression", () => {
    const text = fc.string({ unit: fc.constantFrom("a", "b", ".", "*") })
    fc.assert(
      fc.property(text, text, (pattern, given) => {
        const expected = new RegExp(
          `^${pattern
            .split("*")
            .map((part) => part.replaceAll(".", "\\."))
            .join(".*")}$`,
        ).test(given)
        expect(compilePattern(pattern)(given)).toBe(expected)
      }),
    )
  })
})

describe("names of shaped operations", () => {
  test("names of scanned operations stay, unless a namespace is configured", () => {
    const given = [operation("dice.roll"), operation("tools.x")]
    const plain = new Shaper(sourceOf("tools", { scan: "." }), "tools").shape(given)
    expect(plain.operations).toEqual(given)
    expect(plain.operations[0]).toBe(given[0])
    const source = sourceOf("tools", { scan: ".", namespace: "tools" })
    expect(idsOf(new Shaper(source, "tools").shape(given).operations)).toEqual([
      "tools.dice.roll",
      "tools.x",
    ])
  })

  test("operations of a remote hub are prefixed with the source's namespace", () => {
    const source = sourceOf("far", { remote: "http://127.0.0.1:1" })
    expect(idsOf(new Shaper(source, "far").shape([operation("a.b")]).operations)).toEqual([
      "far.a.b",
    ])
  })

  test("names follow a namespace that changes while the source is open", () => {
    const source = sourceOf("new", { mcp: "x" })
    const given = [operation("old.a"), operation("old-resources.b")]
    expect(idsOf(new Shaper(source, "old").shape(given).operations)).toEqual([
      "new.a",
      "new-resources.b",
    ])
  })

  test("`rename` changes names by name or id, and invalid names are reported", () => {
    const source = sourceOf(
      "api",
      { openapi: "x" },
      { rename: { a: "first", "api.b": "api.second", c: "no good", gone: "x", __proto__: "y" } },
    )
    const given = ["api.a", "api.b", "api.c"].map((id) => operation(id))
    const { operations, warnings, ids } = new Shaper(source, "api").shape(given)
    expect(idsOf(operations)).toEqual(["api.first", "api.second", "api.c"])
    expect(ids.get("api.a")).toBe("api.first")
    expect(warnings).toEqual([
      expect.stringContaining(`"c" cannot be called "no good"`),
      expect.stringContaining(`nothing of source "api" is called "gone"`),
    ])
  })

  test("duplicate names are reported, and the first operation wins", () => {
    const source = sourceOf("api", { openapi: "x" }, { rename: { b: "a" } })
    const given = [operation("api.a"), operation("api.b")]
    const { operations, warnings } = new Shaper(source, "api").shape(given)
    expect(operations).toEqual([given[0]])
    expect(warnings[0]).toContain(`"api.a" and "api.b" of source "api" would both be "api.a"`)
  })
})

describe("include and exclude", () => {
  test("`include` keeps only what it names, and `exclude` removes from that", () => {
    const source = sourceOf(
      "api",
      { openapi: "x" },
      { include: ["issues.*", "api.users.get"], exclude: ["*.delete", "nobody"] },
    )
    const given = ["api.issues.create", "api.issues.delete", "api.users.get", "api.repos.get"].map(
      (id) => operation(id),
    )
    const { operations, filtered, warnings } = new Shaper(source, "api").shape(given)
    expect(idsOf(operations)).toEqual(["api.issues.create", "api.users.get"])
    expect([...filtered]).toEqual(["api.issues.delete", "api.repos.get"])
    expect(warnings).toEqual([expect.stringContaining(`exclude: nothing of source "api"`)])
  })

  test("an empty `include` removes everything", () => {
    const source = sourceOf("api", { openapi: "x" }, { include: [] })
    expect(new Shaper(source, "api").shape([operation("api.a")]).operations).toEqual([])
  })
})

describe("access rules of a source", () => {
  test("the first matching rule applies, and replaces the operation's own", () => {
    const source = sourceOf(
      "api",
      { openapi: "x" },
      {
        visibility: "internal",
        access: [
          { match: "a", requiredScopes: ["one"] },
          { requiredScopes: [], requiredScopesAny: ["two", "three"] },
        ],
      },
    )
    const given = [
      operation("api.a"),
      operation("api.b", { accessControl: { requiredScopes: ["own"] } }),
    ]
    const { operations } = new Shaper(source, "api").shape(given)
    expect(operations.map(({ accessControl }) => accessControl)).toEqual([
      { requiredScopes: ["one"] },
      { requiredScopes: [], requiredScopesAny: ["two", "three"] },
    ])
    expect(operations.map(({ visibility }) => visibility)).toEqual(["internal", "internal"])
  })

  test("shaping reads no schema, and returns the same object again", () => {
    const reads: string[] = []
    const source = sourceOf(
      "api",
      { openapi: "x" },
      {
        rename: { a: "z" },
        visibility: "external",
        access: [{ requiredScopes: ["s"] }],
        include: ["*"],
      },
    )
    const shaper = new Shaper(source, "api", (handler) => handler)
    const given = [dear("a", reads), dear("b", reads)]
    const { operations } = shaper.shape(given)
    const registry = new OperationRegistry()
    registry.registerAll(operations)
    expect(registry.search("costs")).toHaveLength(2)
    expect(reads).toEqual([])
    expect(shaper.shape(given).operations[0]).toBe(operations[0])
    expect(registry.getSpec("api.z")?.inputSchema).toEqual({})
    expect(reads).toEqual(["inputSchema"])
  })

  test("shaping keeps the metadata of an imported operation", async () => {
    const [imported] = FromOpenAPI(
      {
        openapi: "3.1.0",
        info: { title: "Pets", version: "1.0.0" },
        paths: {
          "/pets/{id}": {
            get: {
              operationId: "getPet",
              parameters: [{ name: "id", in: "path", required: true, schema: { type: "integer" } }],
              responses: {},
            },
          },
        },
      },
      { namespace: "api", baseUrl: "https://pets.test" },
    )
    const source = sourceOf(
      "api",
      { openapi: "x" },
      { rename: { getPet: "pet" }, access: [{ requiredScopes: ["read"] }] },
    )
    const registry = new OperationRegistry()
    registry.registerAll(new Shaper(source, "api").shape([imported!]).operations)
    const request = await prepareRequest(registry.get("api.pet")!, { id: 7 })
    expect(request.url).toBe("https://pets.test/pets/7")
    expect(registry.getSpec("api.pet")?._meta).toMatchObject({ openapi: { operationId: "getPet" } })
    await expect(registry.execute("api.pet", { id: 7 })).rejects.toMatchObject({
      code: "ACCESS_DENIED",
    })
  })
})
