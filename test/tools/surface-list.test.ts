import fc from "fast-check"
import { Type } from "typebox"
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest"
import { silentLogger } from "../../src/testing.ts"
import type { AnyOperation, Identity, Logger } from "../../src/index.ts"
import { ProtocolError } from "../../src/tools/model.ts"
import { ToolSurface } from "../../src/tools/surface.ts"
import { greet, operation, quietRegistry, rejection, thrown } from "../support/operations.ts"
import { allTools, caller, surfaceOf, textsOf } from "./surface-support.ts"

const admin: Identity = { id: "root", scopes: ["admin"] }

function ping(id: string, parts: Omit<Partial<AnyOperation>, "handler"> = {}): AnyOperation {
  return operation(id, { handler: () => "pong", ...parts })
}

function namesOf(operations: readonly AnyOperation[], options = {}): string[] {
  return allTools(surfaceOf(operations, options)).map(({ name }) => name)
}

describe("the list of tools", () => {
  test("is sorted by id and the same bytes whatever the order of registration", () => {
    const ids = fc.uniqueArray(fc.stringMatching(/^[a-c]{1,3}\.[a-c]{1,3}$/), { maxLength: 20 })
    fc.assert(
      fc.property(
        ids.chain((list) =>
          fc.tuple(fc.constant(list), fc.shuffledSubarray(list, { minLength: list.length })),
        ),
        ([list, shuffled]) => {
          const one = surfaceOf(
            list.map((id) => ping(id)),
            { pageSize: 3 },
          )
          const two = surfaceOf(
            shuffled.map((id) => ping(id)),
            { pageSize: 3 },
          )
          expect(JSON.stringify(one.list(caller(), undefined))).toBe(
            JSON.stringify(two.list(caller(), undefined)),
          )
          expect(allTools(one).map((tool) => tool.name)).toEqual(
            list.toSorted().map((id) => id.replace(".", "_")),
          )
        },
      ),
    )
  })

  test("has what is external and has a handler", () => {
    const registry = quietRegistry([ping("a.open"), ping("a.hidden", { visibility: "internal" })])
    registry.registerSpec(operation("a.later", {}))
    const surface = new ToolSurface(registry, { logger: silentLogger })
    expect(allTools(surface).map(({ name }) => name)).toEqual(["a_open"])
    registry.registerHandler("a.later", () => 1)
    expect(allTools(surface).map(({ name }) => name)).toEqual(["a_later", "a_open"])
  })

  test("is cut to what is exposed, and what is not cannot be called either", async () => {
    const list = [ping("a.one"), ping("a.two"), ping("b.one"), ping("c.one")]
    expect(namesOf(list, { expose: { include: ["a.*", "b.one"], exclude: ["a.two"] } })).toEqual([
      "a_one",
      "b_one",
    ])
    expect(namesOf(list, { expose: { namespaces: ["c"] } })).toEqual(["c_one"])
    const surface = surfaceOf(list, {
      expose: {
        include: ({ name, namespace }) => {
          if (namespace === "c") throw new Error("no")
          return name === "one"
        },
      },
    })
    expect(allTools(surface).map(({ name }) => name)).toEqual(["a_one", "b_one"])
    for (const name of ["a_two", "c_one"]) {
      expect(await rejection(surface.call(name, {}, caller()))).toMatchObject({ code: -32602 })
    }
  })

  test("shows each caller what they may call, and hides the rest without a trace", async () => {
    const list = [
      ping("a.open"),
      ping("a.secret", { accessControl: { requiredScopes: ["admin"] } }),
      ping("a.internal", { visibility: "internal" }),
    ]
    const surface = surfaceOf(list)
    expect(surface.list(caller(), undefined)).toMatchObject({ cacheScope: "private" })
    expect(allTools(surface).map(({ name }) => name)).toEqual(["a_open"])
    expect(allTools(surface, caller("modern", admin)).map(({ name }) => name)).toEqual([
      "a_open",
      "a_secret",
    ])
    expect(surface.find("a_secret", caller())).toBeUndefined()
    expect(surface.find("a_secret", caller("legacy", admin))?.name).toBe("a_secret")
    const faults = await Promise.all(
      ["a_secret", "a_internal", "a_nothing"].map(async (name) => {
        const fault = await rejection(surface.call(name, {}, caller()))
        expect(fault).toBeInstanceOf(ProtocolError)
        return (fault as Error).message.replace(name, "X")
      }),
    )
    expect(new Set(faults)).toEqual(new Set(["Unknown tool: X"]))
    expect(textsOf(await surface.call("a_secret", {}, caller("modern", admin)))).toBe("pong")
  })

  test("shows what depends on the input; the call decides", async () => {
    const surface = surfaceOf([
      ping("doc.read", {
        inputSchema: Type.Object({ id: Type.String() }),
        accessControl: {
          requiredScopes: [],
          resourceType: "doc",
          resourceAction: "read",
          resourceIdPath: "/id",
        },
      }),
    ])
    const who = caller("modern", { id: "u", scopes: [], resources: { "doc:1": ["read"] } })
    expect(allTools(surface, who)).toHaveLength(1)
    expect(allTools(surface)).toHaveLength(0)
    expect(textsOf(await surface.call("doc_read", { id: "1" }, who))).toBe("pong")
    expect(textsOf(await surface.call("doc_read", { id: "2" }, who))).toMatch(/^ACCESS_DENIED: /)
  })

  test("is public where everybody sees the same", () => {
    expect(surfaceOf([greet], { ttlMs: 7 }).list(caller(), undefined)).toMatchObject({
      cacheScope: "public",
      ttlMs: 7,
    })
  })

  test("survives one operation whose definition cannot be made", () => {
    const broken = ping("a.broken", { title: "T" })
    const registry = quietRegistry([greet, broken])
    const getSpec = registry.getSpec.bind(registry)
    const faulty = Object.assign(Object.create(registry) as typeof registry, {
      list: () => registry.list(),
      outlook: undefined,
      onChange: () => () => undefined,
      getSpec: (id: string) => {
        const spec = getSpec(id)
        if (id !== "a.broken") return spec
        return Object.defineProperty({ ...spec }, "inputSchema", {
          get: () => {
            throw new Error("cannot be read")
          },
        })
      },
    })
    const tools = allTools(new ToolSurface(faulty, { logger: silentLogger }))
    expect(tools.map(({ name }) => name)).toEqual(["a_broken", "demo_greet"])
    expect(tools[0]?.inputSchema).toEqual({ type: "object" })
  })
})

