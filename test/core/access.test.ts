import fc from "fast-check"
import { describe, expect, test } from "vitest"
import { checkAccess, enforceAccess, isCallError } from "../../src/index.ts"
import type { AccessControl, Identity } from "../../src/index.ts"
import { operation, quietRegistry, rejection, thrown } from "../support/operations.ts"

const admin: Identity = { id: "ada", scopes: ["admin", "read"] }

describe("checkAccess", () => {
  test("lets anyone in where nothing is required", () => {
    expect(checkAccess({ requiredScopes: [] })).toBe(true)
    expect(checkAccess({ requiredScopes: [], requiredScopesAny: [] }, admin)).toBe(true)
  })

  test("wants every one of requiredScopes and one of requiredScopesAny", () => {
    expect(checkAccess({ requiredScopes: ["admin", "read"] }, admin)).toBe(true)
    expect(checkAccess({ requiredScopes: ["admin", "write"] }, admin)).toBe(false)
    expect(checkAccess({ requiredScopes: [], requiredScopesAny: ["x", "read"] }, admin)).toBe(true)
    expect(checkAccess({ requiredScopes: [], requiredScopesAny: ["x", "y"] }, admin)).toBe(false)
    expect(checkAccess({ requiredScopes: ["x"], requiredScopesAny: ["read"] }, admin)).toBe(false)
  })

  test("takes scopes literally: no wildcard, no prefix, no empty word", () => {
    for (const scope of ["*", "admin.*", "", "ADMIN", "admin "]) {
      expect(checkAccess({ requiredScopes: ["admin"] }, { id: "x", scopes: [scope] })).toBe(false)
    }
  })

  test.each([
    ["a string of scopes", { id: "x", scopes: "admin" }],
    [
      "an object with a fake includes",
      { id: "x", scopes: { includes: () => true, length: 1, 0: "admin" } },
    ],
    [
      "an array whose includes lies",
      { id: "x", scopes: Object.assign([], { includes: () => true, some: () => true }) },
    ],
    ["scopes from the prototype", Object.create({ id: "x", scopes: ["admin"] })],
    ["scopes behind __proto__", JSON.parse(`{"id":"x","__proto__":{"scopes":["admin"]}}`)],
    [
      "scopes behind a getter",
      {
        id: "x",
        get scopes() {
          return ["admin"]
        },
      },
    ],
    ["scopes that are not all strings", { id: "x", scopes: ["admin", 5] }],
    ["a nested array", { id: "x", scopes: [["admin"]] }],
    ["a String object", { id: "x", scopes: [new String("admin")] }],
    ["a string", "admin"],
    ["true", true],
    ["a function", () => true],
    ["null", null],
  ])("grants nothing to %s", (_what, identity) => {
    expect(checkAccess({ requiredScopes: ["admin"] }, identity as never)).toBe(false)
    expect(
      checkAccess({ requiredScopes: [], requiredScopesAny: ["admin"] }, identity as never),
    ).toBe(false)
  })

  test("wants an entry for the resource type with the action", () => {
    const access: AccessControl = {
      requiredScopes: [],
      resourceType: "project",
      resourceAction: "write",
    }
    const holder = (resources: unknown): never => ({ id: "x", scopes: [], resources }) as never
    expect(checkAccess(access, holder({ "project:1": ["read", "write"] }))).toBe(true)
    expect(checkAccess(access, holder({ "project:1": ["read"] }))).toBe(false)
    expect(checkAccess(access, holder({ "projects:1": ["write"] }))).toBe(false)
    expect(checkAccess(access, holder({ project: ["write"] }))).toBe(false)
    expect(checkAccess(access, holder(Object.create({ "project:1": ["write"] })))).toBe(false)
    expect(checkAccess(access, holder({ "project:1": "write" }))).toBe(false)
    expect(checkAccess(access, holder(undefined))).toBe(false)
    expect(checkAccess(access, undefined)).toBe(false)
  })

  test("wants the entry for the very id that the input names", () => {
    const access: AccessControl = {
      requiredScopes: [],
      resourceType: "project",
      resourceAction: "write",
      resourceIdPath: "/project/id",
    }
    const identity: Identity = { id: "x", scopes: [], resources: { "project:1": ["write"] } }
    expect(checkAccess(access, identity, { project: { id: "1" } })).toBe(true)
    expect(checkAccess(access, identity, { project: { id: 1 } })).toBe(true)
    for (const input of [
      { project: { id: "2" } },
      { project: {} },
      { project: null },
      {},
      undefined,
      { project: Object.create({ id: "1" }) },
      { project: { id: ["1"] } },
      { project: { id: { toString: () => "1" } } },
    ]) {
      expect(checkAccess(access, identity, input)).toBe(false)
    }
  })

  test("never reads requirements that make no sense as open", () => {
    expect(checkAccess({ requiredScopes: [], resourceAction: "x" }, admin)).toBe(false)
    expect(checkAccess({ requiredScopes: [], resourceType: "p" }, admin)).toBe(false)
    expect(
      checkAccess(
        { requiredScopes: [], resourceType: "p" },
        { id: "x", scopes: [], resources: { "p:1": ["any"] } },
      ),
    ).toBe(true)
    const broken: AccessControl = { requiredScopes: [], resourceType: "p", resourceIdPath: "id" }
    expect(
      checkAccess(broken, { id: "x", scopes: [], resources: { "p:1": ["a"] } }, { id: "1" }),
    ).toBe(false)
    for (const nonsense of [
      undefined,
      null,
      1,
      {},
      { requiredScopes: "admin" },
      { requiredScopes: [1] },
    ]) {
      expect(() => checkAccess(nonsense as never, admin)).toThrow(TypeError)
    }
    expect(() =>
      checkAccess({ requiredScopes: [], requiredScopesAny: "x" } as never, admin),
    ).toThrow("requiredScopesAny must be an array of strings")
  })

  test("is monotone: taking a scope away never grants", () => {
    const scope = fc.constantFrom("a", "b", "c", "d")
    fc.assert(
      fc.property(
        fc.array(scope),
        fc.array(scope),
        fc.array(scope),
        fc.nat(),
        (requiredScopes, requiredScopesAny, scopes, at) => {
          const access = { requiredScopes, requiredScopesAny }
          const fewer = scopes.filter((_, index) => index !== at % Math.max(1, scopes.length))
          const before = checkAccess(access, { id: "x", scopes })
          const after = checkAccess(access, { id: "x", scopes: fewer })
          expect(!after || before).toBe(true)
        },
      ),
    )
  })
})

