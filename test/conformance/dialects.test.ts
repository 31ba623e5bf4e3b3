import { describe, expect, test } from "vitest"
import { admitSchema, type AdmitOptions } from "../../src/schema/admit.ts"
import { compileValidator } from "../../src/schema/validator.ts"

interface Case {
  readonly name: string
  readonly schema: unknown
  readonly options?: AdmitOptions
  readonly valid?: readonly unknown[]
  readonly invalid?: readonly unknown[]
}

const oas: AdmitOptions = { dialect: "openapi-3.0" }
const strict: AdmitOptions = { dialect: "openapi-3.0", strictNullable: true }

const CASES: Record<string, readonly Case[]> = {
  "OpenAPI 3.0": [
    {
      name: "nullable beside a type admits null",
      schema: { type: "string", nullable: true },
      options: strict,
      valid: ["a", null],
      invalid: [1],
    },
    {
      name: "nullable: false changes nothing",
      schema: { type: "string", nullable: false },
      options: oas,
      valid: ["a"],
      invalid: [null],
    },
    {
      name: "nullable beside an enum without null admits null, leniently",
      schema: { type: "string", nullable: true, enum: ["a"] },
      options: oas,
      valid: ["a", null],
      invalid: ["b"],
    },
    {
      name: "nullable beside an enum without null excludes null, strictly",
      schema: { type: "string", nullable: true, enum: ["a"] },
      options: strict,
      valid: ["a"],
      invalid: [null, "b"],
    },
    {
      name: "nullable beside allOf admits null, leniently",
      schema: { nullable: true, allOf: [{ type: "object", required: ["a"] }] },
      options: oas,
      valid: [null, { a: 1 }],
      invalid: [{}, 1],
    },
    {
      name: "nullable without a type is ignored, strictly",
      schema: { nullable: true, allOf: [{ type: "object" }] },
      options: strict,
      valid: [{}],
      invalid: [null],
    },
    {
      name: "nullable beside type and allOf admits null, leniently",
      schema: { type: "object", nullable: true, oneOf: [{ required: ["a"] }] },
      options: oas,
      valid: [null, { a: 1 }],
      invalid: [{}],
    },
    {
      name: "nullable beside a $ref admits null, leniently",
      schema: {
        properties: { a: { $ref: "#/definitions/A", nullable: true } },
        definitions: { A: { type: "string" } },
      },
      options: oas,
      valid: [{ a: null }, { a: "x" }],
      invalid: [{ a: 1 }],
    },
    {
      name: "other siblings of $ref are ignored",
      schema: {
        properties: { a: { $ref: "#/definitions/A", maxLength: 1, nullable: true } },
        definitions: { A: { type: "string" } },
      },
      options: strict,
      valid: [{ a: "long" }],
      invalid: [{ a: null }],
    },
    {
      name: "exclusiveMinimum and exclusiveMaximum are flags",
      schema: { minimum: 1, exclusiveMinimum: true, maximum: 3, exclusiveMaximum: false },
      options: oas,
      valid: [2, 3],
      invalid: [1, 4],
    },
    {
      name: "a flag without a limit says nothing",
      schema: { exclusiveMinimum: true },
      options: oas,
      valid: [0],
    },
    {
      name: "discriminator is an annotation",
      schema: {
        oneOf: [{ required: ["cat"] }, { required: ["dog"] }],
        discriminator: { propertyName: "kind", mapping: { x: "#/nowhere" } },
      },
      options: oas,
      valid: [{ cat: 1 }],
      invalid: [{ cat: 1, dog: 1 }],
    },
    {
      name: "properties may be named like keywords",
      schema: {
        type: "object",
        properties: {
          nullable: { type: "boolean" },
          $ref: { type: "string" },
          id: { type: "string" },
        },
      },
      options: oas,
      valid: [{ nullable: true, $ref: "x", id: "y" }],
      invalid: [{ nullable: "yes" }, { id: 1 }],
    },
  ],
  "draft-04": [
    {
      name: "id sets the base of references",
      schema: {
        $schema: "http://json-schema.org/draft-04/schema#",
        id: "http://example.com/root.json",
        properties: { a: { $ref: "item.json" }, id: { type: "number" } },
        definitions: { item: { id: "item.json", type: "integer" } },
      },
      valid: [{ a: 1, id: 2 }],
      invalid: [{ a: "x" }, { id: "x" }],
    },
    {
      name: "limits are flags",
      schema: {
        $schema: "http://json-schema.org/draft-04/schema#",
        maximum: 3,
        exclusiveMaximum: true,
      },
      valid: [2],
      invalid: [3],
    },
  ],
  "draft-07": [
    {
      name: "tuples, additionalItems and pointers into them",
      schema: {
        $schema: "http://json-schema.org/draft-07/schema#",
        items: [{ type: "integer" }, { $ref: "#/items/0" }],
        additionalItems: { type: "string" },
        contains: { $ref: "#/additionalItems" },
      },
      valid: [[1, 2, "a"]],
      invalid: [
        [1, "b", "a"],
        [1, 2, 3],
        [1, 2],
      ],
    },
    {
      name: "dependencies of both kinds, and pointers into them",
      schema: {
        $schema: "http://json-schema.org/draft-07/schema#",
        dependencies: { a: ["b"], c: { required: ["d"] } },
        properties: { e: { $ref: "#/dependencies/c" } },
      },
      valid: [{}, { a: 1, b: 1 }, { c: 1, d: 1 }, { e: { d: 1 } }],
      invalid: [{ a: 1 }, { c: 1 }, { e: {} }],
    },
    {
      name: "$id with a fragment is an anchor",
      schema: {
        $schema: "http://json-schema.org/draft-07/schema#",
        $ref: "#name",
        definitions: { a: { $id: "#name", type: "null" } },
      },
      valid: [null],
      invalid: [1],
    },
  ],
  "2019-09": [
    {
      name: "$recursiveRef without an anchor is a reference to the root",
      schema: {
        $schema: "https://json-schema.org/draft/2019-09/schema",
        type: "object",
        properties: { child: { $recursiveRef: "#" } },
        additionalProperties: false,
      },
      valid: [{ child: { child: {} } }],
      invalid: [{ child: { other: 1 } }, { child: 1 }],
    },
    {
      name: "$recursiveRef beside a $ref holds too",
      schema: {
        $schema: "https://json-schema.org/draft/2019-09/schema",
        properties: { child: { $ref: "#/$defs/small", $recursiveRef: "#" } },
        $defs: { small: { maxProperties: 1 } },
        required: ["name"],
      },
      valid: [{ name: 1, child: { name: 1 } }],
      invalid: [
        { name: 1, child: {} },
        { name: 1, child: { name: 1, more: 1 } },
      ],
    },
    {
      name: "$recursiveAnchor lets an extension take the place of the root",
      schema: {
        $schema: "https://json-schema.org/draft/2019-09/schema",
        $id: "http://example.com/strict-tree",
        $recursiveAnchor: true,
        $ref: "tree",
        unevaluatedProperties: false,
        $defs: {
          tree: {
            $id: "tree",
            $recursiveAnchor: true,
            type: "object",
            properties: {
              data: true,
              children: { type: "array", items: { $recursiveRef: "#" } },
            },
          },
        },
      },
      valid: [{ children: [{ data: 1 }] }],
      invalid: [{ children: [{ daat: 1 }] }],
    },
    {
      name: "siblings of $ref hold",
      schema: {
        $schema: "https://json-schema.org/draft/2019-09/schema",
        $ref: "#/$defs/a",
        maxLength: 2,
        $defs: { a: { type: "string" } },
      },
      valid: ["ab"],
      invalid: ["abc", 1],
    },
  ],
  "2020-12": [
    {
      name: "a list under items is read as the tuple it is meant to be",
      schema: { items: [{ type: "string" }], additionalItems: false },
      valid: [["a"], []],
      invalid: [[1], ["a", "b"]],
    },
    {
      name: "a list under items may be empty",
      schema: { items: [], additionalItems: { type: "string" } },
      valid: [["a"]],
      invalid: [[1]],
    },
    {
      name: "dependencies beside their successors",
      schema: {
        dependencies: { a: ["b"], x: { required: ["y"] } },
        dependentRequired: { c: ["d"] },
        dependentSchemas: { p: { required: ["q"] } },
      },
      valid: [{ a: 1, b: 1, c: 1, d: 1 }],
      invalid: [{ a: 1 }, { c: 1 }, { x: 1 }, { p: 1 }],
    },
    {
      name: "a dialect may change where a new resource begins",
      schema: {
        $id: "http://example.com/new",
        properties: { old: { $ref: "old" } },
        $defs: {
          old: {
            $schema: "http://json-schema.org/draft-07/schema#",
            $id: "old",
            allOf: [{ $ref: "#/definitions/text", maxLength: 1 }],
            definitions: { text: { type: "string" } },
          },
        },
      },
      invalid: [{ old: 1 }],
      valid: [{ old: "long" }],
    },
  ],
}

describe.each(Object.entries(CASES))("%s", (_, cases) => {
  test.each(cases)("$name", ({ schema, options, valid = [], invalid = [] }) => {
    const { schema: admitted, diagnostics } = admitSchema(schema, options)
    expect(diagnostics).toEqual([])
    const validator = compileValidator(admitted)
    for (const value of valid) {
      expect(validator.errors(value)).toEqual([])
      expect(validator.check(value)).toBe(true)
    }
    for (const value of invalid) {
      expect(validator.check(value), JSON.stringify(value)).toBe(false)
      expect(validator.errors(value)).not.toEqual([])
    }
  })
})
