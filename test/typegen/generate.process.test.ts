import { describe, expect, test } from "vitest"
import { FromSchema } from "../../src/index.ts"
import type { OperationSpec } from "../../src/index.ts"
import { generateTypes } from "../../src/typegen/generate.ts"
import { faultsOf } from "./compile.ts"
import { declarationsOf, specOf, typesOf } from "./specs.ts"

const text = { type: "string" }

function output(name: string, schema: unknown, parts: Partial<OperationSpec> = {}): OperationSpec {
  return specOf({ name, outputSchema: FromSchema(schema), ...parts })
}

describe("generateTypes", () => {
  test("writes an interface of operations, the types they share, and the addition to the library", () => {
    const spec = specOf({
      title: "Create a task",
      description: "It is put at the end.",
      type: "mutation",
      deprecated: true,
      inputSchema: FromSchema({ type: "object", properties: { title: text }, required: ["title"] }),
      outputSchema: FromSchema({
        $ref: "#/$defs/task",
        $defs: { task: { type: "object", properties: { id: text } } },
      }),
      errorSchemas: [
        {
          code: "TASK_LIMIT",
          description: "",
          schema: FromSchema({
            type: "object",
            properties: { limit: { type: "integer" } },
            required: ["limit"],
          }),
        },
      ],
    })
    expect(generateTypes([spec])).toBe(`/* eslint-disable */
// Written by \`operations types\`: changes are lost when it runs again.

import type { CallError } from "@alkdev/operations"

/** Every operation, by namespace and name: what it takes, what it gives, and the errors it declares. */
export interface Routes {
  demo: {
    /**
     * Create a task
     *
     * It is put at the end.
     * @deprecated
     */
    run: {
      type: "mutation"
      input: { title: string }
      output: Demo.Task
      errors: Demo.TASKLIMITError
    }
  }
}

/** The same, by id. */
export interface Operations {
  "demo.run": Routes["demo"]["run"]
}

declare module "@alkdev/operations" {
  interface RegisteredOperations extends Operations {}
  interface RegisteredRoutes extends Routes {}
}

export declare namespace Demo {
  type TASKLIMITError = CallError<"TASK_LIMIT", { limit: number }>

  type Task = { id?: string | undefined }
}
`)
  })

  test("writes names with dots as objects in objects, and one that begins with another name as one key", async () => {
    const names = ["a-b.c", "orders", "orders.get", "shop.a.x", "shop.a.y", "shop.b"]
    const written = typesOf(names.map((name) => specOf({ name })))
    expect(written.replaceAll(/^ +(?:type|input|output|errors):.*\n/gm, "")).toContain(`
  demo: {
    "a-b": {
      c: {
      }
    }
    orders: {
    }
    "orders.get": {
    }
    shop: {
      a: {
        x: {
        }
        y: {
        }
      }
      b: {
      }
    }
  }
`)
    expect(written).toContain(`  "demo.shop.a.x": Routes["demo"]["shop"]["a"]["x"]\n`)
    const deep = typesOf([specOf({ namespace: "deep", name: `${"d.".repeat(500)}end` })])
    expect(await faultsOf({ "operations.d.ts": written, "deep.d.ts": deep })).toEqual([])
  })

  test("without operations generates a module that compiles", async () => {
    expect(await faultsOf({ "operations.d.ts": typesOf([]) })).toEqual([])
  })

  test("generates the same text for any order of operations, and for copies", () => {
    const $defs = {
      A: { type: "object", properties: { b: { $ref: "#/$defs/B" } } },
      B: { type: "object", properties: { a: { $ref: "#/$defs/A" } } },
    }
    const specs = ["c", "a", "b"].flatMap((name) => [
      output(name, { $ref: "#/$defs/A", $defs }),
      output(name, { $ref: "#/$defs/B", $defs }, { namespace: "other" }),
    ])
    const written = typesOf(specs)
    expect(typesOf(specs.toReversed())).toBe(written)
    expect(typesOf(JSON.parse(JSON.stringify(specs)) as OperationSpec[])).toBe(written)
    expect(written.match(/type A = /g)).toHaveLength(2)
  })

  test("keeps the first of two operations with one id", () => {
    const written = typesOf([output("a", text), output("a", { type: "number" })])
    expect(written).toContain("output: string")
    expect(written).not.toContain("output: number")
  })

  test("distinguishes definitions of the same name by their content", () => {
    const holder = (inner: object): object => ({
      $ref: "#/$defs/Holder",
      $defs: {
        Holder: { type: "object", properties: { inner: { $ref: "#/$defs/Inner" } } },
        Inner: inner,
      },
    })
    const written = typesOf([
      output("a", holder(text)),
      output("b", holder({ type: "number" })),
      output("c", holder(text)),
    ])
    expect(declarationsOf(written)).toBe(`type Holder = { inner?: Inner | undefined }

type Holder_2 = { inner?: Inner_2 | undefined }

type Inner = string

type Inner_2 = number`)
    expect(written.match(/output: Demo\.Holder\n/g)).toHaveLength(2)
  })

  test("reads references of every kind", () => {
    const schema = {
      type: "object",
      properties: {
        self: { $ref: "#" },
        place: { $ref: "#/properties/list/items" },
        anchor: { $ref: "#here" },
        list: { type: "array", items: { type: "object", properties: { x: text } } },
        any: { $ref: "#/$defs/any" },
        none: { $ref: "#/$defs/none" },
      },
      $defs: { a: { $anchor: "here", type: "number" }, any: true, none: false },
    }
    const written = typesOf([output("a", schema)])
    expect(written).toContain("self?: Demo.AOutput | undefined")
    expect(written).toContain("place?: Demo.List | undefined")
    expect(written).toMatch(/anchor\?: Demo\.\w+ \| undefined/)
    expect(written).toContain("any?: unknown")
    expect(written).toContain("none?: undefined")
  })

  test("reads schemas that never passed a registry", () => {
    const inputSchema = { type: "array", items: [text], additionalItems: false }
    expect(typesOf([specOf({ inputSchema, outputSchema: { $ref: "#/nowhere" } })])).toContain(
      "input: [string?]\n      output: unknown",
    )
  })
})

