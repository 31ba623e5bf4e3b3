import { Type } from "typebox"
import { describe, expect, test, vi } from "vitest"
import {
  collectErrors,
  createRegistry,
  defineOperation,
  FromSchema,
  OperationRegistry,
  OperationSpecSchema,
  OperationType,
} from "../../src/index.ts"
import { silentLogger } from "../../src/testing.ts"
import type { AnyOperation, RegistryChange } from "../../src/index.ts"
import { changedOperation, lazyOperation } from "../../src/core/lazy-operation.ts"
import { count, greet, operation, quietRegistry, rejection, thrown } from "../support/operations.ts"

describe("OperationRegistry.register", () => {
  test("keeps spec and handler, apart and together", () => {
    const registry = quietRegistry([greet])
    expect(registry.has("demo.greet")).toBe(true)
    expect(registry.getHandler("demo.greet")).toBe(greet.handler)
    expect(registry.getSpec("demo.greet")).not.toHaveProperty("handler")
    expect(registry.get("demo.greet")).toMatchObject({ name: "greet", handler: greet.handler })
    expect(registry.getByName("demo", "greet")).toBe(registry.get("demo.greet"))
    expect(registry.list()).toEqual([registry.get("demo.greet")])
    expect(registry.getAllSpecs()).toEqual([registry.getSpec("demo.greet")])
    expect(registry.get("demo.nothing")).toBeUndefined()
    expect(registry.getByName("demo", "nothing")).toBeUndefined()
    expect(registry.getSpec("x.y")).toBeUndefined()
    expect(registry.getHandler("x.y")).toBeUndefined()
  })

  test("stores a spec that is JSON, describes itself and cannot be changed", () => {
    const registry = quietRegistry([
      {
        ...greet,
        tags: ["a"],
        examples: [{}],
        annotations: { readOnly: true },
        _meta: { x: { deep: [1] } },
        title: "T",
        deprecated: true,
        visibility: "external",
        errorSchemas: [{ code: "E", description: "", schema: Type.String() }],
      },
    ])
    const spec = registry.getSpec("demo.greet")
    expect(JSON.parse(JSON.stringify(spec))).toEqual(spec)
    expect(Object.isFrozen((spec?._meta?.["x"] as { deep?: object } | undefined)?.deep)).toBe(true)
    expect(collectErrors(OperationSpecSchema, spec)).toEqual([])
    expect(spec?.inputSchema).toEqual(greet.inputSchema)
    for (const part of [
      spec,
      spec?.tags,
      spec?.inputSchema,
      spec?.accessControl,
      spec?._meta,
      spec?.errorSchemas,
      spec?.errorSchemas?.[0],
      registry.get("demo.greet"),
    ]) {
      expect(Object.isFrozen(part)).toBe(true)
    }
  })

  test("can be chained, and createRegistry does the same in one call", async () => {
    const registry = new OperationRegistry({ logger: silentLogger }).register(greet).register(count)
    expect((await registry.execute("demo.greet", { name: "x" })).data.text).toBe("Hello, x")
    expect(createRegistry([greet, count]).list()).toHaveLength(2)
  })

  test("rejects a second operation with the same id without replace", async () => {
    const registry = quietRegistry([greet])
    expect(() => registry.register(greet)).toThrow(
      expect.objectContaining({
        code: "CONFLICT",
        message: `Operation "demo.greet" is already registered. To replace it, pass { replace: true }.`,
      }),
    )
    registry.register({ ...greet, handler: () => ({ text: "other" }) }, { replace: true })
    expect((await registry.execute("demo.greet", { name: "x" })).data).toEqual({ text: "other" })
    expect(() => registry.registerAll([operation("a.b", {}), operation("a.b", {})])).toThrow(
      "appears twice in this list",
    )
    expect(registry.has("a.b")).toBe(false)
    registry.registerAll([operation("a.b", { title: "1" }), operation("a.b", { title: "2" })], {
      replace: true,
    })
    expect(registry.getSpec("a.b")?.title).toBe("2")
  })

  test("registerAll adds all operations or none", () => {
    const registry = quietRegistry([greet])
    const changes = vi.fn()
    registry.onChange(changes)
    const bads: [unknown, string][] = [
      [{ ...count, version: "" }, "version"],
      [greet, "is already registered"],
      [null, "definition must be an object"],
      [{ ...count, handler: 5 }, "handler must be a function"],
    ]
    for (const [bad, message] of bads) {
      expect(() => registry.registerAll([operation("a.first", {}), bad as never])).toThrow(message)
      expect(registry.has("a.first")).toBe(false)
    }
    expect(registry.list()).toHaveLength(1)
    expect(changes).not.toHaveBeenCalled()
  })

  test("a replacement that fails leaves the old one in place", async () => {
    const registry = quietRegistry([greet])
    expect(() => registry.register({ ...greet, handler: 5 as never }, { replace: true })).toThrow(
      "handler",
    )
    expect((await registry.execute("demo.greet", { name: "x" })).data).toEqual({ text: "Hello, x" })
  })

  test("a spec may wait for its handler", async () => {
    const registry = quietRegistry()
    registry.registerSpec({ ...greet, composes: ["x.*"] } as never)
    expect(registry.getHandler("demo.greet")).toBeUndefined()
    expect(registry.get("demo.greet")).not.toHaveProperty("handler")
    registry.registerHandler("demo.greet", (input: { name: string }) => ({ text: input.name }))
    expect((await registry.execute("demo.greet", { name: "late" })).data).toEqual({ text: "late" })
    expect(() => registry.registerHandler("demo.greet", () => 1)).toThrow("already has a handler")
    registry.registerHandler("demo.greet", () => ({ text: "new" }), { replace: true })
    expect((await registry.execute("demo.greet", { name: "x" })).data).toEqual({ text: "new" })
    expect(() => registry.registerSpec(greet)).toThrow("is already registered")
    registry.registerSpec(greet, { replace: true })
    expect(registry.getHandler("demo.greet")).toBeUndefined()
  })

  test("a spec does not set the normalize and output modes", async () => {
    const registry = quietRegistry([], { output: "strict" })
    registry.registerSpec({
      ...operation("a.b", { outputSchema: Type.String() }),
      output: "off",
      normalize: "off",
    } as never)
    registry.registerHandler("a.b", () => 5n)
    expect((await registry.execute("a.b")).data).toBe("5")
    registry.registerHandler("a.b", () => null, { replace: true })
    expect(await rejection(registry.execute("a.b"))).toMatchObject({
      code: "OUTPUT_VALIDATION_ERROR",
    })
  })

  test("rejects a handler for a missing spec, or of the wrong kind", () => {
    const registry = quietRegistry()
    expect(() => registry.registerHandler("demo.greet", () => 1)).toThrow(
      expect.objectContaining({
        code: "OPERATION_NOT_FOUND",
        message: expect.stringContaining("Register it first"),
      }),
    )
    registry.registerSpec(count)
    expect(() => registry.registerHandler("demo.count", async () => 1)).toThrow(
      "write async function*",
    )
    expect(() => registry.registerHandler("demo.count", 5 as never)).toThrow(
      "must be a function, got number",
    )
    expect(() =>
      registry.registerHandler("demo.count", async function* () {}, { composes: ["*"] }),
    ).toThrow("composes")
  })

  test("registerHandler takes the composes list of a handler", async () => {
    const registry = quietRegistry([
      operation("audit.write", { accessControl: { requiredScopes: ["a"] }, handler: () => "ok" }),
    ])
    registry.registerSpec(operation("task.close", { composes: ["audit.*"] }))
    const handler = async (
      _input: never,
      context: { call: (id: string) => Promise<{ data: unknown }> },
    ): Promise<unknown> => (await context.call("audit.write")).data
    registry.registerHandler("task.close", handler)
    expect(await rejection(registry.execute("task.close"))).toMatchObject({ code: "ACCESS_DENIED" })
    registry.registerHandler("task.close", handler, { replace: true, composes: ["audit.write"] })
    expect((await registry.execute("task.close")).data).toBe("ok")
  })

  test("unregister removes an operation, and running calls continue", async () => {
    let release: ((value: unknown) => void) | undefined
    const registry = quietRegistry([
      operation("a.b", { handler: () => new Promise((resolve) => (release = resolve)) }),
    ])
    const running = registry.execute("a.b")
    expect(registry.unregister("a.b")).toBe(true)
    expect(registry.unregister("a.b")).toBe(false)
    expect(await rejection(registry.execute("a.b"))).toMatchObject({ code: "OPERATION_NOT_FOUND" })
    release?.("done")
    expect((await running).data).toBe("done")
    registry.register(greet)
    expect(registry.list()).toHaveLength(1)
  })
})

