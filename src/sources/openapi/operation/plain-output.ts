import { isRecord } from "../../../internal/guards.ts"
import type { OpenAPIDocument, Raw } from "../document.ts"
import { onlyRef } from "../schema/lower.ts"
import type { RawOperation } from "./list.ts"
import { correctedType, mediaClass } from "./media.ts"
import { isSuccess } from "./responses.ts"

/** The only success of an operation has no content. */
export const EMPTY: Raw = Object.freeze({})

const RESPONSES = "#/components/responses/"

/** Whether a reference is one to a response instead of a schema. */
export function isResponseRef(ref: string): boolean {
  return ref.startsWith(RESPONSES)
}

/**
 * The single reference that describes every success of an operation: that of the JSON schema, or of the only
 * response. `EMPTY` if there is no content.
 *
 * Most operations have one, and all with the same reference share the same output schema.
 */
export function plainOutput(document: OpenAPIDocument, operation: RawOperation): Raw | undefined {
  const { raw, method, file } = operation
  const { responses } = raw
  if (method === "HEAD" || file !== document.entry || !isRecord(responses)) return undefined
  const isLegacy = document.version === "2.0"
  let output: Raw | undefined
  for (const code in responses) {
    if (code === "$ref") return undefined
    if (!isSuccess(code)) continue
    const plain = plainResponse(code, responses[code], isLegacy)
    if (plain === undefined) return undefined
    // All successes must have the same schema.
    if (output !== undefined && !isSameSchema(output, plain)) return undefined
    output = plain
  }
  if (output === undefined || output === EMPTY || !isLegacy) return output
  return isJsonProduced(raw["produces"] ?? document.root["produces"]) ? output : undefined
}

function plainResponse(code: string, response: unknown, isLegacy: boolean): Raw | undefined {
  if (!isRecord(response)) return undefined
  const isEmpty = code === "204" || code === "205"
  const ref = response["$ref"]
  if (ref !== undefined) {
    const isPlain = !isEmpty && typeof ref === "string" && isResponseRef(ref)
    return isPlain ? response : undefined
  }
  if (isEmpty) return EMPTY
  const schema = isLegacy ? response["schema"] : jsonSchemaIn(response["content"])
  const schemaRef = onlyRef(schema)
  return schemaRef === undefined || isResponseRef(schemaRef) ? undefined : (schema as Raw)
}

function isSameSchema(left: Raw, right: Raw): boolean {
  const ref = left["$ref"]
  return typeof ref === "string" && ref === right["$ref"] && !isResponseRef(ref)
}

function jsonSchemaIn(content: unknown): unknown {
  if (!isRecord(content) || content["$ref"] !== undefined) return undefined
  for (const type in content) {
    if (mediaClass(correctedType(type)) !== "json") continue
    const media = content[type]
    return isRecord(media) && media["$ref"] === undefined ? media["schema"] : undefined
  }
  return undefined
}

function isJsonProduced(types: unknown): boolean {
  if (!Array.isArray(types)) return types === undefined
  for (let index = 0; index < types.length; index++) {
    const type: unknown = types[index]
    if (typeof type !== "string" || type === "") continue
    if (mediaClass(correctedType(type)) === "json") return true
  }
  return false
}
