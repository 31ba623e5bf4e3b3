import { Type } from "typebox"
import type { Static, TIdentifier, TNumber, TRecord, TSchema } from "typebox"
import { describe, expectTypeOf, test } from "vitest"
import type { SchemaType } from "../../src/schema/infer.ts"

/** `true` where our type of a schema is TypeBox's, and otherwise both. */
type Same<T extends TSchema> = Equal<SchemaType<T>, Static<T>>

type Equal<A, B> =
  (<T>() => T extends A ? 1 : 2) extends <T>() => T extends B ? 1 : 2
    ? true
    : { readonly ours: A; readonly expected: B }

const Level = { Low: 1, High: 2 } as const

describe("TypeBox types mean what Static says", () => {
  test("kinds without parts", () => {
    const any = Type.Any()
    const bigint = Type.BigInt()
    const boolean = Type.Boolean()
    const integer = Type.Integer()
    const never = Type.Never()
    const nothing = Type.Null()
    const number = Type.Number()
    const string = Type.String({ minLength: 1, format: "email" })
    const symbol = Type.Symbol()
    const missing = Type.Undefined()
    const unknown = Type.Unknown()
    const empty = Type.Void()
    expectTypeOf<Same<typeof any>>().toEqualTypeOf<true>()
    expectTypeOf<Same<typeof bigint>>().toEqualTypeOf<true>()
    expectTypeOf<Same<typeof boolean>>().toEqualTypeOf<true>()
    expectTypeOf<Same<typeof integer>>().toEqualTypeOf<true>()
    expectTypeOf<Same<typeof never>>().toEqualTypeOf<true>()
    expectTypeOf<Same<typeof nothing>>().toEqualTypeOf<true>()
    expectTypeOf<Same<typeof number>>().toEqualTypeOf<true>()
    expectTypeOf<Same<typeof string>>().toEqualTypeOf<true>()
    expectTypeOf<Same<typeof symbol>>().toEqualTypeOf<true>()
    expectTypeOf<Same<typeof missing>>().toEqualTypeOf<true>()
    expectTypeOf<Same<typeof unknown>>().toEqualTypeOf<true>()
    expectTypeOf<Same<typeof empty>>().toEqualTypeOf<true>()
    expectTypeOf<SchemaType<typeof any>>().toBeAny()
  })

  test("literals and enums", () => {
    const text = Type.Literal("a")
    const count = Type.Literal(5)
    const flag = Type.Literal(false)
    const large = Type.Literal(1n)
    const values = Type.Enum(["a", "b", 3])
    const native = Type.Enum(Level)
    expectTypeOf<Same<typeof text>>().toEqualTypeOf<true>()
    expectTypeOf<Same<typeof count>>().toEqualTypeOf<true>()
    expectTypeOf<Same<typeof flag>>().toEqualTypeOf<true>()
    expectTypeOf<Same<typeof large>>().toEqualTypeOf<true>()
    expectTypeOf<Same<typeof values>>().toEqualTypeOf<true>()
    expectTypeOf<Same<typeof native>>().toEqualTypeOf<true>()
    expectTypeOf<SchemaType<typeof native>>().toEqualTypeOf<1 | 2>()
  })

  test("objects with every modifier", () => {
    const empty = Type.Object({})
    const plain = Type.Object({ a: Type.String(), b: Type.Number() })
    const modified = Type.Object({
      a: Type.String(),
      b: Type.Optional(Type.Number()),
      c: Type.Readonly(Type.Boolean()),
      d: Type.Readonly(Type.Optional(Type.Object({ e: Type.Optional(Type.Null()) }))),
      f: Type.Optional(Type.Union([Type.String(), Type.Undefined()])),
      g: Type.Union([Type.String(), Type.Undefined()]),
      "h-i": Type.Unknown(),
      7: Type.Any(),
    })
    const additional = Type.Object(
      { a: Type.String() },
      { additionalProperties: Type.Number(), minProperties: 1 },
    )
    const refined = Type.Refine(Type.Object({ a: Type.String() }), ({ a }) => a !== "")
    const required = Type.Required(modified)
    const partial = Type.Partial(plain)
    const picked = Type.Pick(modified, ["a", "b", "d"])
    const omitted = Type.Omit(modified, ["a"])
    const frozen = Type.Object({ a: Type.String() } as const)
    expectTypeOf<Same<typeof empty>>().toEqualTypeOf<true>()
    expectTypeOf<Same<typeof plain>>().toEqualTypeOf<true>()
    expectTypeOf<Same<typeof modified>>().toEqualTypeOf<true>()
    expectTypeOf<Same<typeof additional>>().toEqualTypeOf<true>()
    expectTypeOf<Same<typeof refined>>().toEqualTypeOf<true>()
    expectTypeOf<Same<typeof required>>().toEqualTypeOf<true>()
    expectTypeOf<Same<typeof partial>>().toEqualTypeOf<true>()
    expectTypeOf<Same<typeof picked>>().toEqualTypeOf<true>()
    expectTypeOf<Same<typeof omitted>>().toEqualTypeOf<true>()
    expectTypeOf<Same<typeof frozen>>().toEqualTypeOf<true>()
    expectTypeOf<SchemaType<typeof plain>>().toEqualTypeOf<{ a: string; b: number }>()
  })

  test("arrays and tuples", () => {
    const array = Type.Array(Type.Object({ a: Type.String() }))
    const immutable = Type.Immutable(Type.Array(Type.String()))
    const nested = Type.Array(Type.Array(Type.Number()))
    const none = Type.Tuple([])
    const pair = Type.Tuple([Type.String(), Type.Number()])
    const fixed = Type.Immutable(Type.Tuple([Type.String(), Type.Number()]))
    const optional = Type.Tuple([Type.String(), Type.Optional(Type.Number())])
    const readonly = Type.Tuple([
      Type.Readonly(Type.Array(Type.String())),
      Type.Readonly(Type.Optional(Type.Object({ a: Type.String() }))),
    ])
    const rest = Type.Tuple([Type.String(), Type.Rest(Type.Array(Type.Number()))])
    const noRest = Type.Tuple([Type.String(), Type.Rest(Type.String())])
    const early = Type.Tuple([Type.Rest(Type.Array(Type.Number())), Type.String()])
    expectTypeOf<Same<typeof array>>().toEqualTypeOf<true>()
    expectTypeOf<Same<typeof immutable>>().toEqualTypeOf<true>()
    expectTypeOf<Same<typeof nested>>().toEqualTypeOf<true>()
    expectTypeOf<Same<typeof none>>().toEqualTypeOf<true>()
    expectTypeOf<Same<typeof pair>>().toEqualTypeOf<true>()
    expectTypeOf<Same<typeof fixed>>().toEqualTypeOf<true>()
    expectTypeOf<Same<typeof optional>>().toEqualTypeOf<true>()
    expectTypeOf<Same<typeof readonly>>().toEqualTypeOf<true>()
    expectTypeOf<Same<typeof rest>>().toEqualTypeOf<true>()
    expectTypeOf<Same<typeof noRest>>().toEqualTypeOf<true>()
    expectTypeOf<Same<typeof early>>().toEqualTypeOf<true>()
  })

  test("unions and intersections", () => {
    const left = Type.Object({ type: Type.Literal("a"), a: Type.Optional(Type.String()) })
    const right = Type.Object({ type: Type.Literal("b"), b: Type.Readonly(Type.Number()) })
    const union = Type.Union([left, right, Type.Null()])
    const single = Type.Union([left])
    const none = Type.Union([])
    const flags = Type.Union([Type.Boolean(), Type.Literal("x"), Type.String()])
    const intersection = Type.Intersect([Type.Object({ a: Type.String() }), right])
    const everything = Type.Intersect([])
    const nothing = Type.Intersect([Type.String(), Type.Number()])
    const mixed = Type.Intersect([Type.Object({ c: Type.String() }), union])
    const evaluated = Type.Evaluate(mixed)
    const conditional = Type.Dependent(
      Type.Object({ kind: Type.Literal("a") }),
      Type.Object({ a: Type.String() }),
      Type.Object({ kind: Type.Literal("b"), b: Type.Number() }),
    )
    expectTypeOf<Same<typeof union>>().toEqualTypeOf<true>()
    expectTypeOf<Same<typeof single>>().toEqualTypeOf<true>()
    expectTypeOf<Same<typeof none>>().toEqualTypeOf<true>()
    expectTypeOf<Same<typeof flags>>().toEqualTypeOf<true>()
    expectTypeOf<Same<typeof intersection>>().toEqualTypeOf<true>()
    expectTypeOf<Same<typeof everything>>().toEqualTypeOf<true>()
    expectTypeOf<Same<typeof nothing>>().toEqualTypeOf<true>()
    expectTypeOf<Same<typeof mixed>>().toEqualTypeOf<true>()
    expectTypeOf<Same<typeof evaluated>>().toEqualTypeOf<true>()
    expectTypeOf<Same<typeof conditional>>().toEqualTypeOf<true>()
  })

  test("records", () => {
    const byText = Type.Record(Type.String(), Type.Object({ a: Type.String() }))
    const byNumber = Type.Record(Type.Number(), Type.String())
    const byInteger = Type.Record(Type.Integer(), Type.String())
    const byName = Type.Record(Type.Union([Type.Literal("a"), Type.Literal("b")]), Type.Number())
    const byEnum = Type.Record(Type.Enum(["x", "y"]), Type.Number())
    const byTemplate = Type.Record(Type.TemplateLiteral("x-${string}"), Type.Number())
    expectTypeOf<Same<typeof byText>>().toEqualTypeOf<true>()
    expectTypeOf<Same<typeof byNumber>>().toEqualTypeOf<true>()
    expectTypeOf<Same<typeof byInteger>>().toEqualTypeOf<true>()
    expectTypeOf<Same<typeof byName>>().toEqualTypeOf<true>()
    expectTypeOf<Same<typeof byEnum>>().toEqualTypeOf<true>()
    expectTypeOf<Same<typeof byTemplate>>().toEqualTypeOf<true>()
    expectTypeOf<Same<TRecord<"[0-9]+", TNumber>>>().toEqualTypeOf<true>()
  })

  test("template literals", () => {
    const finite = Type.TemplateLiteral("a-${1|2}-b")
    const open = Type.TemplateLiteral("${string}/${number}")
    const parts = Type.TemplateLiteral([
      Type.Literal("on"),
      Type.Union([Type.Literal("Open"), Type.Literal("Close"), Type.String()]),
      Type.Integer(),
      Type.BigInt(),
      Type.Boolean(),
    ])
    const upper = Type.Uppercase(finite)
    expectTypeOf<Same<typeof finite>>().toEqualTypeOf<true>()
    expectTypeOf<Same<typeof open>>().toEqualTypeOf<true>()
    expectTypeOf<Same<typeof parts>>().toEqualTypeOf<true>()
    expectTypeOf<Same<typeof upper>>().toEqualTypeOf<true>()
    expectTypeOf<SchemaType<typeof finite>>().toEqualTypeOf<"a-1-b" | "a-2-b">()
  })

  test("codecs, refinements and unsafe types", () => {
    const codec = Type.Codec(Type.String())
      .Decode((text) => new Date(text))
      .Encode((date) => date.toISOString())
    const decode = Type.Decode(Type.Number(), String)
    const encode = Type.Encode(Type.String(), String)
    const within = Type.Object({ at: codec, until: Type.Optional(codec), all: Type.Array(codec) })
    const refined = Type.Refine(Type.String(), (text) => text !== "")
    const unsafe = Type.Unsafe<Date | Map<string, number>>({ type: "string" })
    const options = Type.Object({ at: Type.Optional(Type.Unsafe<Date>(Type.Any())), b: unsafe })
    expectTypeOf<Same<typeof codec>>().toEqualTypeOf<true>()
    expectTypeOf<Same<typeof decode>>().toEqualTypeOf<true>()
    expectTypeOf<Same<typeof encode>>().toEqualTypeOf<true>()
    expectTypeOf<Same<typeof within>>().toEqualTypeOf<true>()
    expectTypeOf<Same<typeof refined>>().toEqualTypeOf<true>()
    expectTypeOf<Same<typeof unsafe>>().toEqualTypeOf<true>()
    expectTypeOf<Same<typeof options>>().toEqualTypeOf<true>()
    expectTypeOf<SchemaType<typeof codec>>().toEqualTypeOf<string>()
  })

  test("functions and constructors", () => {
    const call = Type.Function([Type.String(), Type.Optional(Type.Number())], Type.Boolean())
    const make = Type.Constructor([Type.String()], Type.Object({ a: Type.String() }))
    const parameters = Type.Parameters(call)
    const result = Type.ReturnType(call)
    const instance = Type.InstanceType(make)
    expectTypeOf<Same<typeof call>>().toEqualTypeOf<true>()
    expectTypeOf<Same<typeof make>>().toEqualTypeOf<true>()
    expectTypeOf<Same<typeof parameters>>().toEqualTypeOf<true>()
    expectTypeOf<Same<typeof result>>().toEqualTypeOf<true>()
    expectTypeOf<Same<typeof instance>>().toEqualTypeOf<true>()
  })

  test("references, cycles and Type.This", () => {
    const tree = Type.Cyclic(
      {
        Node: Type.Object({
          value: Type.String(),
          nodes: Type.Array(Type.Ref("Node")),
          leaf: Type.Optional(Type.Ref("Leaf")),
        }),
        Leaf: Type.Object({ root: Type.Ref("Node") }),
      },
      "Node",
    )
    const json = Type.Cyclic(
      {
        Json: Type.Union([
          Type.String(),
          Type.Array(Type.Ref("Json")),
          Type.Record(Type.String(), Type.Ref("Json")),
        ]),
      },
      "Json",
    )
    const lost = Type.Cyclic({ A: Type.Object({ b: Type.Ref("Missing") }) }, "A")
    const nowhere = Type.Ref("Nowhere")
    const own = Type.Object({ name: Type.String(), next: Type.Optional(Type.This()) })
    const alone = Type.This()

    type Tree = SchemaType<typeof tree>
    expectTypeOf<Tree["value"]>().toEqualTypeOf<string>()
    expectTypeOf<Tree["nodes"][number]["nodes"][number]["value"]>().toEqualTypeOf<string>()
    expectTypeOf<NonNullable<Tree["leaf"]>["root"]["value"]>().toEqualTypeOf<string>()
    type Own = SchemaType<typeof own>
    expectTypeOf<NonNullable<NonNullable<Own["next"]>["next"]>["name"]>().toEqualTypeOf<string>()
    expectTypeOf<Same<typeof tree>>().toEqualTypeOf<true>()
    expectTypeOf<Same<typeof json>>().toEqualTypeOf<true>()
    expectTypeOf<Same<typeof lost>>().toEqualTypeOf<true>()
    expectTypeOf<Same<typeof nowhere>>().toEqualTypeOf<true>()
    expectTypeOf<Same<typeof own>>().toEqualTypeOf<true>()
    expectTypeOf<Same<typeof alone>>().toEqualTypeOf<true>()
  })

  test("what scripts, modules, generics and interfaces come to", () => {
    const script = Type.Script("{ a: string, b?: number[], readonly c: 'x' | 'y' }")
    const module = Type.Module({
      User: Type.Object({ id: Type.String(), friends: Type.Array(Type.Ref("User")) }),
      Names: Type.Index(Type.Ref("User"), Type.Literal("id")),
    })
    const generic = Type.Generic([Type.Parameter("T")], Type.Object({ value: Type.Ref("T") }))
    const called = Type.Call(generic, [Type.Number()])
    const extended = Type.Interface([Type.Object({ a: Type.String() })], { b: Type.Number() })
    const keys = Type.KeyOf(Type.Object({ a: Type.String(), b: Type.Number() }))
    const mapped = Type.Mapped(
      Type.Identifier("K"),
      Type.KeyOf(Type.Object({ a: Type.String(), b: Type.Number() })),
      Type.Ref("K"),
      Type.Array(Type.Ref("K")),
    )
    const excluded = Type.Exclude(Type.Union([Type.String(), Type.Null()]), Type.Null())
    expectTypeOf<Same<typeof script>>().toEqualTypeOf<true>()
    expectTypeOf<Same<typeof module.User>>().toEqualTypeOf<true>()
    expectTypeOf<Same<typeof module.Names>>().toEqualTypeOf<true>()
    expectTypeOf<Same<typeof called>>().toEqualTypeOf<true>()
    expectTypeOf<Same<typeof extended>>().toEqualTypeOf<true>()
    expectTypeOf<Same<typeof keys>>().toEqualTypeOf<true>()
    expectTypeOf<Same<typeof mapped>>().toEqualTypeOf<true>()
    expectTypeOf<Same<typeof excluded>>().toEqualTypeOf<true>()
  })

  test("kinds that describe no value", () => {
    const generic = Type.Generic([Type.Parameter("T")], Type.Ref("T"))
    const parameter = Type.Parameter("T")
    const infer = Type.Infer("T")
    const rest = Type.Rest(Type.Array(Type.String()))
    expectTypeOf<Same<typeof generic>>().toEqualTypeOf<true>()
    expectTypeOf<Same<typeof parameter>>().toEqualTypeOf<true>()
    expectTypeOf<Same<typeof infer>>().toEqualTypeOf<true>()
    expectTypeOf<Same<typeof rest>>().toEqualTypeOf<true>()
    expectTypeOf<Same<TIdentifier<"T">>>().toEqualTypeOf<true>()
    expectTypeOf<Same<TSchema>>().toEqualTypeOf<true>()
  })
})

