// Files in the schemas of other libraries: `z.file()`, `z.instanceof(File)`, `v.file()`, `v.blob()`, `type("File")`.

import { isRecord } from "../internal/guards.ts"
import { FILE_MARK, isFileLike } from "./files.ts"
import { type JsonSchema, setOwn } from "./json.ts"
import { mapSubschemas } from "./keywords.ts"
import { mayHaveFiles } from "./mentions.ts"

/** What marks the schema of a `File` of the platform, which is in memory. */
export const FILE: Readonly<Record<string, "file">> = { [FILE_MARK]: "file" }

/** Whether a class is that of files. */
export function isFileClass(value: unknown): boolean {
  const { File, Blob } = globalThis as { readonly File?: unknown; readonly Blob?: unknown }
  return value !== undefined && (value === File || value === Blob)
}

/** The part of a Zod schema that says whether it is that of a file. */
interface ZodNode {
  readonly _zod?: {
    readonly def?: { readonly type?: unknown }
    readonly bag?: { readonly Class?: unknown }
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
    return convert({ override: markZodFile })
  } catch (thrown) {
    // `z.instanceof(File)` has no form of its own. Versions of Zod that do not ask about it keep their error.
    let isAsked = false
    const unrepresentable = ({ zodSchema }: ZodPlace): string => {
      isAsked = true
      return isZodFile(zodSchema) ? "any" : "throw"
    }
    const json = convert({ override: markZodFile, unrepresentable })
    if (!isAsked) throw thrown
    return json
  }
}

/** Marks the file of a Zod schema; for its option `override`. */
export function markZodFile({ zodSchema, jsonSchema }: ZodPlace): void {
  if (isZodFile(zodSchema)) Object.assign(jsonSchema, FILE)
}

function isZodFile(schema: ZodNode): boolean {
  // A schema with further checks has the one without them as its parent.
  for (let one = schema._zod; one !== undefined; one = one.parent?._zod) {
    if (one.def?.type === "file" || isFileClass(one.bag?.Class)) return true
  }
  return false
}

/** The options of ArkType; types other than files are described as far as possible, as without them. */
export const ARKTYPE_OPTIONS: object = {
  fallback: {
    proto: ({ base, proto }: { readonly base: object; readonly proto?: unknown }): object =>
      isFileClass(proto) ? { ...base, ...FILE } : base,
  },
}

/** Whether a schema has a file that must be a `File` of the platform. */
export function hasPlatformFiles(schema: JsonSchema): boolean {
  return mayHaveFiles(schema) && JSON.stringify(schema).includes(`"${FILE_MARK}":"file"`)
}

/**
 * A converted schema whose marked parts accept files, and nothing else.
 *
 * Limits of the length of text are left out: they are those of the file, and not of its base64 text in JSON.
 */
export function withFiles(schema: JsonSchema): JsonSchema {
  return mayHaveFiles(schema) ? replaceFiles(schema) : schema
}

function replaceFiles(schema: JsonSchema): JsonSchema {
  if (schema[FILE_MARK] === "file") return fileSchema(schema)
  const out: Record<string, unknown> = {}
  const inner = (value: unknown): unknown => (isRecord(value) ? replaceFiles(value) : value)
  for (const [keyword, value] of Object.entries(schema)) {
    setOwn(out, keyword, mapSubschemas(keyword, value, inner))
  }
  return out
}

/** Keywords of the described text that do not apply to a file. */
const OF_TEXT = new Set(["type", "contentEncoding", "minLength", "maxLength", "anyOf", "not"])

function fileSchema(schema: JsonSchema): JsonSchema {
  const kept = Object.entries(schema).filter(([keyword]) => !OF_TEXT.has(keyword))
  const out = { ...Object.fromEntries(kept), format: "binary" }
  const error = (): string => "must be a file: a File or a Blob, or base64 text in JSON"
  return Object.defineProperty(out, "~refine", { value: [{ check: isFileLike, error }] })
}
