import { type } from "arktype"
import * as v from "valibot"
import { describe, expect, test } from "vitest"
import { z } from "zod"
import { collectErrors } from "../../src/core/validation.ts"
import { fileFieldsOf } from "../../src/schema/file-fields.ts"
import { fromStandardSchema } from "../../src/schema/from-schema.ts"
import type { StandardSchemaLike } from "../../src/schema/standard.ts"
import { withBase64 } from "../../src/schema/file-fields.ts"
import { silentLogger } from "../../src/testing.ts"
import { createRegistry } from "../../src/index.ts"
import { operation } from "../support/operations.ts"

const FILE = { format: "binary", "x-operation-file": "file" }

/** Every spelling of a file, and what it is described as. */
const SPELLINGS: readonly [string, StandardSchemaLike, object?][] = [
  ["z.file()", z.file()],
  ["z.file() with limits", z.file().min(1).max(1000)],
  ["z.file() of a type", z.file().mime("image/png"), { contentMediaType: "image/png" }],
  ["z.file() of two types", z.file().mime(["image/png", "image/jpeg"])],
  ["z.file() with words", z.file().describe("A cat"), { description: "A cat" }],
  ["z.file() with a refinement", z.file().refine((file) => file.name !== "")],
  ["z.instanceof(File)", z.instanceof(File)],
  ["z.instanceof(Blob)", z.instanceof(Blob)],
  ["z.instanceof(File), refined", z.instanceof(File).refine(({ size }) => size > 0)],
  ["z.instanceof(File), branded", z.instanceof(File).brand("file")],
  ["v.file()", v.file()],
  ["v.blob()", v.blob()],
  ["v.instance(File)", v.instance(File)],
  ["v.file() with limits", v.pipe(v.file(), v.maxSize(1000))],
  [
    "v.file() of a type",
    v.pipe(v.file(), v.mimeType(["image/png"])),
    { contentMediaType: "image/png" },
  ],
  ["v.file() of two types", v.pipe(v.file(), v.mimeType(["image/png", "image/gif"]))],
  ["ArkType's File", type("File")],
  ["type.instanceOf(Blob)", type.instanceOf(Blob)],
]

describe.each(SPELLINGS)("the schema of %s", (_, schema, more = {}) => {
  test.each(["input", "output"] as const)("is that of a file, as an %s", (side) => {
    const { $schema: _dialect, ...json } = { ...fromStandardSchema(schema, { side }) } as Record<
      string,
      unknown
    >
    expect(json).toEqual({ ...FILE, ...more })
  })

  test("accepts files and nothing else", () => {
    const json = fromStandardSchema(schema, { side: "output" })
    expect(collectErrors(json, new File(["x"], "x.png", { type: "image/png" }))).toEqual([])
    for (const other of ["x", 1, null, {}, [], new Uint8Array(1), undefined]) {
      const [error] = collectErrors(json, other)
      expect(error?.message).toContain("must be a file")
    }
  })

  test("is base64 text in JSON, without limits of its length", () => {
    const {
      $schema: _dialect,
      format: _format,
      ...text
    } = withBase64({ ...fromStandardSchema(schema) })
    expect(text).toEqual({ type: "string", contentEncoding: "base64", ...more })
  })
})

const SHAPES: readonly [string, StandardSchemaLike][] = [
  [
    "zod",
    z.object({
      one: z.file(),
      many: z.array(z.file()),
      maybe: z.file().optional(),
      none: z.file().nullable(),
      nullish: z.file().nullish(),
      other: z.instanceof(File).optional(),
      title: z.string(),
      __proto__key: z.string().optional(),
    }),
  ],
  [
    "valibot",
    v.object({
      one: v.file(),
      many: v.array(v.file()),
      maybe: v.optional(v.file()),
      none: v.nullable(v.file()),
      nullish: v.nullish(v.file()),
      other: v.optional(v.instance(File)),
      title: v.string(),
    }),
  ],
  [
    "arktype",
    type({
      one: "File",
      many: "File[]",
      "maybe?": "File",
      none: "File | null",
      "nullish?": "File | null",
      "other?": type.instanceOf(File),
      title: "string",
    }),
  ],
]

test.each(SHAPES)("files are found in the properties of an object of %s", (_, schema) => {
  const { properties } = fileFieldsOf(fromStandardSchema(schema)) ?? { properties: new Map() }
  const found = Object.fromEntries([...properties].map(([name, field]) => [name, field.isList]))
  const [one, list] = [false, true]
  expect(found).toEqual({ one, many: list, maybe: one, none: one, nullish: one, other: one })
})

test("a file that refers to itself, in a definition or in a record, is found", () => {
  interface Folder {
    readonly file: File
    readonly folders: readonly Folder[]
  }
  const folder: z.ZodType<Folder> = z.lazy(() =>
    z.object({ file: z.file(), folders: z.array(folder) }),
  )
  const json = fromStandardSchema(folder)
  const [file, text] = [new File(["x"], "x"), "x"]
  const nested = (inner: unknown): unknown => ({ file, folders: [{ file: inner, folders: [] }] })
  expect(collectErrors(json, nested(file))).toEqual([])
  expect(collectErrors(json, nested(text))).toMatchObject([{ path: "/folders/0/file" }])
  const record = fromStandardSchema(z.record(z.string(), z.file()))
  expect(collectErrors(record, { a: file })).toEqual([])
  expect(collectErrors(record, { a: text })).toMatchObject([{ path: "/a" }])
})

