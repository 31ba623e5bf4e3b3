// What is the same after a registry was written as a document and imported again, and what is not.
import fc from "fast-check"
import { Type } from "typebox"
import { describe, expect, test } from "vitest"
import { FromOpenAPI } from "../../../src/from-openapi.ts"
import type { ImportedOperation, OpenAPIConfig } from "../../../src/from-openapi.ts"
import type { AnyOperation, OperationSpec } from "../../../src/index.ts"
import { sourceOf } from "../../../src/sources/openapi/origin.ts"
import { isNoValue } from "../../../src/schema/json.ts"
import { createDocument } from "./create-document.ts"
import type { DocumentOptions } from "../../../src/serve/http/openapi/model.ts"
import { declaredStatus } from "../../../src/core/problem.ts"
import { operation, quietRegistry } from "../../support/operations.ts"
import { demo } from "./openapi-demo.ts"
import { partDifference, schemaDifference } from "./openapi-same.ts"
import { runs } from "../../support/nightly.ts"

const ABOUT: DocumentOptions = {
  ...{ title: "Same", version: "7.7.7", restPath: "/api", security: ["bearer"] },
}

type Raw = Readonly<Record<string, unknown>>

interface Pair {
  readonly spec: OperationSpec
  readonly back: ImportedOperation
}

/** Each operation with what it is afterwards: all namespaces are imported, each under its own name. */
function thereAndBack(
  operations: readonly AnyOperation[],
  openapi: "3.1" | "3.2" = "3.1",
  config: Partial<OpenAPIConfig> = {},
): Pair[] {
  const registry = quietRegistry(operations)
  const text = JSON.stringify(createDocument(registry, { ...ABOUT, openapi }))
  const specs = registry.getAllSpecs().filter(({ visibility }) => visibility !== "internal")
  const found = new Map<string, ImportedOperation>()
  for (const namespace of new Set(specs.map((spec) => spec.namespace))) {
    const imported = FromOpenAPI(text, {
      namespace,
      baseUrl: "https://api.test",
      filter: ({ operationId = "" }) => operationId.startsWith(`${namespace}.`),
      ...config,
    })
    for (const one of imported) found.set(`${one.namespace}.${one.name}`, one)
    // What is imported is what a registry takes, also as a copy that is looked at closely.
    quietRegistry(imported.map((one) => ({ ...one })))
  }
  expect([...found.keys()].toSorted()).toEqual(
    specs.map(({ namespace, name }) => `${namespace}.${name}`).toSorted(),
  )
  return specs.map((spec) => ({
    spec,
    back: found.get(`${spec.namespace}.${spec.name}`) as ImportedOperation,
  }))
}

const GET = { readOnly: true, destructive: false, idempotent: true, openWorld: true }
const POST = { readOnly: false, destructive: false, idempotent: false, openWorld: true }

/** All but the schemas. What is not as it was is said here, and nowhere else. */
function expected(spec: OperationSpec, isGet: boolean): Raw {
  const { namespace, name, version, type, description, title, tags, deprecated, deprecation } = spec
  const errors = (spec.errorSchemas ?? []).map((error) => ({
    code: error.code,
    description: error.description,
    // The status that it is answered with, also where none was declared.
    httpStatus: declaredStatus(error),
  }))
  // An operation without input has none to show; in a body it is the input called "body".
  const examples = isNoValue(spec.inputSchema)
    ? []
    : (spec.examples ?? []).flatMap((one) => (isGet ? inQuery(one, spec) : [{ body: one }]))
  return {
    ...{ namespace, name, version, type, description },
    // An empty title is none, and so is an empty list of tags, in which nothing stands twice.
    title: title === "" ? undefined : title,
    tags: tags === undefined || tags.length === 0 ? undefined : [...new Set(tags)],
    deprecated: deprecated === true ? true : undefined,
    deprecation,
    // In the order of their statuses.
    errors: errors.toSorted((left, right) => left.httpStatus - right.httpStatus),
    examples: examples.length === 0 ? undefined : examples,
    // What HTTP says of the method, where the operation says nothing.
    annotations: spec.annotations ?? (isGet || type === "query" ? GET : POST),
    // The server asks for the scopes, of the credential that it is sent; here anyone may call.
    accessControl: { requiredScopes: [] },
    scopes: scopesOf(spec),
    visibility: undefined,
  }
}