describe("a spec that is registered", () => {
  const faulty: [string, object, string][] = [
    ["no name", { name: undefined }, "name is required"],
    ["an empty name", { name: "" }, "name"],
    ["a name with a blank", { name: "a b" }, "name"],
    ["a name with a line break", { name: "a\r\nPUB x 1" }, "name"],
    ["a wildcard", { name: "*" }, "name"],
    ["a name that is too long", { name: "x".repeat(300) }, "name"],
    ["a namespace with a dot", { namespace: "a.b" }, "namespace"],
    ["a namespace that is a number", { namespace: 5 }, "namespace must be string, got number"],
    ["no version", { version: undefined }, "version is required"],
    ["a version that is none", { version: "newest" }, "version"],
    [
      "an unknown type",
      { type: "command" },
      `type must be one of "query", "mutation", "subscription"`,
    ],
    ["no description", { description: undefined }, "description is required"],
    [
      "no input schema",
      { inputSchema: undefined },
      "inputSchema is required; Type.Unknown() accepts anything",
    ],
    ["an output schema that is text", { outputSchema: "string" }, "outputSchema is not a schema"],
    ["a schema with a misspelt type", { inputSchema: { type: "strnig" } }, "inputSchema.type"],
    [
      "a schema with a broken reference",
      { inputSchema: { $ref: "#/$defs/nothing" } },
      "inputSchema",
    ],
    [
      "a schema with a pattern that hangs",
      { inputSchema: { type: "string", pattern: "^(a+)+$" } },
      "inputSchema.pattern",
    ],
    ["no access control", { accessControl: undefined }, "accessControl is required"],
    [
      "access control without scopes",
      { accessControl: {} },
      "accessControl.requiredScopes is required",
    ],
    [
      "scopes that are text",
      { accessControl: { requiredScopes: "admin" } },
      "accessControl.requiredScopes must be array",
    ],
    [
      "an action without a type",
      { accessControl: { requiredScopes: [], resourceAction: "x" } },
      "accessControl",
    ],
    [
      "a pointer that is none",
      { accessControl: { requiredScopes: [], resourceType: "a", resourceIdPath: "id" } },
      "accessControl.resourceIdPath must be a JSON pointer",
    ],
    ["an unknown visibility", { visibility: "secret" }, "visibility"],
    ["tags that are text", { tags: "a" }, "tags must be array"],
    [
      "a reserved error code",
      { errorSchemas: [{ code: "TIMEOUT", description: "", schema: {} }] },
      `errorSchemas.0.code "TIMEOUT" is one of the library's own codes`,
    ],
    [
      "an error code twice",
      {
        errorSchemas: [
          { code: "A", description: "", schema: {} },
          { code: "A", description: "", schema: {} },
        ],
      },
      "is declared twice",
    ],
    [
      "an error without a schema",
      { errorSchemas: [{ code: "A", description: "" }] },
      "errorSchemas.0.schema is required",
    ],
    [
      "an error with a bad schema",
      { errorSchemas: [{ code: "A", description: "", schema: 5 }] },
      "errorSchemas.0.schema is not a schema",
    ],
    ["an error that is none", { errorSchemas: [null] }, "errorSchemas.0"],
    ["errors that are no list", { errorSchemas: {} }, "errorSchemas must be array"],
    ["a handler that is none", { handler: "x" }, "handler must be a function, got string"],
    [
      "a generator for a query",
      { handler: function* () {} },
      `handler of a query must return one value`,
    ],
    [
      "an async generator for a query",
      { handler: async function* () {} },
      `use type "subscription"`,
    ],
    [
      "a promise for a stream",
      { type: "subscription", handler: async () => 1 },
      "write async function*",
    ],
    [
      "a synchronous generator for a stream",
      { type: "subscription", handler: function* () {} },
      "must be asynchronous",
    ],
    ["composes that is text", { composes: "a.b" }, `composes must be an array`],
    ["composes with a bare star", { composes: ["a.b", "*"] }, "composes entry 1 must be an id"],
    [
      "an unknown normalize mode",
      { normalize: "yes" },
      `normalize must be "strip", "keep" or "off"`,
    ],
    ["a schema as input", { input: { type: "object" } }, "a schema belongs in inputSchema"],
    ["a schema as output", { output: Type.String() }, "a schema belongs in outputSchema"],
    ["an unknown output mode", { output: "loud" }, `output must be "warn", "strict" or "off"`],
  ]

  test.each(faulty)("with %s is rejected with the name of the field", (_what, change, message) => {
    const registry = quietRegistry()
    expect(() => registry.register({ ...greet, ...change } as never)).toThrow(
      expect.objectContaining({
        code: "VALIDATION_ERROR",
        message: expect.stringContaining(message),
      }),
    )
    expect(registry.list()).toEqual([])
  })

  test("with several invalid fields names them all", () => {
    const error = thrown(() =>
      quietRegistry().register({ ...greet, name: "", version: "x", handler: 1 } as never),
    )
    const { errors } = (error as { details: { errors: { path: string }[] } }).details
    expect(new Set(errors.map((fault) => fault.path))).toEqual(
      new Set(["/name", "/version", "/handler"]),
    )
  })

  test.each([undefined, null, 5, "x", [], () => 1])(
    "that is %s is a TypeError with the cure",
    (nonsense) => {
      expect(() => quietRegistry().register(nonsense as never)).toThrow(
        "Make one with defineOperation()",
      )
      expect(() => quietRegistry().registerSpec(nonsense as never)).toThrow(TypeError)
    },
  )

  test("may be anything valid", () => {
    const registry = quietRegistry()
    const odd: object[] = [
      { name: "a.b.c-d_e", namespace: "1x-y" },
      { name: "__proto__", namespace: "__proto__" },
      { name: "constructor", namespace: "toString" },
      { name: "v", version: "v2" },
      { name: "d", version: "2022-11-28" },
      { name: "p", version: "1.0.0-beta.1+build.5" },
      { name: "t", inputSchema: true, outputSchema: false },
      { name: "e", type: OperationType.MUTATION, description: "" },
    ]
    for (const change of odd) registry.register({ ...greet, ...change } as never)
    expect(registry.list()).toHaveLength(odd.length)
  })

  test("with a schema whose diagnostics were reported on import is accepted", () => {
    const diagnostics: unknown[] = []
    const inputSchema = FromSchema(
      { $ref: "#/nowhere" },
      { onDiagnostic: (d) => diagnostics.push(d) },
    )
    expect(diagnostics).toHaveLength(1)
    expect(() => quietRegistry().register({ ...greet, inputSchema } as never)).not.toThrow()
  })
})