describe("types beside a file that JSON does not have", () => {
  const file = z.instanceof(File)

  test.each([
    ["a date", z.date()],
    ["a bigint", z.bigint()],
    ["another class", z.instanceof(URL)],
    ["a class that extends File", z.instanceof(class extends File {})],
    ["a custom check", z.custom<File>((value) => value instanceof File)],
  ])("are refused in an output: %s", (_name, other) => {
    const register = (): unknown =>
      createRegistry([operation("a.b", { outputSchema: z.object({ file, other }) })], {
        logger: silentLogger,
      })
    expect(register).toThrow(/outputSchema is not a schema: .* has no JSON Schema form/)
  })

  test("are described as far as possible in an input, and the file as a file", () => {
    const inputSchema = z.object({ file, at: z.date() })
    const registry = createRegistry([operation("a.b", { inputSchema })], { logger: silentLogger })
    expect(registry.getSpec("a.b")?.inputSchema).toMatchObject({
      properties: { file: FILE, at: {} },
    })
  })
})

test("a version of Zod that does not ask about types without a form keeps its error", () => {
  const convert = ({
    libraryOptions,
  }: {
    libraryOptions: { unrepresentable?: unknown }
  }): object => {
    // Before 4.4, everything but "throw" accepts anything.
    if ((libraryOptions.unrepresentable ?? "throw") !== "throw") return {}
    throw new Error("Custom types cannot be represented in JSON Schema")
  }
  const jsonSchema = { input: convert, output: convert }
  const old = { "~standard": { version: 1, vendor: "zod", validate: () => ({}), jsonSchema } }
  expect(() => fromStandardSchema(old as never)).toThrow("Custom types cannot be represented")
})

/** Every spelling of no value, alone and as a property. */
const NOTHING: readonly [string, StandardSchemaLike, StandardSchemaLike][] = [
  ["z.void()", z.void(), z.object({ a: z.void(), b: z.string() })],
  ["z.undefined()", z.undefined(), z.object({ a: z.undefined(), b: z.string() })],
  ["v.void()", v.void(), v.object({ a: v.void(), b: v.string() })],
  ["v.undefined()", v.undefined(), v.object({ a: v.undefined(), b: v.string() })],
  ["ArkType's undefined", type("undefined"), type({ a: "undefined", b: "string" })],
]

describe.each(NOTHING)("the schema of %s", (_, whole, member) => {
  const SIDES = ["input", "output"] as const

  test.each(SIDES)("accepts nothing but undefined, as an %s", (side) => {
    const json = fromStandardSchema(whole, { side })
    expect(collectErrors(json, undefined)).toEqual([])
    for (const [value, name] of [
      [null, "null"],
      [0, "number"],
      [{}, "object"],
    ] as const) {
      const expected = [{ path: "", message: `must be undefined, got ${name}` }]
      expect(collectErrors(json, value)).toEqual(expected)
    }
  })

  test.each(SIDES)("lets a property be missing, as an %s", (side) => {
    const json = fromStandardSchema(member, { side })
    expect(collectErrors(json, { b: "x" })).toEqual([])
    expect(collectErrors(json, { a: undefined, b: "x" })).toEqual([])
    expect(collectErrors(json, { a: 1, b: "x" })).toMatchObject([{ path: "/a" }])
    expect(collectErrors(json, {})).toMatchObject([{ path: "/b" }])
  })
})

const user = { name: "Ada" }
const maybeUser: readonly [string, StandardSchemaLike][] = [
  ["optional object of Zod", z.object({ name: z.string() }).optional()],
  [
    "refined optional object of Zod",
    z
      .object({ name: z.string() })
      .optional()
      .refine(() => true),
  ],
  ["union with undefined of Zod", z.union([z.object({ name: z.string() }), z.undefined()])],
  ["optional object of Valibot", v.optional(v.object({ name: v.string() }))],
  ["undefinedable object of Valibot", v.undefinedable(v.object({ name: v.string() }))],
  ["optional object of Valibot in a pipe", v.pipe(v.optional(v.object({ name: v.string() })))],
  ["union with undefined of ArkType", type({ name: "string" }).or("undefined")],
]

test.each(maybeUser)("an %s may be absent as a result", (_, schema) => {
  const json = fromStandardSchema(schema, { side: "output" })
  expect(collectErrors(json, undefined)).toEqual([])
  expect(collectErrors(json, user)).toEqual([])
  expect(collectErrors(json, null)).toMatchObject([
    { path: "", message: "must be object or undefined, got null" },
  ])
})

test("definitions that a recursive optional result refers to are kept", () => {
  interface Node {
    readonly next?: Node | undefined
  }
  const node: z.ZodType<Node> = z.lazy(() => z.object({ next: node.optional() }))
  const json = fromStandardSchema(node.optional(), { side: "output" })
  expect(collectErrors(json, undefined)).toEqual([])
  expect(collectErrors(json, { next: { next: {} } })).toEqual([])
  expect(collectErrors(json, { next: { next: 1 } })).toMatchObject([{ path: "/next/next" }])
})

test("a result with a default is never absent", () => {
  const json = fromStandardSchema(z.string().optional().default("x"), { side: "output" })
  expect(collectErrors(json, undefined)).toMatchObject([
    { message: expect.stringContaining("string") },
  ])
})
