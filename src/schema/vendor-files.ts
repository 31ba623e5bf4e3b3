// Files in the schemas of other libraries: `z.file()`, `z.instanceof(File)`, `v.file()`, `v.blob()`, `type("File")`.

import { FILE_MARK } from "./files.ts"
import type { JsonSchema } from "./json.ts"
import { mayHaveFiles } from "./mentions.ts"

/** The schema of a `File` of the platform, which is in memory. */
export const FILE: JsonSchema = { format: "binary", "x-operation-file": "file" }

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

/** Keywords of the text as which Zod describes a file. Its length is not that of the base64 text in JSON. */
const OF_TEXT = ["type", "contentEncoding", "minLength", "maxLength", "anyOf", "not"]

/** Describes the file of a Zod schema; for its option `override`. */
export function markZodFile({ zodSchema, jsonSchema }: ZodPlace): void {
  if (!isZodFile(zodSchema)) return
  for (const keyword of OF_TEXT) delete jsonSchema[keyword]
  Object.assign(jsonSchema, FILE)
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