describe("OperationRegistry.onChange", () => {
  test("notifies of added, replaced and removed operations", () => {
    const registry = quietRegistry()
    const changes: RegistryChange[] = []
    const stop = registry.onChange((change) => changes.push(change))
    registry.register(greet)
    registry.register({ ...greet, title: "new" }, { replace: true })
    registry.unregister("demo.greet")
    registry.registerSpec(count)
    registry.registerHandler("demo.count", async function* () {})
    stop()
    stop()
    registry.unregister("demo.count")
    expect(changes.map(({ type, id, spec }) => [type, id, spec.title])).toEqual([
      ["added", "demo.greet", undefined],
      ["replaced", "demo.greet", "new"],
      ["removed", "demo.greet", "new"],
      ["added", "demo.count", undefined],
      ["replaced", "demo.count", undefined],
    ])
  })

  test("every listener hears of changes in their order, also of those that a listener makes", () => {
    const registry = quietRegistry()
    const heard: string[] = []
    registry.onChange(({ type, id }) => {
      if (type === "added") registry.unregister(id)
    })
    registry.onChange(({ type }) => heard.push(type))
    registry.registerAll([greet, count])
    expect(heard).toEqual(["added", "removed", "added", "removed"])
    expect(registry.list()).toEqual([])
  })

  test("a listener that throws has no effect, and one that is added twice is called twice", () => {
    const error = vi.fn()
    const registry = quietRegistry([], { logger: { ...silentLogger, error } })
    const listener = vi.fn()
    registry.onChange(() => {
      throw new Error("mine")
    })
    registry.onChange(listener)
    registry.onChange(listener)
    registry.register(greet)
    expect(listener).toHaveBeenCalledTimes(2)
    expect(error).toHaveBeenCalledOnce()
    expect(() => registry.onChange(undefined as never)).toThrow(
      "onChange(listener): must be a function",
    )
  })
})

