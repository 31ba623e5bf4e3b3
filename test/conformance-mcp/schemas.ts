// Schemas that the referee wants to see again exactly as they are here.

/** An input schema with the vocabulary of JSON Schema 2020-12. */
export const FORM_OF_2020_12: Readonly<Record<string, unknown>> = {
  $schema: "https://json-schema.org/draft/2020-12/schema",
  type: "object",
  $defs: {
    address: {
      $anchor: "addressDef",
      type: "object",
      properties: { street: { type: "string" }, city: { type: "string" } },
    },
  },
  properties: {
    name: { type: "string" },
    address: { $ref: "#/$defs/address" },
    contactMethod: { type: "string", enum: ["phone", "email"] },
    phone: { type: "string" },
    email: { type: "string" },
  },
  allOf: [{ anyOf: [{ required: ["phone"] }, { required: ["email"] }] }],
  if: { properties: { contactMethod: { const: "phone" } }, required: ["contactMethod"] },
  then: { required: ["phone"] },
  else: { required: ["email"] },
  additionalProperties: false,
}

/** A form with a default for every kind of field. */
export const EVERY_DEFAULT_FORM: Readonly<Record<string, unknown>> = {
  type: "object",
  properties: {
    name: { type: "string", default: "John Doe" },
    age: { type: "integer", default: 30 },
    score: { type: "number", default: 95.5 },
    status: { type: "string", enum: ["active", "inactive", "pending"], default: "active" },
    verified: { type: "boolean", default: true },
  },
  required: [],
}

const VALUES = ["option1", "option2", "option3"]
const TITLED = [
  { const: "value1", title: "First Option" },
  { const: "value2", title: "Second Option" },
  { const: "value3", title: "Third Option" },
]

/** A form with every way to say an enumeration. */
export const ENUMS_FORM: Readonly<Record<string, unknown>> = {
  type: "object",
  properties: {
    untitledSingle: { type: "string", enum: VALUES },
    titledSingle: { type: "string", oneOf: TITLED },
    legacyEnum: {
      type: "string",
      enum: ["opt1", "opt2", "opt3"],
      enumNames: ["Option One", "Option Two", "Option Three"],
    },
    untitledMulti: { type: "array", items: { type: "string", enum: VALUES } },
    titledMulti: { type: "array", items: { anyOf: TITLED } },
  },
  required: [],
}
