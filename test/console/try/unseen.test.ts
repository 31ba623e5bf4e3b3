import { expect, test } from "vitest"
import { toPointer } from "../../../console/src/try/schema/pointer.ts"
import { toFormSchema } from "../../../console/src/try/schema/to-form.ts"
import { unseenIn } from "../../../console/src/try/schema/unseen.ts"

const text = { type: "string" }
const closed = { type: "object", properties: { a: text } }
const shape = {
  oneOf: [
    { type: "object", properties: { kind: { const: "circle" }, radius: { type: "number" } } },
    { type: "object", properties: { kind: { const: "square" }, side: { type: "number" } } },
  ],
}
const tuple = { type: "array", prefixItems: [text, closed], items: false }

test.each([
  ["drawn", closed, { a: "x" }, []],
  ["undeclared", closed, { a: "x", b: { c: 1 } }, ["/b"]],
  ["inside a text field", closed, { a: { b: 1 } }, ["/a/b"]],
  ["read-only", { properties: { a: { ...text, readOnly: true } } }, { a: "x" }, ["/a"]],
  [
    "nested",
    { properties: { list: { type: "array", items: closed } } },
    { list: [{ b: 1 }] },
    ["/list/0/b"],
  ],
  ["of a tuple", { properties: { t: tuple } }, { t: ["x", { b: 1 }, 3] }, ["/t/1/b", "/t/2"]],
  [
    "of a map",
    { type: "object", additionalProperties: closed },
    { any: { a: "x", b: 1 } },
    ["/any/b"],
  ],
  ["of any value", { properties: { any: {} } }, { any: { b: 1 } }, []],
  ["of the chosen option", { properties: { shape } }, { shape: { kind: "square", side: 2 } }, []],
  [
    "of another option",
    { properties: { shape } },
    { shape: { kind: "square", side: 2, radius: 1 } },
    ["/shape/radius"],
  ],
  [
    "of a condition",
    { ...closed, if: { required: ["a"] }, then: { properties: { b: text } } },
    { a: "x", b: "y", c: 1 },
    ["/c"],
  ],
  ["of a fixed value", { properties: { k: { const: 1 } } }, { k: 2 }, ["/k"]],
])("fields %s are named if the form does not draw them", (_kind, schema, value, expected) => {
  const { schema: form } = toFormSchema(schema)
  expect(unseenIn(form, value).map(toPointer)).toEqual(expected)
})