describe("JSON Schema literals mean what Static says", () => {
  test("types, constants and enumerations", () => {
    expectTypeOf<Same<{}>>().toEqualTypeOf<true>()
    expectTypeOf<Same<true>>().toEqualTypeOf<true>()
    expectTypeOf<Same<false>>().toEqualTypeOf<true>()
    expectTypeOf<Same<{ readonly type: "string"; readonly minLength: 1 }>>().toEqualTypeOf<true>()
    expectTypeOf<Same<{ readonly type: "integer" }>>().toEqualTypeOf<true>()
    expectTypeOf<Same<{ readonly type: "null" }>>().toEqualTypeOf<true>()
    expectTypeOf<Same<{ readonly type: "object" }>>().toEqualTypeOf<true>()
    expectTypeOf<Same<{ readonly type: "array" }>>().toEqualTypeOf<true>()
    expectTypeOf<Same<{ readonly type: readonly ["string", "null"] }>>().toEqualTypeOf<true>()
    expectTypeOf<Same<{ readonly const: 5 }>>().toEqualTypeOf<true>()
    expectTypeOf<
      Same<{ readonly const: { readonly a: readonly [1, "b"] } }>
    >().toEqualTypeOf<true>()
    expectTypeOf<Same<{ readonly enum: readonly ["a", 1, null] }>>().toEqualTypeOf<true>()
    expectTypeOf<
      Same<{ readonly type: "string"; readonly enum: readonly ["a", "b"] }>
    >().toEqualTypeOf<true>()
    expectTypeOf<Same<{ readonly description: "Anything" }>>().toEqualTypeOf<true>()
  })

  test("objects", () => {
    const plain = {
      type: "object",
      properties: {
        a: { type: "string" },
        b: { type: "number", readOnly: true },
        c: { type: "object", properties: { d: { type: "boolean" } }, required: ["d"] },
        e: { type: "string", readOnly: true },
      },
      required: ["a", "b", "z"],
      additionalProperties: false,
    } as const
    const open = {
      type: "object",
      properties: { a: { type: "string" } },
      additionalProperties: true,
    } as const
    const values = { type: "object", additionalProperties: { type: "number" } } as const
    const patterns = {
      type: "object",
      patternProperties: { "^a": { type: "number" }, "^b": { type: "string" } },
    } as const
    const names = { type: "object", propertyNames: { enum: ["a", "b"] } } as const
    const required = { type: "object", required: ["a", "b"] } as const
    const unevaluated = {
      type: "object",
      properties: { a: { type: "string" } },
      unevaluatedProperties: false,
    } as const
    expectTypeOf<Same<typeof plain>>().toEqualTypeOf<true>()
    expectTypeOf<Same<typeof open>>().toEqualTypeOf<true>()
    expectTypeOf<Same<typeof values>>().toEqualTypeOf<true>()
    expectTypeOf<Same<typeof patterns>>().toEqualTypeOf<true>()
    expectTypeOf<Same<typeof names>>().toEqualTypeOf<true>()
    expectTypeOf<Same<typeof required>>().toEqualTypeOf<true>()
    expectTypeOf<Same<typeof unevaluated>>().toEqualTypeOf<true>()
  })

  test("arrays", () => {
    const list = {
      type: "array",
      items: { type: "object", properties: { a: { type: "string" } }, required: ["a"] },
    } as const
    const prefix = {
      type: "array",
      prefixItems: [{ type: "string" }, { type: "number" }],
      minItems: 1,
    } as const
    const older = {
      type: "array",
      items: [{ type: "string" }, { type: "number" }],
      additionalItems: false,
      minItems: 2,
    } as const
    const bounded = {
      type: "array",
      prefixItems: [{ type: "string" }, { type: "number" }],
      minItems: 2,
      maxItems: 2,
    } as const
    expectTypeOf<Same<typeof list>>().toEqualTypeOf<true>()
    expectTypeOf<Same<typeof prefix>>().toEqualTypeOf<true>()
    expectTypeOf<Same<typeof older>>().toEqualTypeOf<true>()
    expectTypeOf<Same<typeof bounded>>().toEqualTypeOf<true>()
  })

  test("combinations", () => {
    const any = { anyOf: [{ type: "string" }, { type: "null" }] } as const
    const one = {
      oneOf: [
        { type: "object", properties: { t: { const: "a" } }, required: ["t"] },
        { type: "object", properties: { t: { const: "b" } }, required: ["t"] },
      ],
    } as const
    const every = {
      allOf: [
        { type: "object", properties: { a: { type: "string" } }, required: ["a"] },
        { type: "object", properties: { b: { type: "number" } } },
      ],
    } as const
    const conditional = {
      if: { type: "object", properties: { a: { const: 1 } }, required: ["a"] },
      then: { type: "object", properties: { b: { type: "string" } } },
      else: { type: "null" },
    } as const
    const onlyThen = { if: { type: "string" }, then: { const: "a" } } as const
    const onlyElse = { if: { type: "string" }, else: { type: ["string", "number"] } } as const
    expectTypeOf<Same<typeof any>>().toEqualTypeOf<true>()
    expectTypeOf<Same<typeof one>>().toEqualTypeOf<true>()
    expectTypeOf<Same<typeof every>>().toEqualTypeOf<true>()
    expectTypeOf<Same<typeof conditional>>().toEqualTypeOf<true>()
    expectTypeOf<Same<typeof onlyThen>>().toEqualTypeOf<true>()
    expectTypeOf<Same<typeof onlyElse>>().toEqualTypeOf<true>()
  })

  test("references", () => {
    const definitions = {
      type: "object",
      properties: { a: { $ref: "#/$defs/A" }, b: { $ref: "#/$defs/x~1y~0z" } },
      required: ["a", "b"],
      $defs: { A: { type: "string" }, "x/y~z": { type: "number" } },
    } as const
    const missing = { $ref: "#/$defs/Nothing" } as const
    const tree = {
      type: "object",
      properties: { name: { type: "string" }, nodes: { type: "array", items: { $ref: "#" } } },
      required: ["name"],
    } as const
    expectTypeOf<Same<typeof definitions>>().toEqualTypeOf<true>()
    expectTypeOf<Same<typeof missing>>().toEqualTypeOf<true>()
    expectTypeOf<Same<typeof tree>>().toEqualTypeOf<true>()
    expectTypeOf<SchemaType<typeof definitions>>().toEqualTypeOf<{ a: string; b: number }>()
  })

  test("TypeBox types within and around them", () => {
    const around = Type.Object({
      a: { type: "object", properties: { b: { type: "string" } }, required: ["b"] } as const,
    })
    const within = {
      type: "object",
      properties: {
        a: Type.Object({ b: Type.Optional(Type.String()) }),
        c: Type.Array(Type.Null()),
      },
      required: ["a", "c"],
    } as const
    expectTypeOf<Same<typeof around>>().toEqualTypeOf<true>()
    expectTypeOf<SchemaType<typeof within>>().toEqualTypeOf<{ a: { b?: string }; c: null[] }>()
  })
})