function actual(back: ImportedOperation): Raw {
  const { namespace, name, version, type, description, title, tags, deprecated, deprecation } = back
  const { examples, annotations, accessControl, visibility, handler } = back
  return {
    ...{ namespace, name, version, type, description, title, tags, deprecated, deprecation },
    ...{ examples, annotations, accessControl, visibility },
    errors: back.errorSchemas?.map(({ schema: _, ...error }) => error),
    scopes: sourceOf(handler)?.plan.security.map((needed) =>
      Array.from(needed, ([scheme, { scopes }]) => [scheme, ...scopes]).flat(),
    ),
  }
}

/** The alternatives of the document: all scopes that are required, and one of those that suffice. */
function scopesOf({ accessControl: { requiredScopes: all, requiredScopesAny } }: OperationSpec) {
  const any = requiredScopesAny ?? []
  if (any.length === 0) return [["bearer", ...all]]
  return any.map((one) => ["bearer", ...new Set([...all, one])])
}

/** Schemas that are not the same word for word, and where. */
function schemaDifferences({ spec, back }: Pair): string[] {
  const found = (spec.errorSchemas ?? []).map(({ code, schema }) => {
    const after = back.errorSchemas?.find((one) => one.code === code)
    return [code, schemaDifference(schema, after?.schema)]
  })
  found.push(["input", inputDifference(spec.inputSchema as Raw, back)])
  const isVoidItem = spec.type === "subscription" && isNoValue(spec.outputSchema)
  // Events have data; of a stream of nothing each has any.
  const output = isVoidItem ? {} : spec.outputSchema
  found.push(["output", schemaDifference(output, back.outputSchema)])
  return found.flatMap(([what, at]) => (at === undefined ? [] : [`${spec.name} ${what}: ${at}`]))
}

function inputDifference(before: Raw, back: ImportedOperation): string | undefined {
  const after = back.inputSchema as Raw
  const properties = after["properties"] as Raw
  // No input at all is an object with nothing in it.
  if (isNoValue(before)) return Object.keys(properties).length === 0 ? undefined : "void"
  if (methodOf(back) === "POST") return partDifference(before, after, "properties", "body")
  // Of the object itself a query says what is in it and what has to be, and lets nothing else in.
  for (const name of Object.keys(properties)) {
    const own = { ...((before["properties"] as Raw)[name] as Raw), $defs: before["$defs"] }
    const difference = partDifference(own, after, "properties", name)
    if (difference !== undefined) return `/${name}${difference}`
  }
  const names = [before["properties"], properties].map((one) => Object.keys(one ?? {}).toSorted())
  expect(names[0]).toEqual(names[1])
  // A parameter with a default need not be given: the default is sent.
  const hasDefault = (name: string): boolean =>
    Object.hasOwn((before["properties"] as Raw)[name] as Raw, "default")
  const required = [before, after].map((one) => [...((one["required"] ?? []) as string[])])
  expect(new Set(required[1])).toEqual(new Set(required[0]?.filter((name) => !hasDefault(name))))
  return undefined
}

function methodOf({ _meta }: ImportedOperation): string {
  return (_meta as { openapi: { method: string } }).openapi.method
}

/** What a query holds of an example: the values of an object that are described; nothing of an empty one. */
function inQuery(example: unknown, { inputSchema }: OperationSpec): Raw[] {
  if (typeof example !== "object" || example === null || Array.isArray(example)) return []
  const names = Object.keys((inputSchema as { properties?: object }).properties ?? {})
  const held = Object.entries(example).filter(([name]) => names.includes(name))
  return held.length === 0 ? [] : [Object.fromEntries(held)]
}

function expectSame(pairs: readonly Pair[]): void {
  for (const { spec, back } of pairs) {
    expect(actual(back)).toEqual(expected(spec, methodOf(back) === "GET"))
  }
  expect(pairs.flatMap(schemaDifferences)).toEqual([])
}