describe("enforceAccess", () => {
  test("throws ACCESS_DENIED with the missing requirement", () => {
    const error = thrown(() => {
      enforceAccess({ requiredScopes: ["a", "b"] }, undefined, "task.create")
    })
    expect(isCallError(error, "ACCESS_DENIED")).toBe(true)
    expect(error).toMatchObject({
      message: `Access to "task.create" is denied: an identity is required. It needs the scopes "a", "b".`,
      operationId: "task.create",
      details: { operationId: "task.create", requiredScopes: ["a", "b"] },
    })
    expect(() =>
      enforceAccess(
        {
          requiredScopes: [],
          requiredScopesAny: ["x", "y"],
          resourceType: "p",
          resourceAction: "w",
          resourceIdPath: "/id",
        },
        admin,
        "a.b",
      ),
    ).toThrow(
      `the identity lacks what it requires. It needs one of the scopes "x", "y" and the action "w" on that "p".`,
    )
  })

  test("cannot be switched off by a further argument", () => {
    expect(() => enforceAccess({ requiredScopes: ["a"] }, undefined, "a.b", true)).toThrow("denied")
    expect(() =>
      enforceAccess({ requiredScopes: ["a"] }, undefined, "a.b", { trusted: true }),
    ).toThrow("denied")
  })

  test("passes in silence", () => {
    expect(enforceAccess({ requiredScopes: ["admin"] }, admin, "a.b")).toBeUndefined()
  })
})

