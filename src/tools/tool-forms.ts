import type { Clock } from "../internal/platform.ts"
import { isRecord } from "../internal/guards.ts"
import type { EnvelopeStream } from "../core/infer.ts"
import type { ProgressUpdate } from "../core/types.ts"
import { encodeResult } from "../core/unread-file.ts"
import { invalid, type ValueError } from "../core/validation.ts"
import { isNoValue, type JsonSchema, mayBeVoid } from "../schema/json.ts"
import { decodeFiles } from "../core/decode-files.ts"
import { encodeValue } from "../core/envelope-codec.ts"
import { withBase64 } from "../schema/file-fields.ts"
import {
  plainSchema,
  fromJson,
  asObject,
  movedTo,
  hasContent,
} from "../schema/read/plain-schema.ts"
import type { StreamLimits } from "./options.ts"

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
function wrappedInput(schema: JsonSchema, isRequired: boolean): InputForm {
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

/** The form of a subscription as a tool that collects items. */
export interface StreamForm {
  readonly input: InputForm
  /** Names of the inputs that limit the collection. */
  readonly limitName: string
  readonly timeoutName: string
  /** Reads the limits from arguments. Throws `VALIDATION_ERROR`. */
  bounds(args: Readonly<Record<string, unknown>>, id: string): StreamBounds
}

export interface StreamBounds {
  readonly limit: number
  readonly timeoutMs: number
}

/** Collected items of a stream. */
export interface Collected {
  /** JSON of each item. */
  readonly items: readonly string[]
  /** The stream ended by itself. */
  readonly isComplete: boolean
  /** Why the stream failed, if it did. */
  readonly error?: unknown
}

/** Adds the limits to the inputs of the operation, under names that it does not use. */
export function streamForm(own: InputForm, limits: StreamLimits): StreamForm {
  const { schema, toInput, pointer } = isExtensible(own.schema) ? own : wrapped(own)
  const properties = isRecord(schema["properties"]) ? schema["properties"] : {}
  const limitName = freeName("limit", properties)
  const timeoutName = freeName("timeoutMs", properties)
  return {
    input: {
      schema: {
        ...schema,
        properties: {
          ...properties,
          [limitName]: {
            type: "integer",
            minimum: 1,
            maximum: finite(limits.maxLimit),
            default: finite(limits.limit),
            description: "Stop after this many items.",
          },
          [timeoutName]: {
            type: "integer",
            minimum: 1,
            maximum: finite(limits.maxTimeoutMs),
            default: finite(limits.timeoutMs),
            description: "Stop after this many milliseconds.",
          },
        },
      },
      toInput: ({ [limitName]: _limit, [timeoutName]: _timeout, ...args }) => toInput(args),
      pointer,
      note: own.note,
    },
    limitName,
    timeoutName,
    bounds: (args, id) => {
      const issues: ValueError[] = []
      const limit = bound(args, limitName, limits.limit, limits.maxLimit, issues)
      const timeoutMs = bound(args, timeoutName, limits.timeoutMs, limits.maxTimeoutMs, issues)
      if (issues.length > 0) throw invalid("VALIDATION_ERROR", `Input for "${id}"`, issues)
      return { limit, timeoutMs }
    },
  }
}

/** Reads a stream until it ends or a limit is reached, and closes it. */
export async function collect(
  stream: EnvelopeStream,
  { limit, timeoutMs }: StreamBounds,
  most: number,
  progress: ((value: ProgressUpdate) => void) | undefined,
  clock: Clock,
): Promise<Collected> {
  const items: string[] = []
  let size = 0
  let timer: unknown
  const late = new Promise<"late">((resolve) => {
    if (Number.isFinite(timeoutMs)) timer = clock.setTimeout(() => resolve("late"), timeoutMs)
  })
  try {
    while (items.length < limit) {
      const next = stream.next()
      const result = await Promise.race([next, late])
      if (result === "late") {
        next.catch(() => undefined)
        return { items, isComplete: false }
      }
      if (result.done === true) return { items, isComplete: true }
      const item = (await encodeResult(() => jsonOf(result.value.data))) ?? "null"
      size += item.length
      // More items would be too large to send.
      if (size > most && items.length > 0) return { items, isComplete: false }
      items.push(item)
      progress?.({
        progress: items.length,
        ...(Number.isFinite(limit) && { total: limit }),
      })
    }
    return { items, isComplete: false }
  } catch (error) {
    return { items, isComplete: false, error }
  } finally {
    // We wait for a slow source to stop only until the timeout.
    await Promise.race([stream.return().catch(() => undefined), late])
    clock.clearTimeout(timer)
  }
}

/** The output form of collected items: the items, and whether the stream ended. */
export function itemsOutput(item: JsonSchema): OutputForm {
  const form = outputForm(item, false)
  return {
    schema: {
      type: "object",
      properties: {
        items: {
          type: "array",
          ...(form !== undefined && { items: movedTo("/properties/items/items", form.schema) }),
        },
        isComplete: { type: "boolean", description: "The stream ended by itself." },
      },
      required: ["items", "isComplete"],
    },
    isWrapped: false,
  }
}

function wrapped(form: InputForm): InputForm {
  if (form.pointer !== "") return form
  const inner = wrappedInput(plainSchema(form.schema), true)
  return { ...inner, note: form.note }
}

/** Whether a property can be added to a schema: no other root keyword restricts properties. */
export function isExtensible(schema: JsonSchema): boolean {
  return !["$ref", "$dynamicRef", "allOf", "anyOf", "oneOf", "not", "if", "propertyNames"].some(
    (keyword) => keyword in schema,
  )
}

function freeName(name: string, properties: Readonly<Record<string, unknown>>): string {
  return Object.hasOwn(properties, name) ? freeName(`_${name}`, properties) : name
}

function bound(
  args: Readonly<Record<string, unknown>>,
  name: string,
  fallback: number,
  most: number,
  issues: ValueError[],
): number {
  const value = Object.hasOwn(args, name) ? args[name] : undefined
  if (value === undefined || value === null) return fallback
  if (typeof value !== "number" || !Number.isInteger(value) || value < 1) {
    issues.push({ path: `/${name}`, message: "must be a whole number, at least 1" })
    return fallback
  }
  return Math.min(value, most)
}

function finite(value: number): number | undefined {
  return Number.isFinite(value) ? value : undefined
}