describe("OperationRegistry.search", () => {
  const operations: AnyOperation[] = [
    operation("github.issues.create", {
      description: "Creates an issue",
      tags: ["issues"],
      inputSchema: Type.Object({ labels: Type.Array(Type.String()) }),
      handler: () => 1,
    }),
    operation("github.issues.list", {
      type: "query",
      description: "Lists the issues of a repository",
      handler: () => 1,
    }),
    operation("admin.wipe", {
      description: "Deletes every issue",
      accessControl: { requiredScopes: ["root"] },
      handler: () => 1,
    }),
    operation("vault.open", {
      description: "Opens an issue vault",
      accessControl: {
        requiredScopes: [],
        resourceType: "vault",
        resourceAction: "open",
        resourceIdPath: "/id",
      },
      handler: () => 1,
    }),
    operation("inner.issue", { description: "issue", visibility: "internal", handler: () => 1 }),
  ]
  const found = (results: readonly { id: string }[]): string[] =>
    results.map(({ id }) => id).toSorted()

  test("finds by id, text, tags and input names, best first", () => {
    const registry = quietRegistry(operations)
    expect(registry.search("create issue")[0]).toMatchObject({
      id: "github.issues.create",
      score: expect.any(Number),
      spec: { name: "issues.create" },
    })
    expect(found(registry.search("labels"))).toEqual(["github.issues.create"])
    expect(registry.search("xyzzy")).toEqual([])
  })

  test("hides what the identity may not call, and internal operations from everyone", () => {
    const registry = quietRegistry(operations)
    expect(found(registry.search("issue"))).toEqual([
      "admin.wipe",
      "github.issues.create",
      "github.issues.list",
      "vault.open",
    ])
    expect(found(registry.search("issue", { identity: undefined }))).toEqual([
      "github.issues.create",
      "github.issues.list",
    ])
    expect(found(registry.search("issue", { identity: { id: "x", scopes: ["root"] } }))).toContain(
      "admin.wipe",
    )
    const holder = { id: "x", scopes: [], resources: { "vault:7": ["open"] } }
    expect(found(registry.search("issue", { identity: holder }))).toContain("vault.open")
  })

  test("filters by namespace and type, and keeps to a limit", () => {
    const registry = quietRegistry(operations)
    expect(found(registry.search("issue", { namespace: "admin" }))).toEqual(["admin.wipe"])
    expect(found(registry.search("issue", { type: "query" }))).toEqual(["github.issues.list"])
    expect(registry.search("issue", { limit: 1 })).toHaveLength(1)
    expect(registry.search("", { limit: 10 })).toHaveLength(4)
  })

  test("finds imported operations by method and path, and falls back to words", () => {
    const request = (method: unknown, path: unknown): Record<string, unknown> => ({
      _meta: { openapi: { method, path } },
      handler: () => 1,
    })
    const registry = quietRegistry([
      ...operations,
      operation("pets.list", { ...request("GET", "/pets"), description: "Lists pets" }),
      operation("pets.add", { ...request("POST", "/pets"), description: "Adds pets" }),
      operation("pets.get", request("GET", "/pets/{id}")),
      operation("pets.secret", {
        ...request("GET", "/pets/secret"),
        accessControl: { requiredScopes: ["root"] },
      }),
      operation("odd.one", { _meta: { openapi: 5 }, handler: () => 1 }),
      operation("odd.two", request(["GET"], "/pets")),
    ])
    const ids = (query: string, options = {}): string[] =>
      registry.search(query, options).map(({ id }) => id)
    expect(ids("/pets")).toEqual(["pets.list", "pets.add", "pets.get", "pets.secret"])
    expect(ids("GET /pets", { limit: 1 })).toEqual(["pets.list"])
    expect(ids("GET /pets/secret", { identity: undefined })).toEqual(["pets.get"])
    expect(ids("/pets", { type: "mutation", namespace: "odd" })).toEqual([])
    expect(ids("GET pets")).not.toContain("pets.add")
    expect(ids("GET pets")).toContain("pets.list")
    expect(ids("POST issue")).toContain("github.issues.create")
    expect(ids("labels/none")).toContain("github.issues.create")
    expect(ids("__proto__/constructor")).toEqual([])
  })

  test("finds a lazy operation by its path without reading it", () => {
    const { handler, ...spec } = greet
    const parts = {
      ...spec,
      policy: {},
      handler,
      inputNames: [],
      request: { method: "GET", path: "/greetings" },
      get _meta(): never {
        throw new Error("was read")
      },
    }
    const registry = quietRegistry([lazyOperation(parts as never)])
    expect(found(registry.search("GET /greetings"))).toEqual(["demo.greet"])
    const renamed = changedOperation(parts as never, { name: "hello" })
    registry.register(renamed)
    expect(found(registry.search("/greet"))).toEqual(["demo.greet", "demo.hello"])
  })

  test("keeps up with what is registered", () => {
    const registry = quietRegistry(operations)
    registry.search("x")
    registry.register(greet)
    expect(found(registry.search("greets"))).toEqual(["demo.greet"])
    registry.register({ ...greet, description: "Waves" }, { replace: true })
    expect(found(registry.search("waves"))).toEqual(["demo.greet"])
    registry.unregister("demo.greet")
    expect(registry.search("waves")).toEqual([])
  })

  test("names invalid arguments", () => {
    const registry = quietRegistry(operations)
    expect(() => registry.search(5 as never)).toThrow(TypeError)
    expect(() => registry.search("x", null as never)).toThrow("options must be an object")
    expect(() => registry.search("x", { limit: Number.NaN })).toThrow("limit")
  })
})

