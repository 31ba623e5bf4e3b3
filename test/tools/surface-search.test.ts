import fc from "fast-check"
import { Type } from "typebox"
import { describe, expect, test } from "vitest"
import { CallError } from "../../src/index.ts"
import type { AnyOperation, Identity } from "../../src/index.ts"
import type { SurfaceResult } from "../../src/tools/model.ts"
import { count, greet, operation, rejection } from "../support/operations.ts"
import { allTools, caller, surfaceOf, textsOf } from "./surface-support.ts"

const searching = { expose: { mode: "search" as const } }
const admin: Identity = { id: "root", scopes: ["admin"] }

const secret = operation("vault.open", {
  description: "Opens the vault and greets whoever comes",
  accessControl: { requiredScopes: ["admin"] },
  handler: () => "open",
})
const inner = operation("vault.inner", {
  description: "Greets from inside",
  visibility: "internal",
  handler: () => "inner",
})
const many = (length: number): AnyOperation[] =>
  Array.from({ length }, (_, index) => operation(`n.op${index}`, { handler: () => index }))

function idsOf(result: SurfaceResult): string[] {
  const { operations } = result.structuredContent as {
    readonly operations: { readonly id: string }[]
  }
  return operations.map(({ id }) => id)
}

describe("search mode", () => {
  test("shows four tools whose bytes never change", () => {
    const one = JSON.stringify(surfaceOf([greet], searching).list(caller(), undefined))
    const two = JSON.stringify(surfaceOf(many(100), searching).list(caller("legacy"), undefined))
    expect(two).toBe(one)
    expect(allTools(surfaceOf([], searching)).map(({ name }) => name)).toEqual([
      "search_operations",
      "describe_operation",
      "call_operation",
      "read_result",
    ])
  })

  test("begins by itself past the threshold, counted for each caller", () => {
    const list = many(64)
    expect(allTools(surfaceOf(list))).toHaveLength(64)
    const surface = surfaceOf([...list, secret])
    expect(allTools(surface)).toHaveLength(64)
    expect(allTools(surface, caller("modern", admin))).toHaveLength(4)
    expect(allTools(surfaceOf(list, { expose: { threshold: 63 } }))).toHaveLength(4)
    expect(allTools(surfaceOf(many(500), { expose: { mode: "all" } }))).toHaveLength(500)
  })

  test("has its tools only while it lasts", async () => {
    const surface = surfaceOf([greet])
    expect(surface.find("call_operation", caller())).toBeUndefined()
    expect(await rejection(surface.call("call_operation", {}, caller()))).toMatchObject({
      message: "Unknown tool: call_operation",
    })
    expect(surfaceOf([greet], searching).find("call_operation", caller())?.name).toBe(
      "call_operation",
    )
  })

  test("takes names of tools from lists of before", async () => {
    const result = await surfaceOf([greet], searching).call("demo_greet", { name: "x" }, caller())
    expect(result.structuredContent).toEqual({ text: "Hello, x" })
  })

  test("is careful about what calling may do", () => {
    const tool = surfaceOf([], searching).find("call_operation", caller())
    expect(tool?.annotations).toEqual({
      readOnlyHint: false,
      destructiveHint: true,
      idempotentHint: false,
      openWorldHint: true,
    })
  })

  test("costs the same however many there are", () => {
    const few = surfaceOf(many(10)).cost(undefined)
    const lots = surfaceOf(many(1000)).cost(undefined)
    expect(few.mode).toBe("all")
    expect(lots.mode).toBe("search")
    expect(lots.search).toEqual(few.search)
    expect(lots.all.tools).toBe(1000)
    expect(lots.all.bytes).toBeGreaterThan(50 * few.all.bytes)
    const shown = JSON.stringify(allTools(surfaceOf(many(10))))
    expect(few.all.bytes).toBe(new TextEncoder().encode(shown).length)
    expect(few.all.tokens).toBe(Math.ceil(few.all.bytes / 4))
  })

  test("says what each part of the list costs, for a caller or with every tool", () => {
    const surface = surfaceOf([greet, secret])
    expect(surface.cost(undefined).all.tools).toBe(1)
    expect(surface.cost("all").all.tools).toBe(2)
    expect(
      surface
        .cost("all", ({ id }) => id)
        .parts.map(({ name }) => name)
        .toSorted(),
    ).toEqual([greet, secret].map(({ namespace, name }) => `${namespace}.${name}`).toSorted())
    expect(surfaceOf([]).cost("all")).toMatchObject({ all: { tools: 0, bytes: 2 }, parts: [] })
  })
})