describe("pages", () => {
  const ids = Array.from({ length: 450 }, (_, index) => `n.op${String(index).padStart(3, "0")}`)
  const many = { expose: { mode: "all" as const } }

  test("hold 200 tools and lead to all of them, once each", () => {
    const surface = surfaceOf(
      ids.map((id) => ping(id)),
      many,
    )
    expect(surface.list(caller(), undefined).tools).toHaveLength(200)
    expect(allTools(surface).map(({ name }) => name)).toEqual(ids.map((id) => id.replace(".", "_")))
  })

  test("of any size hold everything, whoever asks", () => {
    fc.assert(
      fc.property(
        fc.nat(30),
        fc.integer({ min: 1, max: 12 }),
        fc.boolean(),
        (count, pageSize, isAdmin) => {
          const list = Array.from({ length: count }, (_, index) =>
            ping(`n.o${index}`, {
              accessControl: { requiredScopes: index % 3 === 0 ? ["admin"] : [] },
            }),
          )
          const surface = surfaceOf(list, { ...many, pageSize })
          const tools = allTools(surface, caller("modern", isAdmin ? admin : undefined))
          expect(tools).toHaveLength(isAdmin ? count : count - Math.ceil(count / 3))
          expect(new Set(tools.map(({ name }) => name)).size).toBe(tools.length)
        },
      ),
    )
  })

  test("pages are refused for invalid cursors, including the empty one", () => {
    const surface = surfaceOf(
      ids.map((id) => ping(id)),
      many,
    )
    for (const cursor of ["", "garbage", ".", "0.n.op200", "ffffffffffffffff.n.op200"]) {
      expect(thrown(() => surface.list(caller(), cursor))).toMatchObject({ code: -32602 })
    }
  })

  test("are refused once the registry has changed", () => {
    const registry = quietRegistry(ids.map((id) => ping(id)))
    const surface = new ToolSurface(registry, { logger: silentLogger, ...many })
    const { nextCursor } = surface.list(caller(), undefined)
    registry.register(ping("n.op000") as never, { replace: true })
    expect(thrown(() => surface.list(caller(), nextCursor))).toMatchObject({ code: -32602 })
  })

  test("go on with the same cursor on another machine with the same operations", () => {
    const [one, two] = [1, 2].map(() =>
      surfaceOf(
        ids.map((id) => ping(id)),
        many,
      ),
    )
    const cursor = one?.list(caller(), undefined).nextCursor
    expect(two?.list(caller(), cursor).tools).toHaveLength(200)
  })
})

describe("changes", () => {
  beforeEach(() => vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] }))
  afterEach(() => vi.useRealTimers())

  test("changes in quick succession are announced once, and the list is new at once", () => {
    const registry = quietRegistry([greet])
    const surface = new ToolSurface(registry, { logger: silentLogger })
    let changes = 0
    const stop = surface.onChange(() => {
      changes++
    })
    const before = surface.version
    registry.registerAll([ping("a.one"), ping("a.two")])
    registry.unregister("demo.greet")
    expect(surface.version).not.toBe(before)
    expect(allTools(surface).map(({ name }) => name)).toEqual(["a_one", "a_two"])
    vi.advanceTimersByTime(20)
    expect(changes).toBe(1)
    stop()
    registry.register(ping("a.three") as never)
    vi.advanceTimersByTime(20)
    expect(changes).toBe(1)
  })

  test("changes of hidden operations are not announced, unless they were visible before", () => {
    const registry = quietRegistry([greet])
    const surface = new ToolSurface(registry, {
      logger: silentLogger,
      expose: { exclude: ["x.*"] },
    })
    let changes = 0
    surface.onChange(() => {
      changes++
    })
    registry.registerAll([ping("a.inner", { visibility: "internal" }), ping("x.one")])
    vi.advanceTimersByTime(20)
    expect([changes, surface.version]).toEqual([0, 0])
    registry.register({ ...greet, visibility: "internal" } as never, { replace: true })
    vi.advanceTimersByTime(20)
    expect(changes).toBe(1)
    expect(allTools(surface)).toEqual([])
  })

  test("changes reach other listeners when one throws, and none after close", () => {
    const errors: string[] = []
    const logger: Logger = { ...silentLogger, error: (message) => void errors.push(message) }
    const registry = quietRegistry()
    const surface = new ToolSurface(registry, { logger })
    let changes = 0
    surface.onChange(() => {
      throw new Error("mine")
    })
    surface.onChange(() => {
      changes++
    })
    registry.register(ping("a.b") as never)
    vi.advanceTimersByTime(20)
    expect([changes, errors.length]).toEqual([1, 1])
    surface.close()
    registry.register(ping("a.c") as never)
    vi.advanceTimersByTime(20)
    expect(changes).toBe(1)
  })
})
