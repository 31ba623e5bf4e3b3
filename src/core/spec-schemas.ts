import type { TSchema } from "typebox"
import type { JsonSchema } from "../schema/json.ts"

// Plain JSON Schema, because TypeBox types would load the whole builder with the core.

/** Names of a namespace: no dot, so that the first dot of an id separates. */
const NAMESPACE_PATTERN = "^[A-Za-z0-9_][A-Za-z0-9_-]*$"
/** Names of an operation; dots are allowed inside. */
const NAME_PATTERN = "^[A-Za-z0-9_][A-Za-z0-9_-]*(?:\\.[A-Za-z0-9_-]+)*$"
/** Semantic versions, loosely: one to three numbers and any suffix. */
const VERSION_PATTERN = "^v?\\d+(?:\\.\\d+){0,3}(?:[-+.][0-9A-Za-z.+-]+)?$"

/** A date, or a date-time with its zone. */
const DATE_PATTERN =
  "^\\d{4}-\\d{2}-\\d{2}(?:T\\d{2}:\\d{2}(?::\\d{2}(?:\\.\\d{1,9})?)?(?:Z|[+-]\\d{2}:\\d{2}))?$"
/** Ids of an operation: a namespace, a dot and a name. */
const ID_PATTERN = "^[A-Za-z0-9_][A-Za-z0-9_-]*\\.[A-Za-z0-9_][A-Za-z0-9_-]*(?:\\.[A-Za-z0-9_-]+)*$"
/** URLs that can be sent in a header as they are. */
const LINK_PATTERN = '^https?://[^\\s<>"\\u0000-\\u0020\\u007f-\\uffff]+$'

const strings = { type: "array", items: { type: "string" } } as const

export const OperationTypeSchema: TSchema & JsonSchema = {
  type: "string",
  enum: ["query", "mutation", "subscription"],
}

export const AccessControlSchema: TSchema & JsonSchema = {
  type: "object",
  properties: {
    requiredScopes: strings,
    requiredScopesAny: strings,
    resourceType: { type: "string", minLength: 1 },
    resourceAction: { type: "string", minLength: 1 },
    resourceIdPath: { type: "string" },
  },
  required: ["requiredScopes"],
  dependentRequired: { resourceAction: ["resourceType"], resourceIdPath: ["resourceType"] },
}

export const IdentitySchema: TSchema & JsonSchema = {
  type: "object",
  properties: {
    id: { type: "string" },
    scopes: strings,
    resources: { type: "object", additionalProperties: strings },
  },
  required: ["id", "scopes"],
}

export const ErrorDefinitionSchema: TSchema & JsonSchema = {
  type: "object",
  properties: {
    code: { type: "string", minLength: 1, maxLength: 128 },
    description: { type: "string" },
    schema: {},
    httpStatus: { type: "integer", minimum: 100, maximum: 599 },
  },
  required: ["code", "description", "schema"],
}

export const OperationAnnotationsSchema: TSchema & JsonSchema = {
  type: "object",
  properties: {
    readOnly: { type: "boolean" },
    destructive: { type: "boolean" },
    idempotent: { type: "boolean" },
    openWorld: { type: "boolean" },
  },
}

export const OperationDeprecationSchema: TSchema & JsonSchema = {
  type: "object",
  properties: {
    since: { type: "string", pattern: DATE_PATTERN },
    sunset: { type: "string", pattern: DATE_PATTERN },
    replacedBy: { type: "string", maxLength: 400, pattern: ID_PATTERN },
    link: { type: "string", maxLength: 2048, pattern: LINK_PATTERN },
  },
}

const RestRouteSchema: TSchema & JsonSchema = {
  type: "object",
  properties: {
    method: { type: "string", enum: ["GET", "POST", "PUT", "PATCH", "DELETE"] },
    path: { type: "string", maxLength: 512 },
    status: { type: "integer", minimum: 200, maximum: 299 },
  },
  required: ["method", "path"],
  additionalProperties: false,
}

const MCPExposureSchema: TSchema & JsonSchema = {
  type: "object",
  properties: {
    as: { type: "string", enum: ["tool", "resource", "prompt"] },
    uri: { type: "string", minLength: 1, maxLength: 8192 },
    meta: { type: "object" },
    icons: {
      type: "array",
      items: {
        type: "object",
        properties: { src: { type: "string", minLength: 1 } },
        required: ["src"],
      },
    },
    complete: {
      type: "object",
      additionalProperties: { type: "string", maxLength: 400, pattern: ID_PATTERN },
    },
    skill: {
      type: "object",
      properties: { frontmatter: { type: "object" }, resources: { type: ["array", "string"] } },
      required: ["frontmatter", "resources"],
      additionalProperties: false,
    },
    annotations: {
      type: "object",
      properties: {
        title: { type: "string" },
        readOnlyHint: { type: "boolean" },
        destructiveHint: { type: "boolean" },
        idempotentHint: { type: "boolean" },
        openWorldHint: { type: "boolean" },
      },
    },
  },
  additionalProperties: false,
}

export const OperationSpecSchema: TSchema & JsonSchema = {
  type: "object",
  properties: {
    name: { type: "string", minLength: 1, maxLength: 256, pattern: NAME_PATTERN },
    namespace: { type: "string", minLength: 1, maxLength: 128, pattern: NAMESPACE_PATTERN },
    version: { type: "string", minLength: 1, maxLength: 128, pattern: VERSION_PATTERN },
    type: OperationTypeSchema,
    title: { type: "string" },
    description: { type: "string" },
    tags: strings,
    inputSchema: { type: ["object", "boolean"] },
    outputSchema: { type: ["object", "boolean"] },
    errorSchemas: { type: "array", items: ErrorDefinitionSchema },
    accessControl: AccessControlSchema,
    visibility: { type: "string", enum: ["external", "internal"] },
    annotations: OperationAnnotationsSchema,
    deprecated: { type: "boolean" },
    deprecation: OperationDeprecationSchema,
    examples: { type: "array" },
    route: RestRouteSchema,
    mcp: MCPExposureSchema,
    _meta: { type: "object" },
  },
  required: [
    "name",
    "namespace",
    "version",
    "type",
    "description",
    "inputSchema",
    "outputSchema",
    "accessControl",
  ],
}

/**
 * The fields of a spec that are set, without a handler or other members. Fields may be lazy, so each is read
 * by name.
 */
export function specFields(spec: object): Record<string, unknown> {
  const fields: Record<string, unknown> = {}
  for (const field of Object.keys(OperationSpecSchema["properties"] as object)) {
    const value = (spec as Readonly<Record<string, unknown>>)[field]
    if (value !== undefined) fields[field] = value
  }
  return fields
}

/** Maximum length of a request id. */
export const ID_LENGTH = 256

/** Maximum length of an operation id. */
export const OPERATION_ID_LENGTH = 512
