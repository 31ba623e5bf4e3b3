import { isPlainRecord } from "../../schema/json.ts"
import type { OpenAPIDocument } from "../document.ts"
import type { RawOperation } from "./list.ts"
import { meantType, mediaClass } from "./media.ts"
import { isSuccess } from "./responses.ts"

/**
 * The reference that describes every success of an operation, where each is JSON and described by that
 * reference alone.
 *
 * Most operations are like that, and all with the same reference have the same result: it need not be read again.
 */
export function plainOutput(
  document: OpenAPIDocument,
  operation: RawOperation,
): string | undefined {
  const { raw, method, file } = operation
  const { responses } = raw
  if (method === "HEAD" || file !== document.entry || !isPlainRecord(responses)) return undefined
  const isLegacy = document.version === "2.0"
  let found: string | undefined
  for (const code in responses) {
    if (code === "$ref" || code === "204" || code === "205") return undefined
    if (!isSuccess(code)) continue
    const response = responses[code]
    if (!isPlainRecord(response) || response["$ref"] !== undefined) return undefined
    const schema = isLegacy ? response["schema"] : jsonSchemaIn(response["content"])
    const ref = onlyRef(schema)
    if (ref === undefined || (found !== undefined && found !== ref)) return undefined
    found = ref
  }
  if (found === undefined || !isLegacy) return found
  return isJsonProduced(raw["produces"] ?? document.root["produces"]) ? found : undefined
}

function jsonSchemaIn(content: unknown): unknown {
  if (!isPlainRecord(content) || content["$ref"] !== undefined) return undefined
  for (const type in content) {
    if (mediaClass(meantType(type)) !== "json") continue
    const media = content[type]
    return isPlainRecord(media) && media["$ref"] === undefined ? media["schema"] : undefined
  }
  return undefined
}

function isJsonProduced(types: unknown): boolean {
  if (!Array.isArray(types)) return types === undefined
  for (let index = 0; index < types.length; index++) {
    const type: unknown = types[index]
    if (typeof type !== "string" || type === "") continue
    if (mediaClass(meantType(type)) === "json") return true
  }
  return false
}

function onlyRef(schema: unknown): string | undefined {
  if (!isPlainRecord(schema)) return undefined
  const ref = schema["$ref"]
  if (typeof ref !== "string") return undefined
  for (const key in schema) if (key !== "$ref") return undefined
  return ref
}
