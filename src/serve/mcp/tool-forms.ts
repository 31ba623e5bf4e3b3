import { isNoValue } from "../../schema/json.ts"
import type { JsonSchema } from "../../schema/json.ts"
import { decodeFiles } from "../../core/decode-files.ts"
import { encodeValue } from "../../core/envelope-codec.ts"
import { withBase64 } from "../../schema/file-fields.ts"
import {
  plainSchema,
  fromJson,
  asObject,
  movedTo,
  mayBeVoid,
  hasContent,
} from "../../schema/read/plain-schema.ts"

/** How the arguments of a tool map to the input of an operation. */
export interface InputForm {
  readonly schema: JsonSchema
  /** Extracts the operation's input from the arguments. */
  readonly toInput: (args: Readonly<Record<string, unknown>>) => unknown
  /** JSON pointer to the operation's input in the arguments. */
  readonly pointer: string
  /** A note for the model about what the schema no longer expresses. */
  readonly note?: string | undefined
}

/** The output schema, and whether results are wrapped in an object. */
export interface OutputForm {
  readonly schema: JsonSchema
  readonly isWrapped: boolean
}

/**
 * Maximum characters of an output schema that is shown. Some APIs describe results in great detail:
 * such a schema is longer than any result, and clients cannot read a page of them.
 */
const MAX_OUTPUT_SCHEMA = 32_768

/** The input form of an operation: tools take an object. */
export function inputForm(schema: JsonSchema): InputForm {
  if (isNoValue(schema) || schema["type"] === "null") {
    return {
      schema: { type: "object", additionalProperties: false },
      // Some clients always send something, such as a placeholder.
      toInput: () => (schema["type"] === "null" ? null : undefined),
      pointer: "",
    }
  }
  const shown = withBase64(schema)
  const form = plainForm(shown, schema)
  if (shown === schema) return form
  return { ...form, toInput: (args) => decodeFiles(schema, form.toInput(args)) }
}

function plainForm(shown: JsonSchema, schema: JsonSchema): InputForm {
  const plain = plainSchema(shown)
  const object = mayBeVoid(schema) ? undefined : asObject(plain)
  if (object !== undefined) return { schema: object, toInput: (args) => args, pointer: "" }
  return wrappedInput(plain, !mayBeVoid(schema))
}

/** Wraps an input that is not an object as the only property of one. */
export function wrappedInput(schema: JsonSchema, isRequired: boolean): InputForm {
  return {
    schema: {
      type: "object",
      properties: { input: movedTo("/properties/input", schema) },
      ...(isRequired && { required: ["input"] }),
      additionalProperties: false,
    },
    toInput: (args) => (Object.hasOwn(args, "input") ? args["input"] : undefined),
    pointer: "/input",
  }
}

/** The output form of a schema; `undefined` when it is empty or too long. */
export function outputForm(
  schema: JsonSchema,
  isLegacy: boolean,
  maxLength: number = MAX_OUTPUT_SCHEMA,
): OutputForm | undefined {
  if (mayBeVoid(schema) || schema["type"] === "null") return undefined
  const json = JSON.stringify(schema)
  if (json.length > maxLength) return undefined
  const plain = fromJson(json)
  if (!hasContent(plain)) return undefined
  const object = asObject(plain)
  if (object !== undefined) return { schema: object, isWrapped: false }
  if (!isLegacy) return { schema: plain, isWrapped: false }
  return {
    schema: {
      type: "object",
      properties: { result: movedTo("/properties/result", plain) },
      required: ["result"],
    },
    isWrapped: true,
  }
}

/** The JSON of data; `undefined` for values that JSON omits. Throws a `CallError` that names the unsupported place. */
export function jsonOf(data: unknown): string | undefined {
  return JSON.stringify(encodeValue(data).value)
}
