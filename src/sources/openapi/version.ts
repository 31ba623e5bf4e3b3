import { CallError } from "../../core/errors.ts"
import { quote, typeName } from "../../internal/describe.ts"

/** The version of the specification that a document follows. */
export type OpenAPIFamily = "2.0" | "3.0" | "3.1" | "3.2"

export interface OpenAPIVersion {
  readonly family: OpenAPIFamily
  /** Set if the version is not declared exactly. */
  readonly warning?: string | undefined
}

const OTHERS: readonly (readonly [string, string])[] = [
  ["swaggerVersion", "a Swagger 1 document; convert it to OpenAPI 3 first"],
  ["asyncapi", "an AsyncAPI document"],
  ["arazzo", "an Arazzo document; give the OpenAPI document that it describes the use of"],
  ["overlay", "an OpenAPI overlay; give the document that it is made for"],
  ["$schema", "a JSON Schema"],
  ["item", "a Postman collection; export it as OpenAPI first"],
  ["__schema", "a GraphQL schema"],
]

/** Determines the OpenAPI version of a document; throws if it is not an OpenAPI document. */
export function checkIsOpenAPI(document: unknown, what = "The OpenAPI document"): OpenAPIVersion {
  if (typeof document !== "object" || document === null || Array.isArray(document)) {
    throw wrong(
      `${what} must be an object with "openapi" or "swagger"; it is ${typeName(document)}.`,
    )
  }
  const fields = document as Record<string, unknown>
  const openapi = own(fields, "openapi")
  const swagger = own(fields, "swagger")
  if (openapi !== undefined) return openapiVersion(openapi, what)
  if (swagger !== undefined) return swaggerVersion(swagger, what)
  const other = OTHERS.find(([key]) => Object.hasOwn(fields, key))
  throw wrong(
    other === undefined
      ? `${what} has neither "openapi" (such as "3.1.0") nor "swagger" ("2.0"), so it is no OpenAPI document.`
      : `${what} is ${other[1]}: it has "${other[0]}", but neither "openapi" nor "swagger".`,
  )
}

function openapiVersion(declared: unknown, what: string): OpenAPIVersion {
  const text = versionText(declared)
  const [, major, minor] = /^v?(\d+)(?:\.(\d+))?(?![\d])/.exec(text) ?? []
  if (major !== "3") {
    throw wrong(
      `${what} has "openapi": ${quote(declared)}. Versions 3.0, 3.1 and 3.2 are understood, and "swagger": "2.0".`,
    )
  }
  switch (minor) {
    case "0":
    case "1":
    case "2":
      return { family: `3.${minor}` }
    case undefined:
      return {
        family: "3.0",
        warning: `${what} has "openapi": ${quote(declared)}; it is read as 3.0.`,
      }
    default:
      return {
        family: "3.2",
        warning: `${what} is of OpenAPI ${quote(declared)}, which is newer than 3.2; it is read as 3.2.`,
      }
  }
}

function swaggerVersion(declared: unknown, what: string): OpenAPIVersion {
  const text = versionText(declared)
  if (/^2(?:\.0)*$/.test(text)) return { family: "2.0" }
  throw wrong(
    `${what} has "swagger": ${quote(declared)}; only "2.0" is understood. Later versions are declared with "openapi".`,
  )
}

// YAML parses `openapi: 3.1` as a number, and `3.10` as the same number.
function versionText(declared: unknown): string {
  if (typeof declared === "number" && Number.isInteger(declared)) return `${declared}.0`
  return typeof declared === "number" || typeof declared === "string" ? String(declared).trim() : ""
}

function own(fields: Record<string, unknown>, key: string): unknown {
  return Object.hasOwn(fields, key) ? fields[key] : undefined
}

function wrong(message: string): CallError {
  return new CallError("VALIDATION_ERROR", message)
}