describe("access in a registry", () => {
  const secret = operation("vault.read", {
    accessControl: { requiredScopes: ["vault"] },
    handler: () => "gold",
  })

  test("is enforced in execute and subscribe", async () => {
    const registry = quietRegistry([
      secret,
      operation("vault.watch", {
        type: "subscription",
        accessControl: { requiredScopes: ["vault"] },
        async *handler() {
          yield "gold"
        },
      }),
    ])
    expect(await rejection(registry.execute("vault.read"))).toMatchObject({ code: "ACCESS_DENIED" })
    expect(await rejection(registry.subscribe("vault.watch").next())).toMatchObject({
      code: "ACCESS_DENIED",
    })
    const identity = { id: "x", scopes: ["vault"] }
    expect((await registry.execute("vault.read", undefined, { identity })).data).toBe("gold")
    expect(
      (await registry.subscribe("vault.watch", undefined, { identity }).next()).value?.data,
    ).toBe("gold")
  })

  test("is not switched off by anything in an input or a context", async () => {
    const registry = quietRegistry([secret])
    for (const context of [
      { trusted: true },
      { identity: { id: "x", scopes: [], trusted: true } },
      { metadata: { trusted: true } },
      Object.assign(Object.create({ trusted: true }), { trusted: true }),
      { trusted: true, kernel: registry, composes: ["vault.*"] },
    ]) {
      expect(
        await rejection(registry.execute("vault.read", { trusted: true }, context as never)),
      ).toMatchObject({
        code: "ACCESS_DENIED",
      })
    }
  })

  test("is checked before the input is, so that a stranger learns nothing of the schema", async () => {
    const registry = quietRegistry([
      { ...secret, inputSchema: { type: "object", required: ["pin"] } },
    ])
    expect(await rejection(registry.execute("vault.read", {}))).toMatchObject({
      code: "ACCESS_DENIED",
    })
  })

  test("trusted calls need no identity, and nothing else is lifted", async () => {
    const registry = quietRegistry([
      { ...secret, inputSchema: { type: "object", required: ["pin"] } },
      operation("vault.watch", {
        type: "subscription",
        accessControl: { requiredScopes: ["vault"] },
        async *handler() {
          yield "gold"
        },
      }),
    ])
    expect((await registry.trusted.execute("vault.read", { pin: 1 })).data).toBe("gold")
    expect((await registry.trusted.subscribe("vault.watch").next()).value?.data).toBe("gold")
    expect(await rejection(registry.trusted.execute("vault.read", {}))).toMatchObject({
      code: "VALIDATION_ERROR",
    })
    expect(Object.isFrozen(registry.trusted)).toBe(true)
    expect(registry.trusted).toBe(registry.trusted)
  })

  test("what was registered stays required, whatever happens to the definition afterwards", async () => {
    const accessControl = { requiredScopes: ["vault"] }
    const registry = quietRegistry([{ ...secret, accessControl }])
    accessControl.requiredScopes.length = 0
    expect(await rejection(registry.execute("vault.read"))).toMatchObject({ code: "ACCESS_DENIED" })
    const required = registry.getSpec("vault.read")?.accessControl.requiredScopes
    expect(Object.isFrozen(required)).toBe(true)
  })
})