describe("options of a registry", () => {
  test("that are invalid are rejected by name", () => {
    expect(() => new OperationRegistry({ output: "loud" } as never)).toThrow(
      'new OperationRegistry(): output must be "warn", "strict" or "off", got "loud".',
    )
  })

  test("formats check only where they are asked for", async () => {
    const mail = operation("a.b", {
      inputSchema: Type.Object({ to: Type.String({ format: "email" }) }),
      handler: () => 1,
    })
    await quietRegistry([mail]).execute("a.b", { to: "nobody" })
    expect(
      await rejection(quietRegistry([mail], { formats: true }).execute("a.b", { to: "nobody" })),
    ).toMatchObject({
      code: "VALIDATION_ERROR",
    })
  })
})

describe("OperationRegistry.close", () => {
  test("ends running calls, rejects later ones, and may be called twice", async () => {
    const registry = quietRegistry([
      operation("a.hang", { handler: () => new Promise(() => undefined) }),
      greet,
    ])
    const running = rejection(registry.execute("a.hang"))
    const dated = rejection(registry.execute("a.hang", {}, { deadline: Date.now() + 1e6 }))
    await registry.close()
    await registry.close()
    expect(await running).toMatchObject({ code: "ABORTED", message: "The registry was closed." })
    expect(await dated).toMatchObject({ code: "ABORTED" })
    expect(() => registry.register(count)).toThrow(expect.objectContaining({ code: "UNAVAILABLE" }))
    expect(registry.onChange(() => undefined)).toBeTypeOf("function")
    expect(await rejection(registry.execute("demo.greet", { name: "x" }))).toMatchObject({
      code: "UNAVAILABLE",
      retryable: false,
      message: `"demo.greet" was not called: the registry is closed.`,
    })
  })

  test("is called by await using", async () => {
    let kept: OperationRegistry | undefined
    {
      await using registry = quietRegistry([greet])
      kept = registry
    }
    expect(await rejection(kept.execute("demo.greet", { name: "x" }))).toMatchObject({
      code: "UNAVAILABLE",
    })
  })
})

describe("defineOperation", () => {
  test("returns a frozen definition and changes nothing else", () => {
    const definition = { ...greet }
    const defined = defineOperation(definition)
    expect(defined).toEqual(definition)
    expect(Object.isFrozen(defined)).toBe(true)
    expect(JSON.parse(JSON.stringify(defined))).toEqual(JSON.parse(JSON.stringify(definition)))
  })
})