const varied: readonly AnyOperation[] = [
  ...demo,
  operation("shop.order.create", {
    title: "Orders",
    version: "2.1.0-beta",
    description: "",
    tags: ["shop"],
    annotations: { idempotent: true, destructive: false },
    inputSchema: Type.Object({ article: Type.String() }, { title: "Order" }),
    outputSchema: Type.Object({ id: Type.String({ format: "uuid" }) }),
    examples: [{ article: "lamp" }, { article: "ÄÖÜ ❤" }],
    accessControl: { requiredScopes: ["a", "b"], requiredScopesAny: ["b", "c"] },
    errorSchemas: [
      { code: "out-of-stock", description: "Line\nby line", schema: Type.Object({}) },
      { code: "HTTP_404", description: "Gone", schema: Type.Null(), httpStatus: 404 },
      { code: "__proto__", description: "Odd", schema: Type.String(), httpStatus: 404 },
      { code: "DENIED", description: "No", schema: Type.Unknown(), httpStatus: 403 },
      { code: "WRONG", description: "Wrong", schema: Type.Boolean(), httpStatus: 400 },
      { code: "DONE", description: "A success is none", schema: {}, httpStatus: 200 },
      { code: "ÜBER 9000", description: "", schema: Type.Number(), httpStatus: 500 },
    ],
    handler: () => ({ id: "1" }),
  }),
  operation("shop.look", {
    type: "query",
    version: "v3",
    inputSchema: Type.Object({
      text: Type.String({ default: "x", examples: ["y"] }),
      range: Type.Optional(Type.Object({ from: Type.Number() })),
    }),
    examples: [{ text: "lamp" }, "no object", {}, { text: "chair", range: { from: 1 } }],
    tags: [],
    title: "",
    deprecated: false,
    handler: () => 1,
  }),
  operation(`shop.${"long".repeat(50)}`, { handler: () => 1 }),
]

describe("a registry that is written as a document and imported again", () => {
  test.each(["3.1", "3.2"] as const)("is the same in %s", (openapi) => {
    expectSame(thereAndBack(varied, openapi))
  })

  test("is the same once more after that", () => {
    const once = thereAndBack(varied).map(({ back }) => back)

    for (const { spec, back } of thereAndBack(once)) {
      expect(back.errorSchemas?.map(({ code }) => code)).toEqual(
        spec.errorSchemas?.map(({ code }) => code),
      )
      expect(actual(back)["errors"]).toEqual(expected(spec, false)["errors"])
    }
  })

  test("declares none of what every operation of it may answer", () => {
    const [pair] = thereAndBack([operation("a.b", { handler: () => 1 })])

    expect(pair?.back.errorSchemas).toEqual([])
  })

  test("has its own input and examples with flattened bodies", () => {
    const create = thereAndBack(demo, "3.1", { flatten: true }).find(
      ({ spec }) => spec.name === "create",
    )

    expect(create?.back.examples).toEqual(create?.spec.examples)
    expect(create?.back.inputSchema).toEqual({
      ...(create?.spec.inputSchema as Raw),
      additionalProperties: false,
    })
  })

  test("shows no example that tools would take for references", () => {
    const [pair] = thereAndBack([
      operation("a.b", { examples: [{ $ref: "#/x" }, { a: 1 }], handler: () => 1 }),
    ])

    expect(pair?.back.examples).toEqual([{ body: { a: 1 } }])
  })
})

test.each<[before: object, after: object, at: string | undefined]>([
  [{ $ref: "#/$defs/a", $defs: { a: { type: "null" } } }, { type: "null" }, undefined],
  [
    { properties: { a: { $ref: "#" } } },
    { properties: { a: { properties: {} } } },
    "/properties/a/properties",
  ],
  [{ type: "null" }, {}, "/type"],
  [{ items: { const: 1 } }, { items: { const: 2 } }, "/items/const"],
  [{ anyOf: [{}, { not: {} }] }, { anyOf: [{}] }, "/anyOf"],
])("%j and %j differ at %s", (before, after, at) => {
  expect(schemaDifference(before, after)).toBe(at)
})

