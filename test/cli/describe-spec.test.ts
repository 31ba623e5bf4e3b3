import { expect, test } from "vitest"
import { describeSpec } from "../../src/cli/describe-spec.ts"
import type { AppliedPolicy } from "../../src/core/policy-state.ts"
import type { OperationSpec } from "../../src/core/types.ts"
import { testIO } from "./support/run.ts"

function described(
  spec: object,
  columns?: number,
  policies: readonly AppliedPolicy[] = [],
): string {
  const whole = {
    namespace: "shop",
    name: "order",
    version: "1.0.0",
    type: "mutation",
    description: "",
    inputSchema: {},
    outputSchema: {},
    accessControl: { requiredScopes: [] },
    ...spec,
  } as unknown as OperationSpec
  return describeSpec(whole, policies, testIO({ columns, env: { NO_COLOR: "1" } }))
}

test("what is not said takes no room", () => {
  expect(described({})).toBe(
    [
      "shop.order  mutation, version 1.0.0",
      "Input:\n  anything",
      "Output:\n  anything",
      "Example:\n  operations call shop.order",
    ].join("\n\n"),
  )
})

test("every mark of an operation stands beside its name", () => {
  const annotations = { readOnly: true, destructive: true, idempotent: true }
  expect(described({ annotations, deprecated: true })).toContain(
    "mutation, version 1.0.0, deprecated, declared read-only, destructive, idempotent\n",
  )
})

test("the dates and the successor of a deprecated operation follow its description", () => {
  const deprecation = { since: "2026-03-01", replacedBy: "shop.buy" }
  expect(described({ description: "Orders.", deprecated: true, deprecation })).toContain(
    'Orders.\nDeprecated since 2026-03-01. Use "shop.buy" instead.\n',
  )
})

test("a query is read-only and idempotent without saying so", () => {
  const annotations = { readOnly: true, idempotent: true }
  expect(described({ type: "query", annotations })).toContain("  query, version 1.0.0\n")
})

test("a title equal to the description is printed once", () => {
  const text = described({ title: " Orders ", description: "Orders" })
  expect(text.split("Orders")).toHaveLength(2)
})

test("a terminal obeys nothing in a description or a version", () => {
  const text = described({ description: "a\u001B[2Jb", version: "1\u0007" })
  expect(text).toContain("a\\u001b[2Jb")
  expect(text).toContain("version 1\\u0007")
})

test("scopes and resources are said under what it needs", () => {
  const text = described({
    accessControl: {
      requiredScopes: ["a", "b"],
      requiredScopesAny: ["c", "d"],
      resourceType: "order",
      resourceAction: "write",
    },
  })
  expect(text).toContain("Needs:\n  all of: a, b\n  one of: c, d\n  write on order\n")
  const bare = described({ accessControl: { requiredScopes: [], resourceType: "order" } })
  expect(bare).toContain("Needs:\n  access on order\n")
})

test("a table has all of its text, broken between words on a terminal", () => {
  const errorSchemas = [
    { code: "GONE", description: "It is no longer there. ".repeat(3), schema: {} },
    { code: "X", description: "Short", schema: {} },
  ]
  expect(described({ errorSchemas })).toContain("  X     Short")
  expect(described({ errorSchemas }, 50)).toContain(
    [
      "Errors:",
      "  GONE  It is no longer there. It is no longer",
      "        there. It is no longer there.",
      "  X     Short",
    ].join("\n"),
  )
  // Where there is no room beside the first column, the text stands below it.
  expect(described({ errorSchemas }, 25)).toContain(
    "  GONE\n      It is no longer\n      there. It is no\n",
  )
})

test("a description is broken between words, wide characters included", () => {
  const description = "Orders 日本語の説明文はここにあります and more"
  expect(described({ description }, 24)).toContain(
    "Orders 日本語の説明文は\nここにあります and more\n",
  )
})

test("HTML is shown as plain text, in the description and in those of inputs", () => {
  const inputSchema = {
    type: "object",
    properties: { id: { type: "string", description: "<p>The <code>id</code></p>" } },
  }
  const shown = described({ description: "<p>Makes a <b>refund</b>.</p>", inputSchema })
  expect(shown).toContain("Makes a refund.\n")
  expect(shown).toMatch(/id\? +string +The id$/m)
  expect(shown).not.toContain("<")
})

test("all choices of an input are listed", () => {
  const reasons = ["duplicate", "fraudulent", "requested_by_customer"]
  const inputSchema = {
    type: "object",
    properties: { reason: { enum: reasons, description: "Why" } },
  }
  const shown = described({ inputSchema }, 80).split("Example:")[0]
  expect(shown).toContain('reason?    "duplicate" | "fraudulent" | "requested_by_customer" Why\n')
})

test("an object without properties takes nothing", () => {
  expect(described({ inputSchema: { type: "object" } })).toContain("Input:\n  nothing\n")
  expect(described({ outputSchema: { type: "object" } })).toContain("Output:\n  object\n")
})

test("the example gives what is required, and of objects what is inside", () => {
  const inputSchema = {
    type: "object",
    required: ["tags", "body", "plain", "odd name"],
    properties: {
      tags: { type: "array", items: { type: "string" } },
      body: {
        type: "object",
        required: ["title"],
        properties: { title: { type: "string" }, note: { type: "string" } },
      },
      plain: { type: "object", properties: { x: { type: "string" } } },
      "odd name": { type: "string" },
      maybe: { type: "string", description: "Not needed" },
    },
  }
  const text = described({ inputSchema }, 80)
  expect(text.replaceAll(/\s+/g, " ")).toContain(
    `call shop.order --input '{"tags":[],"body":{"title":"example"},"plain":{},"odd name":"example"}'`,
  )
  expect(text).toContain("  maybe?")
  const { "odd name": _odd, ...properties } = inputSchema.properties
  const usual = { ...inputSchema, properties, required: ["body"] }
  expect(described({ inputSchema: usual }, 80)).toContain("call shop.order body.title=example")
})

test("an example of the operation is quoted for a shell", () => {
  const examples = [{ input: { note: "it's" } }]
  expect(described({ examples })).toContain(`call shop.order --input '{"note":"it'\\''s"}'`)
  expect(described({ examples: [{ note: "n", input: 3 }] })).toContain(
    `--input '{"note":"n","input":3}'`,
  )
  expect(described({ examples: ["text"], type: "subscription" })).toContain(
    "Example:\n  operations watch shop.order",
  )
})

test("properties of an output are listed", () => {
  const outputSchema = { type: "object", properties: { id: { type: "integer" } } }
  expect(described({ outputSchema })).toContain("Output:\n  id?  integer")
})

test("policies are named with their settings and the place where they were set", () => {
  const policies: readonly AppliedPolicy[] = [
    { policy: "retry", from: 'pattern "shop.*"', settings: { attempts: 3, delay: 10 } },
    { policy: "invalidates", from: "definition", settings: ["shop.list", "shop.\u001Bget"] },
    { policy: "fallback", from: "definition", settings: "custom" },
    { policy: "breaker", from: 'source "shop"', settings: {} },
  ]
  expect(described({}, undefined, policies)).toContain(
    [
      "Policies:",
      '  retry        attempts 3, delay 10       pattern "shop.*"',
      "  invalidates  shop.list, shop.\\u001bget  definition",
      "  fallback     custom                     definition",
      '  breaker                                 source "shop"',
    ].join("\n"),
  )
})
