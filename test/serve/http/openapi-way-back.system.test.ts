import fc from "fast-check"
import { Type } from "typebox"
import { describe, expect, test } from "vitest"
import { FromOpenAPI } from "../../../src/from-openapi.ts"
import { CallError } from "../../../src/index.ts"
import type { AnyOperation } from "../../../src/index.ts"
import { createDocument } from "./create-document.ts"
import { toHTTP } from "../../../src/to-http.ts"
import { corpusEntries, corpusText, hasCorpus } from "../../sources/openapi/corpus.ts"
import { exampleFiles, exampleText } from "../../sources/openapi/oas-examples.ts"
import { operation, quietRegistry } from "../../support/operations.ts"
import { differences, faultsOf, wayBack } from "./openapi-back.ts"
import { demo } from "./openapi-demo.ts"
import { runs } from "../../support/nightly.ts"

const look = Type.Object({
  text: Type.String(),
  limit: Type.Integer(),
  flag: Type.Optional(Type.Boolean()),
  ids: Type.Optional(Type.Array(Type.String())),
  range: Type.Optional(Type.Object({ from: Type.Number() })),
  either: Type.Optional(Type.Union([Type.String(), Type.Number()])),
})
const change = Type.Object({ to: Type.Union([Type.String(), Type.Null()]) })

/** Operations that give back what they are given. */
const live = [
  operation("live.look", {
    type: "query",
    inputSchema: look,
    outputSchema: look,
    handler: (input) => input,
  }),
  operation("live.change", {
    inputSchema: change,
    outputSchema: change,
    handler: (input) => input,
  }),
  operation("live.forget", {
    inputSchema: Type.Void(),
    outputSchema: Type.Void(),
    handler: () => undefined,
  }),
  operation("live.follow", {
    type: "subscription",
    inputSchema: Type.Object({ to: Type.Integer() }),
    outputSchema: Type.Object({ data: Type.String() }),
    errorSchemas: [
      { code: "TOO_SMALL", description: "No", schema: Type.Object({ least: Type.Number() }) },
    ],
    async *handler({ to }: { to: number }) {
      for (let at = 1; at <= to; at++) yield { data: String(at) }
      if (to >= 0) return
      yield { data: "first" }
      throw new CallError("TOO_SMALL", "Too small", { details: { least: 0 } })
    },
  }),
]

const CONFIG = { namespace: "api", baseUrl: "https://api.test" }

describe("a document that is imported again", () => {
  test.each(["3.1", "3.2"] as const)(
    "has the same operations, schemas and errors in %s",
    (openapi) => {
      const { pairs, strangers } = wayBack(demo, { openapi })

      expect(strangers).toEqual([])
      expect(pairs).toHaveLength(demo.length - 1)
      expect(pairs.flatMap((pair) => differences(pair))).toEqual([])
    },
  )

  test("gives operations their own names in their own namespace, and their ids in any other", () => {
    const document = createDocument(quietRegistry(demo), {
      ...{ title: "Demo", version: "1.0.0", restPath: "/api" },
    })
    const names = FromOpenAPI(document, { namespace: "tree", baseUrl: "https://api.test" }).map(
      ({ name }) => name,
    )

    expect(names).toContain("put")
    expect(names).toContain("task.create")
    expect(names).not.toContain("tree.put")
  })

  test("gives the original input with flattened bodies", () => {
    const document = createDocument(quietRegistry(demo), {
      ...{ title: "Demo", version: "1.0.0", restPath: "/api" },
    })
    const create = FromOpenAPI(document, { ...CONFIG, flatten: true }).find(
      ({ name }) => name === "task.create",
    )

    expect(create?.inputSchema).toMatchObject({
      properties: { title: { type: "string", minLength: 1 } },
      required: ["title"],
    })
  })

  test("keeps properties that are read-only in inputs and write-only in outputs", () => {
    const schema = {
      type: "object",
      properties: { a: { type: "string", readOnly: true }, b: { type: "number", writeOnly: true } },
      required: ["a", "b"],
      additionalProperties: false,
    } as never
    const { pairs } = wayBack([
      operation("a.b", { inputSchema: schema, outputSchema: schema, handler: () => 1 }),
    ])

    const samples = [{ a: "x", b: 1 }, { a: "x" }, { b: 1 }]
    expect(pairs.flatMap((pair) => differences(pair, 1, samples))).toEqual([])
  })
})

describe("calls of operations that were imported again", () => {
  test.each(["3.1", "3.2"] as const)("reach the originals: %s", async (openapi) => {
    const server = toHTTP(quietRegistry(live))
    const answer = await server.fetch(
      new Request(`http://localhost/openapi.json?version=${openapi}`),
    )
    const remote = quietRegistry(
      FromOpenAPI(await answer.text(), {
        namespace: "live",
        baseUrl: "http://localhost",
        fetch: async (url, init) => await server.fetch(new Request(url, init)),
      }),
    )
    const calls: ReadonlyArray<[string, unknown, unknown]> = [
      ["live.look", { text: "a b&c=1", limit: 3 }, { text: "a b&c=1", limit: 3 }],
      [
        "live.look",
        { text: "", limit: 1, flag: false, ids: ["x", "y,z"], range: { from: 1 }, either: "1" },
        { text: "", limit: 1, flag: false, ids: ["x", "y,z"], range: { from: 1 }, either: "1" },
      ],
      ["live.look", { text: "é", limit: 1, either: 1 }, { text: "é", limit: 1, either: 1 }],
      ["live.change", { body: { to: null } }, { to: null }],
      ["live.forget", {}, undefined],
    ]
    for (const [id, input, expected] of calls) {
      expect((await remote.execute(id, input)).data).toEqual(expected)
    }
    const items: unknown[] = []
    for await (const { data } of remote.subscribe("live.follow", { to: 3 })) items.push(data)
    expect(items).toEqual([{ data: "1" }, { data: "2" }, { data: "3" }])
    await expect(
      (async () => {
        for await (const _ of remote.subscribe("live.follow", { to: -1 })) items.push("more")
      })(),
    ).rejects.toMatchObject({ code: "TOO_SMALL", details: { least: 0 } })
    expect(items).toHaveLength(4)
    await server.close()
  })
})