describe("nested calls", () => {
  const audit = operation("audit.write", {
    accessControl: { requiredScopes: ["audit"] },
    handler: (_input: never, context: { identity?: Identity }) => context.identity?.id ?? "nobody",
  })
  const outer = (composes?: readonly string[]): ReturnType<typeof operation> =>
    operation("task.close", {
      ...(composes && { composes }),
      handler: async (_input: never, context: Context) =>
        (await context.call("audit.write", {})).data,
    })
  type Context = { call: (id: string, input: unknown) => Promise<{ data: unknown }> }
  const caller = { identity: { id: "eve", scopes: [] } }

  test("are checked against the caller", async () => {
    const registry = quietRegistry([audit, outer()])
    expect(await rejection(registry.execute("task.close", {}, caller))).toMatchObject({
      code: "ACCESS_DENIED",
      operationId: "audit.write",
    })
    const allowed = { identity: { id: "bob", scopes: ["audit"] } }
    expect((await registry.execute("task.close", {}, allowed)).data).toBe("bob")
  })

  test("run on the application's authority where composes names them, and the caller stays visible", async () => {
    for (const composes of [["audit.write"], ["audit.*"], ["task.x", "audit.write"]]) {
      const registry = quietRegistry([audit, outer(composes)])
      expect((await registry.execute("task.close", {}, caller)).data).toBe("eve")
      expect((await registry.execute("task.close", {})).data).toBe("nobody")
    }
  })

  test("run on it for nothing else, and not one level further down", async () => {
    const registry = quietRegistry([
      audit,
      outer(["task.*", "audit.read", "audit.writer"]),
      operation("task.wrap", {
        composes: ["task.close"],
        handler: async (_input: never, context: Context) =>
          (await context.call("task.close", {})).data,
      }),
    ])
    expect(await rejection(registry.execute("task.close", {}, caller))).toMatchObject({
      code: "ACCESS_DENIED",
    })
    expect(await rejection(registry.execute("task.wrap", {}, caller))).toMatchObject({
      code: "ACCESS_DENIED",
    })
  })

  test("under a trusted call are checked again", async () => {
    const registry = quietRegistry([audit, outer()])
    expect(await rejection(registry.trusted.execute("task.close", {}))).toMatchObject({
      code: "ACCESS_DENIED",
      operationId: "audit.write",
    })
  })

  test("cannot gain rights by editing what the handler was given", async () => {
    const identity = { id: "eve", scopes: ["read"], resources: { "a:1": ["r"] } }
    const attempts: string[] = []
    const registry = quietRegistry([
      audit,
      operation("evil.try", {
        handler: async (_input: never, context: Context & { identity: never }) => {
          for (const attack of [
            () => ((context as { identity: unknown }).identity = { id: "x", scopes: ["audit"] }),
            () => (context.identity as { scopes: string[] }).scopes.push("audit"),
            () => ((context.identity as { scopes: string[] }).scopes = ["audit"]),
            () =>
              ((context.identity as { resources: Record<string, string[]> }).resources["b:1"] = [
                "w",
              ]),
            () => Object.defineProperty(context.identity, "scopes", { value: ["audit"] }),
          ]) {
            try {
              attack()
            } catch (error) {
              attempts.push((error as Error).constructor.name)
            }
          }
          Object.defineProperty(context, "identity", { value: { id: "x", scopes: ["audit"] } })
          return (await context.call("audit.write", {})).data
        },
      }),
      operation("evil.copy", {
        handler: async (_input: never, context: object) =>
          (
            await quiet.execute("audit.write", {}, {
              ...context,
              identity: { id: "eve", scopes: [] },
              trusted: true,
              composes: ["audit.*"],
            } as never)
          ).data,
        composes: ["audit.*"],
      }),
    ])
    const quiet = registry
    expect(await rejection(registry.execute("evil.try", {}, { identity }))).toMatchObject({
      code: "ACCESS_DENIED",
    })
    expect(attempts).toEqual(["TypeError", "TypeError", "TypeError", "TypeError", "TypeError"])
    expect(identity.scopes).toEqual(["read"])
    expect(await rejection(registry.execute("evil.copy", {}, { identity }))).toMatchObject({
      code: "ACCESS_DENIED",
    })
  })
})
