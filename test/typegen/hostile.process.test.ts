import fc from "fast-check"
import { describe, expect, test } from "vitest"
import type { OperationSpec } from "../../src/index.ts"
import { faultsOf } from "./compile.ts"
import { declarationsOf, specOf, typesOf } from "./specs.ts"
import { codePoint } from "../support/code-point.ts"

const NAMES = [
  "__proto__",
  "constructor",
  "toString",
  "hasOwnProperty",
  "class",
  "default",
  "string",
  "any",
  "Operations",
  "CallError",
  "RegisteredOperations",
  "Routes",
  "a.b",
  "a.b.c",
  "..",
  "Demo",
  "Array",
  "Record",
  "Object",
  "undefined",
  "",
  " ",
  "1st",
  "*/",
  "/**",
  "`${x}`",
  '"',
  "'",
  "\\",
  "\n",
  "\r\n",
  "\u2028",
  "\u202E",
  "\uD800",
  "用户",
  "é",
  "e\u0301",
  "😀",
  "a.b",
  "a/b",
  "a~b",
  "a b",
  "A",
  "a",
  "-",
  "_",
  "$",
  "$ref",
  "0",
  "-1",
]

/** An operation in which a text stands wherever a text can stand. */
function everywhere(name: string, at: number): OperationSpec {
  const schema = {
    type: "object",
    title: name,
    description: name,
    properties: Object.fromEntries([
      [name, { description: name, enum: [name, { [name]: name }], default: name }],
      ["ref", { $ref: "#/$defs/target" }],
    ]),
    required: [name],
    patternProperties: { [`^${name}`]: { const: name } },
    additionalProperties: false,
    $defs: {
      target: { type: "object", description: name, properties: Object.fromEntries([[name, {}]]) },
    },
  }
  return specOf({
    namespace: at % 2 === 0 ? name : "demo",
    name: `${name}${at}`,
    title: name,
    description: name,
    inputSchema: schema,
    outputSchema: {
      $ref: `#/$defs/${encodeURIComponent(
        name
          .replaceAll("~", "~0")
          .replaceAll("/", "~1")
          .replaceAll(/\p{Surrogate}/gu, ""),
      )}`,
      $defs: Object.fromEntries([[name, schema]]),
    },
    errorSchemas: [{ code: name, description: name, schema }],
  })
}

describe("hostile texts", () => {
  test("compile in every place, and end no comment", async () => {
    const written = typesOf(NAMES.map(everywhere))
    expect(await faultsOf({ "operations.d.ts": written })).toEqual([])
    // oxlint-disable-next-line no-control-regex -- what must not be there
    expect(written).not.toMatch(/[\u0000-\u0008\u000B-\u001F\u007F-\u009F\u2028-\u202E\uFEFF]/)
    expect(written).not.toMatch(/\p{Surrogate}/u)
  })

  test("hostile texts of any kind compile", async () => {
    const texts = fc.sample(fc.string({ unit: codePoint, maxLength: 12 }), {
      numRuns: 300,
      seed: 7,
    })
    const punctuation = fc.sample(
      fc.string({
        unit: fc.constantFrom(...Array.from("*/\\`'\"${}@\n\r;#<>|&?!-")),
        maxLength: 10,
      }),
      { numRuns: 300, seed: 7 },
    )
    const written = typesOf([...texts, ...punctuation].map(everywhere))
    expect(await faultsOf({ "operations.d.ts": written })).toEqual([])
  })

  test("hostile names give each definition a unique name", () => {
    const $defs = Object.fromEntries(
      ["user", "User", "USER", "us-er", "usEr", "_user"].map((name, at) => [name, { const: at }]),
    )
    const properties = Object.fromEntries(
      Object.keys($defs).map((name) => [name, { $ref: `#/$defs/${name}` }]),
    )
    const written = typesOf([specOf({ outputSchema: { type: "object", properties, $defs } })])
    const names = Array.from(
      declarationsOf(written).matchAll(/^type (\w+) =/gm),
      ([, name]) => name,
    )
    expect(names).toHaveLength(6)
    expect(new Set(names).size).toBe(6)
  })

  test("cannot add tags to comments", () => {
    const written = typesOf([specOf({ description: "Fine.\n@deprecated use mine\n  @see me" })])
    expect(written).toContain("     * \\@deprecated use mine\n     *   \\@see me")
  })

  test("very long texts are cut", () => {
    const written = typesOf([specOf({ description: "x".repeat(100_000) })])
    expect(written.length).toBeLessThan(10_000)
  })
})