const NAMES = ["a", "b", "kind", "x-1", "toString", "ä b"]
const LEAVES = fc.constantFrom<object | boolean>(
  ...[{}, { type: "number", minimum: 0 }, { type: "string", maxLength: 2, description: "Short" }],
  ...[{ type: ["integer", "null"] }, { type: "boolean", default: true }, { const: "a" }],
  ...[{ enum: ["a", 1, null] }, { $ref: "#/$defs/one" }, { $ref: "#/$defs/two" }],
)
const { schema: anySchema } = fc.letrec<{ schema: object | boolean }>((tie) => ({
  schema: fc.oneof(
    { depthSize: "small", withCrossShrink: true },
    LEAVES,
    fc.record(
      {
        type: fc.constant("object"),
        properties: fc.dictionary(fc.constantFrom(...NAMES), tie("schema"), { maxKeys: 3 }),
        required: fc.uniqueArray(fc.constantFrom(...NAMES), { maxLength: 2 }),
        additionalProperties: tie("schema"),
        title: fc.constantFrom("One", "Two"),
      },
      { requiredKeys: ["type", "properties"] },
    ),
    fc.record({ type: fc.constant("array"), items: tie("schema") }),
    fc.record({ anyOf: fc.array(tie("schema"), { minLength: 1, maxLength: 3 }) }),
    fc.record({ not: tie("schema") }),
  ),
}))
const root = fc
  .tuple(anySchema, anySchema, anySchema)
  .map(([schema, one, two]) => ({ ...(schema as object), $defs: { one, two } }))
const words = fc.string({ unit: "grapheme", maxLength: 12 })
const value = fc.jsonValue({ maxDepth: 2 }).map((one): unknown => JSON.parse(JSON.stringify(one)))
const scope = fc.string({ minLength: 1, maxLength: 12 })
const errors = fc.uniqueArray(
  fc.record(
    {
      code: fc.oneof(
        fc.constantFrom("TAKEN", "FULL", "HTTP_404", "__proto__"),
        fc.string({ unit: "grapheme", minLength: 1, maxLength: 12 }),
      ),
      description: words,
      schema: root,
      httpStatus: fc.constantFrom(400, 401, 403, 404, 409, 422, 429, 500, 503, 200, 599),
    },
    { requiredKeys: ["code", "description", "schema"] },
  ),
  { maxLength: 4, selector: ({ code }) => code },
)
const specs = fc.uniqueArray(
  fc.record(
    {
      id: fc.constantFrom("a.one", "a.two", "a.b.one", "b.one", "b.two"),
      type: fc.constantFrom("query" as const, "mutation" as const, "subscription" as const),
      version: fc.constantFrom("1.0.0", "2", "v1.2-rc.1"),
      title: words,
      description: words,
      tags: fc.array(words, { maxLength: 3 }),
      deprecated: fc.boolean(),
      annotations: fc.record(
        { readOnly: fc.boolean(), destructive: fc.boolean(), openWorld: fc.boolean() },
        { requiredKeys: [] },
      ),
      accessControl: fc.record(
        {
          requiredScopes: fc.uniqueArray(scope, { maxLength: 2 }),
          requiredScopesAny: fc.uniqueArray(scope, { maxLength: 2 }),
        },
        { requiredKeys: ["requiredScopes"] },
      ),
      inputSchema: fc.oneof(root, fc.constant({ type: "void" })),
      outputSchema: fc.oneof(root, fc.constant({ type: "void" })),
      errorSchemas: errors,
      examples: fc.array(fc.oneof(value, fc.dictionary(fc.constantFrom(...NAMES), value)), {
        maxLength: 3,
      }),
    },
    {
      requiredKeys: [
        ...(["id", "type", "version", "description"] as const),
        ...(["accessControl", "inputSchema", "outputSchema"] as const),
      ],
    },
  ),
  { minLength: 1, maxLength: 4, selector: ({ id }) => id },
)

/** References that lead back to themselves are refused long before there is a document. */
function isRegistrable(one: AnyOperation): boolean {
  try {
    quietRegistry([one])
    return true
  } catch {
    return false
  }
}

test("any registry is the same after the way there and back", () => {
  fc.assert(
    fc.property(specs, fc.constantFrom("3.1" as const, "3.2" as const), (list, openapi) => {
      const operations = list.map(({ id, ...parts }) =>
        operation(id, {
          ...(parts as Partial<AnyOperation>),
          handler: parts.type === "subscription" ? async function* none() {} : () => 1,
        }),
      )
      fc.pre(operations.every(isRegistrable))

      expectSame(thereAndBack(operations, openapi))
    }),
    { numRuns: runs(60) },
  )
})
