import { createElement } from "react"
import type { ComponentType } from "react"
import { renderToStaticMarkup } from "react-dom/server"
import { describe, expect, it, vi } from "vitest"
import { fieldOf } from "../../../console/src/try/schema/field.ts"
import { startValue } from "../../../console/src/try/schema/initial.ts"
import { createCheck } from "../../../console/src/try/schema/issues.ts"
import type { JsonSchema } from "../../../console/src/try/schema/json.ts"

// It needs the window of a browser.
vi.mock("../../../console/src/read/Markdown.tsx", () => ({
  Markdown: ({ text: shown }: { readonly text: string }) => shown,
}))

// Types of components are checked with the console, whose modules may import styles.
const module: string = "../../../console/src/try/form/SchemaForm.tsx"
const { SchemaForm } = (await import(module)) as {
  readonly SchemaForm: ComponentType<Readonly<Record<string, unknown>>>
}

/** The form of a schema as HTML, with the issues of its value. */
function drawn(schema: JsonSchema, value: unknown = startValue(schema)): string {
  return renderToStaticMarkup(
    createElement(SchemaForm, {
      field: fieldOf(schema),
      value,
      issues: createCheck(schema)(value),
      idPrefix: "f",
      onChange: () => undefined,
    }),
  )
}

/** The form of one optional property. */
function ofProperty(schema: JsonSchema, value?: unknown): string {
  return drawn(
    { type: "object", properties: { a: schema } },
    value === undefined ? {} : { a: value },
  )
}

const text = { type: "string" }