describe("search_operations", () => {
  const surface = surfaceOf([greet, count, secret, inner], searching)

  test("finds what the caller may call, and nothing else", async () => {
    const find = async (identity?: Identity): Promise<string[]> =>
      idsOf(
        await surface.call("search_operations", { query: "greets" }, caller("modern", identity)),
      )
    expect(await find()).toEqual(["demo.greet"])
    expect((await find(admin)).toSorted()).toEqual(["demo.greet", "vault.open"])
  })

  test("search results contain what a model needs to choose", async () => {
    const result = await surface.call("search_operations", { query: "count numbers" }, caller())
    expect(result.structuredContent).toEqual({
      operations: [
        {
          id: "demo.count",
          type: "subscription",
          description: "Counts up to a number",
          inputs: ["to", "limit?", "timeoutMs?"],
        },
      ],
    })
    expect(JSON.parse(textsOf(result))).toEqual(result.structuredContent)
  })

  test("lists in order where nothing is looked for, and stays in a namespace", async () => {
    expect(idsOf(await surface.call("search_operations", { query: " " }, caller()))).toEqual([
      "demo.count",
      "demo.greet",
    ])
    const input = { query: "greets", namespace: "vault" }
    const result = await surface.call("search_operations", input, caller("modern", admin))
    expect(idsOf(result)).toEqual(["vault.open"])
  })

  test("finds enough even where most of what matches is not exposed", async () => {
    const list = [
      ...Array.from({ length: 200 }, (_, index) =>
        operation(`hidden.op${index}`, { description: "apple apple", handler: () => 1 }),
      ),
      operation("shown.one", { description: "one apple among other things", handler: () => 1 }),
    ]
    const cut = surfaceOf(list, { expose: { mode: "search", exclude: ["hidden.*"] } })
    const result = await cut.call("search_operations", { query: "apple", limit: 1 }, caller())
    expect(idsOf(result)).toEqual(["shown.one"])
  })

  test("says what is wrong with its input", async () => {
    for (const input of [{}, { query: 1 }, { query: "x", limit: 0 }, { query: "x", other: 1 }]) {
      const result = await surface.call("search_operations", input, caller())
      expect(textsOf(result)).toMatch(
        /^VALIDATION_ERROR: Input for "search_operations" is invalid:\n- /,
      )
    }
  })
})

describe("describe_operation", () => {
  const surface = surfaceOf(
    [
      greet,
      secret,
      inner,
      operation("e.rr", {
        errorSchemas: [{ code: "TAKEN", description: "Is taken", schema: Type.Unknown() }],
        examples: [{ a: 1 }],
        handler: () => 1,
      }),
    ],
    searching,
  )

  test("gives what a list would, and errors and examples, when asked for schemas", async () => {
    const all = surfaceOf([greet])
    const ask = async (id: string): Promise<unknown> =>
      (await surface.call("describe_operation", { id, format: "schema" }, caller()))
        .structuredContent
    const { name: _, ...definition } = allTools(all)[0] ?? { name: "" }
    expect(await ask("demo.greet")).toEqual({ id: "demo.greet", type: "query", ...definition })
    expect(await ask("e.rr")).toMatchObject({
      errors: [{ code: "TAKEN", description: "Is taken" }],
      examples: [{ a: 1 }],
    })
  })

  test("knows tools by their names, too", async () => {
    const result = await surface.call("describe_operation", { id: "demo_greet" }, caller())
    expect(result.structuredContent).toMatchObject({ id: "demo.greet" })
  })

  test("knows nothing of what the caller may not call", async () => {
    const texts = await Promise.all(
      ["vault.open", "vault.inner", "not.there", "__proto__"].flatMap((id) =>
        ["describe_operation", "call_operation"].map(async (name) => {
          const result = await surface.call(name, { id }, caller())
          expect(result.isError).toBe(true)
          return textsOf(result).replace(id, "X")
        }),
      ),
    )
    expect(new Set(texts)).toEqual(
      new Set(['OPERATION_NOT_FOUND: There is no operation "X". Find one with search_operations.']),
    )
  })
})