describe("generateTypes with recursion", () => {
  test("through objects, lists and tuples is kept", async () => {
    const $defs = {
      Tree: {
        type: "object",
        properties: {
          children: { type: "array", items: { $ref: "#/$defs/Tree" } },
          next: { $ref: "#/$defs/Tree" },
        },
      },
      Json: {
        anyOf: [
          { type: ["string", "number", "null"] },
          { type: "array", items: { $ref: "#/$defs/Json" } },
          { type: "object", additionalProperties: { $ref: "#/$defs/Json" } },
        ],
      },
      Pair: {
        type: "array",
        prefixItems: [{ $ref: "#/$defs/Pair" }, { $ref: "#/$defs/Tree" }],
        items: false,
      },
    }
    const written = typesOf(
      Object.keys($defs).map((name) => output(name, { $ref: `#/$defs/${name}`, $defs })),
    )
    expect(written).toContain(
      "type Json = string | number | null | Json[] | { [key: string]: Json }",
    )
    expect(await faultsOf({ "operations.d.ts": written })).toEqual([])
  })

  test("direct self-reference is cut, because the compiler rejects it", async () => {
    const $defs = {
      A: { anyOf: [{ $ref: "#/$defs/B" }, text] },
      B: { allOf: [{ $ref: "#/$defs/A" }, { type: "object", properties: { x: text } }] },
      C: { $ref: "#/$defs/C" },
      D: { anyOf: [{ $ref: "#/$defs/A" }, { type: "null" }] },
    }
    // A registry would not take it: as a hub of somebody else could send it.
    const specs = Object.keys($defs).map((name) =>
      specOf({ name, outputSchema: { $ref: `#/$defs/${name}`, $defs } }),
    )
    expect(await faultsOf({ "operations.d.ts": typesOf(specs) })).toEqual([])
  })

  test("through thousands of definitions does not exhaust the stack", async () => {
    const $defs = Object.fromEntries(
      Array.from({ length: 5000 }, (_, at) => [
        `D${at}`,
        { type: "object", properties: { next: { $ref: `#/$defs/D${(at + 1) % 5000}` } } },
      ]),
    )
    const written = typesOf([specOf({ outputSchema: { $ref: "#/$defs/D0", $defs } })])
    expect(written).toContain("type D4999 = { next?: D0 | undefined }")
    expect(await faultsOf({ "operations.d.ts": written })).toEqual([])
  })

  test("through a long chain of names does not exhaust the stack", () => {
    const $defs = Object.fromEntries(
      Array.from({ length: 5000 }, (_, at) => [
        `D${at}`,
        at === 4999 ? text : { $ref: `#/$defs/D${at + 1}` },
      ]),
    )
    expect(typesOf([specOf({ outputSchema: { $ref: "#/$defs/D0", $defs } })])).toContain(
      "type D0 = D1",
    )
  })

  test("is cut at the maximum depth", () => {
    let deep: Record<string, unknown> = text
    for (let at = 0; at < 5000; at++) deep = { type: "array", items: deep }
    expect(typesOf([specOf({ outputSchema: deep })])).toContain(
      `output: unknown${"[]".repeat(100)}\n`,
    )
  })
})
