import { Type } from "typebox"
import { Compile } from "typebox/schema"
import { describe, expect, test } from "vitest"
import { admitSchema } from "../../src/schema/admit.ts"
import { compileValidator } from "../../src/schema/validator.ts"

const codes = (source: unknown, options = {}): string[] =>
  admitSchema(source, options).diagnostics.map(({ code, path }) => `${code} ${path}`)

const accepts = (source: unknown, value: unknown): boolean =>
  compileValidator(admitSchema(source).schema).check(value)

describe("admitSchema", () => {
  test("gives an equal, detached, frozen copy of what needs no lowering", () => {
    const source = {
      $schema: "https://json-schema.org/draft/2020-12/schema",
      title: "T",
      description: "D",
      type: "object",
      properties: { a: { type: "string", format: "email", default: "x", readOnly: true } },
      "x-vendor": { any: [1, null] },
      discriminator: { propertyName: "a" },
      examples: [{ a: "b" }],
    }
    const { schema, diagnostics } = admitSchema(source)
    expect(schema).toEqual(source)
    expect(JSON.stringify(schema)).toBe(JSON.stringify(source))
    expect(schema).not.toBe(source)
    expect(Object.isFrozen(schema)).toBe(true)
    expect(Object.isFrozen((schema["properties"] as { a: object }).a)).toBe(true)
    expect(diagnostics).toEqual([])
  })

  test("gives back an admitted schema as it is", () => {
    const first = admitSchema({ type: "strnig" })
    expect(admitSchema(first.schema)).toBe(first)
    expect(first.diagnostics).toHaveLength(1)
  })

  test("turns booleans into objects", () => {
    expect(admitSchema(true).schema).toEqual({})
    expect(admitSchema(false).schema).toEqual({ not: {} })
  })

  test.each([
    [undefined, "undefined"],
    [null, "null"],
    [7, "7"],
    ["string", '"string"'],
    [[], "array"],
    [() => 1, "a function"],
  ])("refuses %o and names it", (source, name) => {
    expect(() => admitSchema(source)).toThrow(TypeError)
    expect(() => admitSchema(source)).toThrow(`got ${name}. Pass the schema itself`)
  })

  test("keeps __proto__ as data and drops what JSON has no form for", () => {
    const source = JSON.parse('{"properties":{"__proto__":{"type":"string"}}}') as object
    const { schema, diagnostics } = admitSchema({
      ...source,
      default: undefined,
      "x-f": () => 1,
      [Symbol("s")]: 1,
      "x-s": Symbol("t"),
    })
    expect(Object.keys(schema)).toEqual(["properties"])
    expect(Object.keys(schema["properties"] as object)).toEqual(["__proto__"])
    expect(Object.getPrototypeOf(schema["properties"])).toBe(Object.prototype)
    expect(diagnostics).toEqual([])
    expect(accepts(source, JSON.parse('{"__proto__":1}'))).toBe(false)
  })

  test("takes own enumerable keys only", () => {
    class Base {
      type = "string"
      get minLength(): number {
        return 3
      }
    }
    expect(admitSchema(new Base()).schema).toEqual({ type: "string" })
  })

  test("reports values without a JSON form and leaves them out", () => {
    const source = {
      default: new Date(0),
      const: Number.NaN,
      enum: ["a", new Map(), () => 1, undefined],
      "x-bytes": new Uint8Array(1),
    }
    expect(codes(source)).toEqual([
      "not-json /default",
      "not-json /const",
      "not-json /enum/1",
      "not-json /enum/2",
      "not-json /enum/3",
      "not-json /x-bytes",
    ])
    expect(admitSchema(source).schema).toEqual({ enum: ["a"] })
  })

  test("keeps a bigint, which the compiler understands", () => {
    expect(admitSchema({ const: 1n }).schema).toEqual({ const: 1n })
    expect(accepts({ const: 1n }, 1n)).toBe(true)
    expect(accepts({ minimum: 5n }, 4n)).toBe(false)
  })

  test("takes the source of a RegExp, and refuses its flags", () => {
    expect(admitSchema({ pattern: /^a/u }).schema).toEqual({ pattern: "^a" })
    expect(codes({ pattern: /^a/i })).toEqual(["not-json /pattern"])
  })

  test("opens a place where an object contains itself", () => {
    const node: Record<string, unknown> = { type: "object" }
    node["properties"] = { child: node, name: { type: "string" } }
    const { schema, diagnostics } = admitSchema(node)
    expect(diagnostics).toMatchObject([{ code: "not-json", path: "/properties/child" }])
    expect(diagnostics[0]?.message).toContain("$ref")
    expect(schema).toEqual({
      type: "object",
      properties: { child: true, name: { type: "string" } },
    })
    const list: unknown[] = []
    list.push(list)
    expect(codes({ default: list })).toEqual(["not-json /default/0"])
  })

  test("an object used twice is not a cycle", () => {
    const shared = { type: "string" }
    expect(admitSchema({ properties: { a: shared, b: shared } }).diagnostics).toEqual([])
  })

  test("answers quickly for a schema 100,000 deep", () => {
    let deep: object = {}
    for (let level = 0; level < 100_000; level++) deep = { not: deep }
    expect(codes(deep)).toEqual([`too-deep ${"/not".repeat(257)}`])
    let list: unknown[] = []
    for (let level = 0; level < 100_000; level++) list = [list]
    expect(admitSchema({ default: list }).diagnostics[0]?.code).toBe("too-deep")
    expect(codes(deep, { limits: { depth: 3 } })).toEqual(["too-deep /not/not/not/not"])
    expect(codes(deep, { limits: { depth: 1e9 } })).toHaveLength(1)
  })

  test("reports once that a schema is too large; the rest accepts anything", () => {
    const properties = Object.fromEntries(
      Array.from({ length: 100 }, (_, index) => [`p${index}`, { type: "string" }]),
    )
    const { schema, diagnostics } = admitSchema({ properties }, { limits: { nodes: 20 } })
    expect(diagnostics.map(({ code }) => code)).toEqual(["too-large"])
    expect(compileValidator(schema).check({ p99: 1 })).toBe(true)
    expect(codes({ enum: Array.from({ length: 50 }, String) }, { limits: { nodes: 20 } })).toEqual([
      "too-large /enum/19",
    ])
    expect(
      codes({ allOf: [{ enum: ["a", "b"] }, { not: {} }] }, { limits: { nodes: 3 } }),
    ).toHaveLength(1)
  })

  test("a bomb of shared objects ends at the limit", () => {
    let bomb: object = { type: "string" }
    for (let level = 0; level < 60; level++) bomb = { allOf: [bomb, bomb] }
    expect(admitSchema(bomb, { limits: { nodes: 10_000 } }).diagnostics[0]?.code).toBe("too-large")
  })

  test("survives getters and proxies that throw", () => {
    const fail = (): never => {
      throw new Error("trap")
    }
    const getter = Object.defineProperty({}, "type", { get: fail, enumerable: true })
    expect(codes(getter)).toEqual(["not-json /type"])
    expect(codes(new Proxy({}, { ownKeys: fail }))).toEqual(["not-json "])
    expect(admitSchema(new Proxy({}, { ownKeys: fail })).schema).toEqual({})
    expect(codes({ properties: { a: new Proxy({}, { get: fail }) } })).toEqual([
      "not-json /properties/a",
    ])
    expect(codes({ enum: new Proxy([1], { get: fail }) })).toEqual(["not-json /enum"])
    const descriptor = new Proxy({ type: "string" }, { getOwnPropertyDescriptor: fail })
    expect(admitSchema({ not: descriptor }).diagnostics[0]?.code).toBe("not-json")
    const bottomless: object = new Proxy(
      {},
      {
        get: () => bottomless,
        ownKeys: () => ["not"],
        getOwnPropertyDescriptor: () => ({ configurable: true, enumerable: true }),
      },
    )
    expect(admitSchema(bottomless).diagnostics).not.toEqual([])
  })
})

