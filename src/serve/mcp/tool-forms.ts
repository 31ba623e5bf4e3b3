import { isNoValue } from "../../schema/json.ts"
import type { JsonSchema } from "../../schema/json.ts"
import {
  plainSchema,
  fromJson,
  asObject,
  movedTo,
  mayBeVoid,
  hasContent,
} from "../../schema/read/plain-schema.ts"

/** How arguments of a tool become the input of an operation. */
export interface InputForm {
  readonly schema: JsonSchema
  /** The operation's input among the arguments. */
  readonly take: (given: Readonly<Record<string, unknown>>) => unknown
  /** Where the operation's input is among the arguments, as a JSON pointer. */
  readonly pointer: string
  /** What a model has to be told because the schema no longer says it. */
  readonly note?: string | undefined
}

/** What a result is held to, and whether it has to be put into an object. */
export interface OutputForm {
  readonly schema: JsonSchema
  readonly isWrapped: boolean
}

/**
 * Characters of an output schema that is shown. Some APIs describe results with all that they know:
 * such a schema is longer than any result, and a page of them is more than clients can read.
 */
const MAX_OUTPUT_SCHEMA = 32_768

/** The input of an operation as an object, which is what a tool takes. */
export function inputForm(schema: JsonSchema): InputForm {
  if (isNoValue(schema) || schema["type"] === "null") {
    return {
      schema: { type: "object", additionalProperties: false },
      // Some clients cannot send nothing, and send a placeholder.
      take: () => (schema["type"] === "null" ? null : undefined),
      pointer: "",
    }
  }
  const plain = plainSchema(schema)
  const object = mayBeVoid(schema) ? undefined : asObject(plain)
  if (object !== undefined) return { schema: object, take: (given) => given, pointer: "" }
  return wrappedInput(plain, !mayBeVoid(schema))
}

/** An input that is no object, as the only property of one. */
export function wrappedInput(schema: JsonSchema, isRequired: boolean): InputForm {
  return {
    schema: {
      type: "object",
      properties: { input: movedTo("/properties/input", schema) },
      ...(isRequired && { required: ["input"] }),
      additionalProperties: false,
    },
    take: (given) => (Object.hasOwn(given, "input") ? given["input"] : undefined),
    pointer: "/input",
  }
}

/** The schema of a result, `undefined` where it says nothing, or more than is worth sending. */
export function outputForm(
  schema: JsonSchema,
  isLegacy: boolean,
  most: number = MAX_OUTPUT_SCHEMA,
): OutputForm | undefined {
  if (mayBeVoid(schema) || schema["type"] === "null") return undefined
  const json = JSON.stringify(schema)
  if (json.length > most) return undefined
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
