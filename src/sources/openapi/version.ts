import { CallError } from "../../core/errors.ts"
import type { CallErrorOptions } from "../../core/errors.ts"
import { quote, typeName } from "../../internal/message-text.ts"
import { isRecord } from "../../internal/guards.ts"
import { getOwn } from "../../schema/json.ts"

const OTHERS: readonly (readonly [string, string])[] = [
  ["swaggerVersion", "a Swagger 1 document; convert it to OpenAPI 3 first"],
  ["asyncapi", "an AsyncAPI document"],
  ["arazzo", "an Arazzo document; pass the OpenAPI document that it describes the use of"],
  ["overlay", "an OpenAPI overlay; pass the document that it is made for"],
  ["$schema", "a JSON Schema"],
  ["item", "a Postman collection; export it as OpenAPI first"],
  ["__schema", "a GraphQL schema"],
]

/**
 * Checks that a document is OpenAPI in a supported version, and throws if it is not. Returns a warning if the version
 * is not declared exactly.
 */
export function checkIsOpenAPI(document: unknown, what: string): string | undefined {
  if (!isRecord(document)) {
    throw invalidDocument(
      `${what} must be an object with "openapi" or "swagger"; it is ${typeName(document)}.`,
    )
  }
  const openapi = getOwn(document, "openapi")
  const swagger = getOwn(document, "swagger")
  if (openapi !== undefined) return checkOpenAPI(openapi, what)
  if (swagger !== undefined) return checkSwagger(swagger, what)
  const other = OTHERS.find(([key]) => Object.hasOwn(document, key))
  throw invalidDocument(
    other === undefined
      ? `${what} has neither "openapi" (such as "3.1.0") nor "swagger" ("2.0"), so it is not an OpenAPI document.`
      : `${what} is ${other[1]}: it has "${other[0]}", but neither "openapi" nor "swagger".`,
  )
}

function checkOpenAPI(declared: unknown, what: string): string | undefined {
  const text = versionText(declared)
  const [, major, minor] = /^v?(\d+)(?:\.(\d+))?(?![\d])/.exec(text) ?? []
  if (major !== "3") {
    throw invalidDocument(
      `${what} has "openapi": ${quote(declared)}. Versions 3.0, 3.1 and 3.2 are supported, and "swagger": "2.0".`,
    )
  }
  if (minor === undefined) return `${what} has "openapi": ${quote(declared)}; it is read as 3.0.`
  if (["0", "1", "2"].includes(minor)) return undefined
  return `${what} is of OpenAPI ${quote(declared)}, which is newer than 3.2; it is read as 3.2.`
}

function checkSwagger(declared: unknown, what: string): undefined {
  if (/^2(?:\.0)*$/.test(versionText(declared))) return undefined
  throw invalidDocument(
    `${what} has "swagger": ${quote(declared)}; only "2.0" is supported. Later versions are declared with "openapi".`,
  )
}

// YAML parses `openapi: 3.1` as a number, and `3.10` as the same number.
function versionText(declared: unknown): string {
  if (typeof declared === "number" && Number.isInteger(declared)) return `${declared}.0`
  return typeof declared === "number" || typeof declared === "string" ? String(declared).trim() : ""
}

/** The error for a document that cannot be imported. */
export function invalidDocument(message: string, options?: CallErrorOptions): CallError {
  return new CallError("VALIDATION_ERROR", message, options)
}
