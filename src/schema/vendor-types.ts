// Types of other libraries that JSON does not have. Files: `z.file()`, `z.instanceof(File)`, `v.file()`, `v.blob()`,
// `type("File")`. No value: `z.void()`, `v.undefined()`, `type("undefined")`.

import { FILE_MARK } from "./files.ts"
import { isRecord } from "../internal/guards.ts"
import { listOf, NO_VALUE, type JsonSchema, mayBeVoid } from "./json.ts"
import { mayHaveFiles } from "./mentions.ts"
import { mapSchemas } from "./keywords.ts"

/** The schema of a `File` of the platform, which is in memory. */
export const FILE: JsonSchema = { format: "binary", "x-operation-file": "file" }

/** Whether a class is that of files. */
export function isFileClass(value: unknown): boolean {
  const { File, Blob } = globalThis as { readonly File?: unknown; readonly Blob?: unknown }
  return value !== undefined && (value === File || value === Blob)
}

/** The part of a Zod schema that says which of these types it is. */
interface ZodNode {
  readonly _zod?: {
    readonly def?: { readonly type?: unknown }
    readonly bag?: { readonly Class?: unknown }
    readonly optout?: unknown
    readonly parent?: ZodNode | undefined
  }
}

interface ZodPlace {
  readonly zodSchema: ZodNode
  readonly jsonSchema: Record<string, unknown>
}

/** Converts a schema of Zod with options of its own. */
export function convertZod(convert: (libraryOptions: object) => unknown): unknown {
  try {
    return convert({ override: markZodType })
  } catch (thrown) {
    // These types have no form of their own. Versions of Zod that do not ask about them keep their error.
    let isAsked = false
    const unrepresentable = ({ zodSchema }: ZodPlace): string => {
      isAsked = true
      return isZodFile(zodSchema) || isNothing(zodSchema._zod?.def?.type) ? "any" : "throw"
    }
    const json = convert({ override: markZodType, unrepresentable })
    if (!isAsked) throw thrown
    return json
  }
}

/** Keywords of the text as which Zod describes a file. Its length is not that of the base64 text in JSON. */
const OF_TEXT = ["type", "contentEncoding", "minLength", "maxLength", "anyOf", "not"]

/** Describes a type of Zod that JSON does not have; for its option `override`. */
export function markZodType({ zodSchema, jsonSchema }: ZodPlace): void {
  if (isNothing(zodSchema._zod?.def?.type)) Object.assign(jsonSchema, NO_VALUE)
  if (!isZodFile(zodSchema)) return
  for (const keyword of OF_TEXT) delete jsonSchema[keyword]
  Object.assign(jsonSchema, FILE)
}

/** Whether a type has no value, by its name in Zod and Valibot. */
export function isNothing(name: unknown): boolean {
  return name === "void" || name === "undefined"
}

/** A schema of which members that may have no value are not required, and the whole neither if it is optional. */
export function withAbsence(json: JsonSchema, isOptional: boolean): JsonSchema {
  const members = isMentioned(json) ? mapSchemas(json, withoutVoid) : json
  if (!isOptional || mayBeVoid(members)) return members
  const { $schema, $defs, ...present } = members
  return {
    ...($schema !== undefined && { $schema }),
    ...($defs !== undefined && { $defs }),
    anyOf: [present, NO_VALUE],
  }
}

/** Whether the result of a schema may be `undefined`, as far as Zod and Valibot say so. */
export function isOptionalResult(schema: unknown): boolean {
  if (!isRecord(schema)) return false
  const { _zod: zod, type } = schema as { readonly type?: unknown } & ZodNode
  return zod === undefined ? OPTIONAL.has(type) : zod.optout === "optional"
}

const OPTIONAL: ReadonlySet<unknown> = new Set(["optional", "nullish", "undefinedable"])

function isMentioned(json: JsonSchema): boolean {
  return JSON.stringify(json).includes(`"not":${JSON.stringify(NO_VALUE["not"])}`)
}

function withoutVoid(node: JsonSchema): JsonSchema {
  const { required, properties } = node
  if (!isRecord(properties)) return node
  const isNeeded = (name: unknown): boolean => {
    const member = properties[String(name)]
    return !(isRecord(member) && mayBeVoid(member))
  }
  return { ...node, required: listOf(required).filter(isNeeded) }
}

function isZodFile(schema: ZodNode): boolean {
  // A schema with further checks has the one without them as its parent.
  for (let one = schema._zod; one !== undefined; one = one.parent?._zod) {
    if (one.def?.type === "file" || isFileClass(one.bag?.Class)) return true
  }
  return false
}

/** The options of ArkType; other types are described as far as possible, as without them. */
export const ARKTYPE_OPTIONS: object = {
  fallback: {
    proto: ({ base, proto }: { readonly base: object; readonly proto?: unknown }): object =>
      isFileClass(proto) ? { ...base, ...FILE } : base,
    unit: ({ base, unit }: { readonly base: object; readonly unit?: unknown }): object =>
      unit === undefined ? { ...base, ...NO_VALUE } : base,
  },
}

/** Whether a schema has a file that must be a `File` of the platform. */
export function hasPlatformFiles(schema: JsonSchema): boolean {
  return mayHaveFiles(schema) && JSON.stringify(schema).includes(`"${FILE_MARK}":"file"`)
}