describe("TypeBox types", () => {
  test("are admitted as the JSON Schema they are", () => {
    const type = Type.Object({ a: Type.String(), b: Type.Optional(Type.Integer({ minimum: 1 })) })
    expect(admitSchema(type).schema).toEqual(JSON.parse(JSON.stringify(type)))
  })

  test("keep their refinements, hidden from JSON", () => {
    const type = Type.Object({
      a: Type.Refine(
        Type.String(),
        (value) => value.length > 2,
        () => "too short",
      ),
    })
    const { schema } = admitSchema(type)
    expect(JSON.stringify(schema)).toBe(JSON.stringify(type))
    const validator = compileValidator(schema)
    expect(validator.check({ a: "abc" })).toBe(true)
    expect(validator.errors({ a: "ab" })).toEqual([
      { path: "/a", keyword: "~refine", message: "too short" },
    ])
    expect(Compile(schema).Check({ a: "ab" })).toBe(false)
  })

  test("a refinement that throws is a reason, not a crash", () => {
    const type = Type.Refine(
      Type.Unknown(),
      () => {
        throw new Error("oops")
      },
      () => "",
    )
    const validator = compileValidator(admitSchema(type).schema)
    expect(validator.check(1)).toBe(false)
    expect(validator.errors(1)).toEqual([
      { path: "", keyword: "access", message: "cannot be read: oops" },
    ])
    const empty = Type.Refine(
      Type.Unknown(),
      () => false,
      () => "",
    )
    expect(compileValidator(admitSchema(empty).schema).errors(1)[0]?.message).toBe(
      "does not pass the refinement of its schema",
    )
  })

  test("only a hidden ~refine is one", () => {
    const type = { "~refine": [{ check: () => false, error: () => "" }] }
    expect(accepts(type, 1)).toBe(true)
    expect(accepts(Object.defineProperty({}, "~refine", { value: 5 }), 1)).toBe(true)
  })

  test("recursion through Cyclic, groups through Module", () => {
    const tree = Type.Cyclic(
      { Node: Type.Object({ id: Type.String(), kids: Type.Array(Type.Ref("Node")) }) },
      "Node",
    )
    expect(admitSchema(tree).diagnostics).toEqual([])
    expect(accepts(tree, { id: "a", kids: [{ id: "b", kids: [] }] })).toBe(true)
    expect(accepts(tree, { id: "a", kids: [{ id: 1, kids: [] }] })).toBe(false)
    const group = Type.Module({ A: Type.Object({ b: Type.Ref("B") }), B: Type.String() })
    expect(accepts(group.A, { b: "x" })).toBe(true)
    expect(accepts(group.A, { b: 1 })).toBe(false)
  })

  test("tuples become prefixItems", () => {
    const { schema } = admitSchema(Type.Tuple([Type.String(), Type.Number()]))
    expect(schema).toEqual({
      type: "array",
      prefixItems: [{ type: "string" }, { type: "number" }],
      items: false,
      minItems: 2,
    })
  })

  test.each([
    [Type.BigInt(), 1n, 1],
    [Type.Undefined(), undefined, null],
    [Type.Void(), undefined, 0],
    [Type.Symbol(), Symbol("s"), "s"],
    [Type.Function([], Type.Void()), () => undefined, {}],
    [Type.Constructor([], Type.Object({})), Map, {}],
  ])("types of JavaScript are compiled as TypeBox does", (type, good, bad) => {
    expect(admitSchema(type).diagnostics).toEqual([])
    expect(accepts(type, good)).toBe(true)
    expect(accepts(type, bad)).toBe(false)
    expect(compileValidator(admitSchema(type).schema).errors(bad)).toHaveLength(1)
  })
})
