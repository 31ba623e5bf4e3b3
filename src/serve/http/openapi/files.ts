import { FILE_MARK } from "../../../schema/files.ts"
import { fileFieldsOf, withBase64 } from "../../../schema/file-fields.ts"
import type { FileField, FileFields } from "../../../schema/file-fields.ts"
import type { JsonSchema } from "../../../schema/json.ts"
import { mapSchemas } from "../../../schema/read/plain-schema.ts"
import type { JsonObject } from "./model.ts"

const ANY_BYTES = "application/octet-stream"

/** The files of an input that is sent as a form or a file; base64 text alone is sent as JSON. */
export function sentFiles(schema: JsonSchema): FileFields | undefined {
  const fields = fileFieldsOf(schema)
  if (fields === undefined || fields.inside || fields.whole?.kind === "text") return undefined
  const isSent = fields.whole ?? [...fields.properties.values()].find(isSentAsFile)
  return isSent === undefined ? undefined : fields
}

/** The content of a body with files: a form, or the file itself. */
export function fileContent(
  { whole, properties }: FileFields,
  schema: JsonObject,
  extra: JsonObject | undefined,
): JsonObject {
  if (whole !== undefined) return { [whole.mediaType ?? ANY_BYTES]: { schema } }
  const typed = [...properties].flatMap(([name, { mediaType }]) =>
    mediaType === undefined ? [] : [[name, { contentType: mediaType }] as const],
  )
  const encoding = typed.length === 0 ? undefined : { encoding: Object.fromEntries(typed) }
  return { "multipart/form-data": { schema, ...encoding, ...extra } }
}

/** The file that a result is. */
export function fileResult(schema: JsonSchema): FileField | undefined {
  const whole = fileFieldsOf(schema)?.whole
  return whole !== undefined && isSentAsFile(whole) ? whole : undefined
}

/** The schema of a body with files: what is binary is `type: string` here, as tools expect, and base64 text in JSON. */
export function writtenSchema(schema: JsonSchema, isJson: boolean): JsonSchema {
  // Most schemas have no files, and are shared by many operations.
  if (withBase64(schema) === schema) return schema
  return mapSchemas(schema, (node) => {
    const isBinary = node[FILE_MARK] !== undefined || node["format"] === "binary"
    if (!isBinary || node["type"] !== undefined) return node
    const { contentEncoding: _, ...rest } = node
    return { type: "string", ...rest, ...(isJson && { contentEncoding: "base64" }) }
  })
}

function isSentAsFile({ kind }: FileField): boolean {
  return kind !== "text"
}