describe.each(exampleFiles("json"))("%s, imported, written and imported again", (file) => {
  test("is valid and the same", async () => {
    const operations = FromOpenAPI(exampleText(file), CONFIG)
    const { document, pairs, strangers } = wayBack(operations)

    expect(await faultsOf(document)).toBeUndefined()
    expect(strangers).toEqual([])
    expect(pairs).toHaveLength(operations.length)
    expect(pairs.slice(0, 8).flatMap((pair) => differences(pair))).toEqual([])
  })
})

const real = corpusEntries().filter(({ isNamed, operations }) => isNamed && operations < 500)

describe.skipIf(!hasCorpus).each(real)(
  "$file, imported, written and imported again",
  ({ file }) => {
    test("is valid and the same", async () => {
      const operations = FromOpenAPI(corpusText(file), CONFIG)
      const { document, pairs, strangers } = wayBack(operations, { openapi: "3.2" })

      expect(await faultsOf(document)).toBeUndefined()
      expect(strangers).toEqual([])
      expect(pairs).toHaveLength(operations.length)
      expect(pairs.slice(0, 4).flatMap((pair) => differences(pair))).toEqual([])
    })
  },
)

const NAMES = ["a", "b", "kind", "x-1", "toString", "ä b"]
const SIMPLE = fc.constantFrom<object | boolean>(
  ...[{}, true, false, { type: "number", minimum: 0 }, { type: "string", maxLength: 2 }],
  ...[{ type: ["integer", "null"] }, { type: "boolean" }, { const: "a" }, { enum: ["a", 1, null] }],
  ...[{ $ref: "#/$defs/one" }, { $ref: "#/$defs/two" }, { $ref: "#" }],
)
const { schema: anySchema } = fc.letrec<{ schema: object | boolean }>((tie) => ({
  schema: fc.oneof(
    { depthSize: "small", withCrossShrink: true },
    SIMPLE,
    fc.record(
      {
        type: fc.constant("object"),
        properties: fc.dictionary(fc.constantFrom(...NAMES), tie("schema"), { maxKeys: 3 }),
        required: fc.uniqueArray(fc.constantFrom(...NAMES), { maxLength: 2 }),
        additionalProperties: tie("schema"),
      },
      { requiredKeys: ["type"] },
    ),
    fc.record({ type: fc.constant("array"), items: tie("schema") }, { requiredKeys: ["type"] }),
    fc.record({ anyOf: fc.array(tie("schema"), { minLength: 1, maxLength: 3 }) }),
    fc.record({ allOf: fc.array(tie("schema"), { minLength: 1, maxLength: 2 }) }),
    fc.record({ not: tie("schema") }),
  ),
}))
const root = fc
  .tuple(anySchema, anySchema, anySchema)
  .map(([schema, one, two]) =>
    typeof schema === "boolean" ? schema : { ...schema, $defs: { one, two } },
  )
const value = fc.anything({
  key: fc.constantFrom(...NAMES),
  values: [fc.constantFrom(null, true, 0, 1, -1, "a", "", "abc")],
  maxDepth: 3,
  withNullPrototype: false,
})

/** References that lead back to themselves are refused long before there is a document. */
function isRegistrable(one: AnyOperation): boolean {
  try {
    quietRegistry([one])
    return true
  } catch {
    return false
  }
}

test("any schemas make the way there and back", async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(
        fc.record({
          type: fc.constantFrom("query" as const, "mutation" as const, "subscription" as const),
          input: root,
          output: root,
          details: root,
        }),
        { minLength: 1, maxLength: 4 },
      ),
      fc.constantFrom("3.1" as const, "3.2" as const),
      fc.array(value, { maxLength: 6 }),
      async (list, openapi, samples) => {
        const operations = list.map(({ type, input, output, details }, index) =>
          operation(`any.op${index}`, {
            type,
            inputSchema: input,
            outputSchema: output,
            errorSchemas: [{ code: "NO", description: "No", schema: details }],
            handler: type === "subscription" ? async function* none() {} : () => 1,
          }),
        )
        fc.pre(operations.every(isRegistrable))
        const { document, pairs, strangers } = wayBack(operations, { openapi })
        const json = samples
          .map((one) => JSON.stringify(one) as string | undefined)
          .flatMap((text) => (text === undefined ? [] : [JSON.parse(text) as unknown]))

        expect(strangers).toEqual([])
        expect(pairs).toHaveLength(operations.length)
        const exact = pairs.filter(({ isOpened }) => !isOpened)
        expect(exact.flatMap((pair) => differences(pair, 1, json))).toEqual([])
        expect(await faultsOf(document)).toBeUndefined()
      },
    ),
    { numRuns: runs(30) },
  )
})