describe("call_operation", () => {
  const list = [
    greet,
    count,
    secret,
    operation("a.fail", {
      handler: () => {
        throw new CallError("CONFLICT", "Taken.")
      },
    }),
    operation("a.list", {
      inputSchema: Type.Array(Type.Number()),
      outputSchema: Type.Array(Type.Number()),
      handler: (input) => input,
    }),
    operation("a.step", {
      handler: (_: never, { progress }: { readonly progress: (value: object) => void }) => {
        progress({ progress: 1, total: 2 })
      },
    }),
  ]
  const direct = surfaceOf(list)
  const meta = surfaceOf(list, searching)
  const names: readonly (readonly [string, string, unknown])[] = [
    ["demo_greet", "demo.greet", { name: "x" }],
    ["demo_greet", "demo.greet", undefined],
    ["demo_count", "demo.count", { to: 3, limit: 2 }],
    ["demo_count", "demo.count", { to: 1 }],
    ["a_fail", "a.fail", {}],
    ["a_list", "a.list", { input: [1] }],
    ["a_step", "a.step", {}],
  ]

  test("does what a direct call does: results, errors, progress, on both eras", async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.constantFrom(...names),
        fc.constantFrom("legacy" as const, "modern" as const),
        async ([name, id, input], era) => {
          const updates: unknown[][] = [[], []]
          const call = (index: number) =>
            caller(era, undefined, { progress: (value) => void updates[index]?.push(value) })
          const expected = await direct.call(name, input, call(0))
          const given = input === undefined ? { id } : { id, input }
          const result = await meta.call("call_operation", given, call(1))
          const plain = ({ _meta, ...rest }: SurfaceResult): string =>
            JSON.stringify(rest).replaceAll("- /input/", "- /")
          expect(plain(result)).toBe(plain(expected))
          expect(updates[1]).toEqual(updates[0])
        },
      ),
      { numRuns: 40 },
    )
  })

  test("reports issues with the paths of the caller's arguments", async () => {
    const result = await meta.call(
      "call_operation",
      { id: "a.list", input: { input: [1, "x"] } },
      caller(),
    )
    expect(textsOf(result)).toContain("- /input/input/1: must be number")
  })

  test("collects from streams, with the limits beside the input", async () => {
    const given = { id: "demo.count", input: { to: 9 }, limit: 2, timeoutMs: 5000 }
    expect((await meta.call("call_operation", given, caller())).structuredContent).toEqual({
      items: [{ at: 1 }, { at: 2 }],
      isComplete: false,
    })
  })

  test("takes the input as JSON text, too", async () => {
    const call = async (input: unknown): Promise<SurfaceResult> =>
      await meta.call("call_operation", { id: "demo.greet", input }, caller())
    expect((await call('{"name":"x"}')).structuredContent).toEqual({ text: "Hello, x" })
    expect(textsOf(await call(" "))).toContain("- /input/name: is required")
    expect(textsOf(await call('{"name":'))).toMatch(
      /^VALIDATION_ERROR: Input for "call_operation" is invalid:\n- \/input: is text that is not valid JSON/,
    )
    expect(textsOf(await call('["x"]'))).toContain(
      "- /input: must be an object or its JSON text, got JSON text of array",
    )
    expect(textsOf(await call('{"__proto__":{"name":"x"}}'))).toContain("/input/name: is required")
    expect(textsOf(await call(7))).toContain("- /input: must be object")
  })

  test("suggests close ids, of those that the caller may call", async () => {
    const ask = async (id: string, identity?: Identity): Promise<string> =>
      textsOf(await meta.call("call_operation", { id }, caller("modern", identity)))
    expect(await ask("demo.gret")).toBe(
      'OPERATION_NOT_FOUND: There is no operation "demo.gret". Did you mean "demo.greet"? Find one with search_operations.',
    )
    expect(await ask("person.greet")).toContain('Did you mean "demo.greet"?')
    expect(await ask("valt.open")).not.toContain("vault")
    expect(await ask("valt.open", admin)).toContain('Did you mean "vault.open"?')
    expect(await ask("x".repeat(100_000))).not.toContain("Did you mean")
  })

  test("checks who calls", async () => {
    const given = { id: "vault.open" }
    expect((await meta.call("call_operation", given, caller())).isError).toBe(true)
    expect(textsOf(await meta.call("call_operation", given, caller("modern", admin)))).toBe("open")
  })
})