describe("the form", () => {
  it("labels a field with its name or title, its kind and limits", () => {
    const html = ofProperty({ type: "integer", minimum: 1, maximum: 10, title: "Level" })
    expect(html).toContain('<label class="field-label" for="f_a">Level</label>')
    expect(html).toContain("integer, 1 to 10")
    expect(html).toMatch(/<input [^>]*min="1"[^>]*max="10"|<input [^>]*max="10"[^>]*min="1"/)
    expect(ofProperty({ ...text, deprecated: true })).toContain("string, deprecated")
  })

  it("hints at an example, else at the default", () => {
    expect(ofProperty({ ...text, examples: ["Ada"], default: "x" })).toContain(
      'placeholder="e.g. Ada"',
    )
    expect(ofProperty({ ...text, default: "x" })).toContain('placeholder="default x"')
  })

  it("has one line for texts of moderate length, whatever their format", () => {
    expect(ofProperty({ ...text, maxLength: 5000 })).not.toContain("<textarea")
    expect(ofProperty({ ...text, maxLength: 65_536 })).toContain("<textarea")
    expect(ofProperty({ ...text, contentMediaType: "text/markdown" })).toContain("<textarea")
    expect(ofProperty(text, "two\nlines")).toContain("<textarea")
    expect(ofProperty({ ...text, format: "uuid" })).toContain("string, uuid")
    expect(ofProperty({ ...text, format: "made-up" })).toContain('type="text"')
  })

  it.each([
    ["date", "date"],
    ["date-time", "datetime-local"],
    ["time", "time"],
    ["email", "email"],
    ["uri", "url"],
    ["password", "password"],
    ["binary", "file"],
    ["byte", "file"],
  ])("has an input of its own for the format %s", (format, type) => {
    expect(ofProperty({ ...text, format })).toContain(`type="${type}"`)
  })

  it("keeps an invalid moment and an invalid number as text", () => {
    expect(ofProperty({ ...text, format: "date-time" }, "soon")).toMatch(
      /type="text"[^>]*value="soon"/,
    )
    expect(ofProperty({ type: "number" }, "many")).toMatch(/type="text"[^>]*value="many"/)
    expect(ofProperty({ type: "integer" }, 9007199254740993n)).toContain('value="9007199254740993"')
  })

  it("says what is wrong at the field, for programs too", () => {
    const html = drawn({ type: "object", required: ["a"], properties: { a: text } }, {})
    expect(html).toMatch(/<input[^>]* id="f_a"[^>]*aria-describedby="f_a__error"[^>]*>/)
    expect(html).toContain('aria-invalid="true"')
    expect(html).toContain('<ul id="f_a__error"><li class="field-error">is required</li></ul>')
  })

  it("folds optional groups and lists, and opens what is required or given", () => {
    const group = { type: "object", properties: { b: text } }
    const two = drawn({ type: "object", properties: { a: group, z: text } })
    expect(two).toContain("Add a")
    expect(two).not.toContain("f_a_b")
    // The only field of a form, such as an optional body, is open.
    expect(ofProperty(group)).toContain('id="f_a_b"')
    expect(ofProperty(group)).not.toContain('aria-label="Remove a"')
    expect(ofProperty(group, {})).toContain('id="f_a_b"')
    expect(ofProperty(group, {})).toContain('aria-label="Remove a"')
    expect(ofProperty({ type: "array", items: text })).toContain("Add a")
    expect(drawn({ type: "object", required: ["a"], properties: { a: group } })).toContain("f_a_b")
  })

  it("does not show a required constant, unless the value is another", () => {
    const schema = { type: "object", required: ["k"], properties: { k: { const: "cat" } } }
    expect(startValue(schema)).toEqual({ k: "cat" })
    expect(drawn(schema)).not.toContain("<select")
    expect(drawn(schema, { k: "dog" })).toContain("<select")
  })

  it("has a switch for null, and no field while it is on", () => {
    const schema = { type: ["string", "null"] }
    expect(ofProperty(schema)).toContain('aria-label="a is null"')
    expect(ofProperty(schema, null)).not.toContain('id="f_a"')
  })

  it("has a picker for a choice, and the fields of the one that fits", () => {
    const option = (name: string): JsonSchema => ({
      title: name,
      type: "object",
      required: ["kind"],
      properties: { kind: { const: name }, [`of-${name}`]: text },
    })
    const html = ofProperty({ oneOf: [option("x"), option("y")] }, { kind: "y" })
    expect(html).toContain('aria-label="a: one of"')
    expect(html).toContain("of-y")
    expect(html).not.toContain("of-x")
  })

  it("lists values, or searches them if there are many", () => {
    expect(ofProperty({ enum: ["a", 1] })).toMatch(
      /<option[^>]*>a<\/option><option[^>]*>1<\/option>/,
    )
    const many = { enum: Array.from({ length: 300 }, (_, at) => `v${at}`) }
    expect(ofProperty(many, "v29")).toContain("<datalist")
    expect(ofProperty(many, "v29").match(/<option>/g)).toHaveLength(11)
  })

  it("has entries of a map with their keys, and no inherited ones", () => {
    const map = { type: "object", additionalProperties: text }
    const html = ofProperty(map, { constructor: "x" })
    expect(html).toContain('id="f_a_constructor-key"')
    expect(html.match(/map-entry/g)).toHaveLength(1)
  })

  it("draws few of very many fields", () => {
    const wide = Object.fromEntries(Array.from({ length: 5000 }, (_, at) => [`p${at}`, text]))
    const schema = { type: "object", properties: wide }
    expect(drawn(schema, {})).toContain("5000 optional fields")
    expect(drawn(schema, {}).length).toBeLessThan(2000)
    const all = drawn({ ...schema, required: Object.keys(wide) }, {})
    expect(all.match(/<input/g)).toHaveLength(300)
    expect(all).toContain("There are more fields")
  })

  it("ends, however a schema grows", () => {
    const tree = {
      type: "object",
      required: ["l", "r"],
      properties: { l: 0 as unknown, r: 0 as unknown },
    }
    const doubling = {
      $ref: "#/$defs/t",
      $defs: { t: { ...tree, properties: { l: { $ref: "#/$defs/t" }, r: { $ref: "#/$defs/t" } } } },
    }
    expect(drawn(doubling).length).toBeLessThan(500_000)
    expect(JSON.stringify(startValue(doubling)).length).toBeLessThan(20_000)
  })
})