describe("where Static gives nothing useful", () => {
  test("lists whose members are not known widen instead of excluding everything", () => {
    interface Loose {
      readonly type: "string"
      readonly enum: string[]
    }
    interface Names {
      readonly type: ("string" | "null")[]
    }
    expectTypeOf<SchemaType<Loose>>().toEqualTypeOf<string>()
    expectTypeOf<SchemaType<Names>>().toEqualTypeOf<string | null>()
    expectTypeOf<SchemaType<{ anyOf: ({ type: "string" } | { type: "null" })[] }>>().toEqualTypeOf<
      string | null
    >()
  })

  test("items after prefixItems are the rest of a tuple", () => {
    const closed = {
      type: "array",
      prefixItems: [{ type: "string" }, { type: "number" }],
      items: false,
      minItems: 2,
    } as const
    const open = {
      type: "array",
      prefixItems: [{ type: "string" }],
      items: { type: "number" },
      minItems: 1,
    } as const
    expectTypeOf<SchemaType<typeof closed>>().toEqualTypeOf<[string, number]>()
    expectTypeOf<SchemaType<typeof open>>().toEqualTypeOf<[string, ...number[]]>()
  })

  test("a function may take any number of arguments", () => {
    const spread = Type.Function([Type.Rest(Type.Array(Type.String()))], Type.Void())
    expectTypeOf<SchemaType<typeof spread>>().toEqualTypeOf<(...args: string[]) => void>()
  })

  test("any stays any", () => {
    // oxlint-disable-next-line typescript/no-explicit-any -- what is tested
    expectTypeOf<SchemaType<any>>().toBeAny()
    expectTypeOf<SchemaType<unknown>>().toEqualTypeOf<unknown>()
  })
})
