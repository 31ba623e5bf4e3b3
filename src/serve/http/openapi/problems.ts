import { ERROR_CODES } from "../../../core/errors.ts"
import { addToList } from "../../../internal/lists.ts"
import type { JsonSchema } from "../../../schema/json.ts"
import type { ErrorDefinition, OperationSpec } from "../../../core/types.ts"
import { PROBLEM_EXTENSION } from "../../../core/openapi-marks.ts"
import { PROBLEM_TYPE } from "../answer.ts"
import { statusOf } from "../../../core/problem.ts"
import type { JsonObject } from "./model.ts"
import type { SchemaPool } from "./schema-pool.ts"

const PROBLEM_REF = { $ref: "#/components/schemas/Problem" }

/** Schema of the errors of all operations. */
export const PROBLEM_SCHEMA: JsonSchema = {
  type: "object",
  // Tells importers that a problem is the error of a registry, and which codes no operation declares.
  [PROBLEM_EXTENSION]: true,
  description: "What went wrong, as in RFC 9457.",
  properties: {
    type: { type: "string", description: "Where the code is explained." },
    title: { type: "string" },
    status: { type: "integer" },
    detail: { type: "string", description: "What happened, in words." },
    code: { type: "string", description: "The code that programs check." },
    retryable: {
      type: "boolean",
      description: "The same request may be sent again, and may work.",
    },
    mayHaveExecuted: { type: "boolean", description: "The effect of the request may exist." },
    retryAfterMs: { type: "number" },
    attempts: { type: "integer", description: "How often the operation was tried." },
    requestId: { type: "string" },
    operationId: { type: "string" },
    details: { description: "More about it; what exactly depends on the code." },
  },
  required: ["type", "title", "status", "detail", "code", "retryable", "mayHaveExecuted"],
}

/** The responses that operations share. */
export function sharedResponses(isSecured: boolean): JsonObject {
  return {
    Problem: problemResponse("The request failed.", PROBLEM_REF),
    BadRequest: problemResponse("The input is not what the operation takes.", PROBLEM_REF),
    ...(isSecured && {
      Unauthenticated: problemResponse("The caller is not authenticated.", PROBLEM_REF),
      AccessDenied: problemResponse("The caller may not do this.", PROBLEM_REF),
    }),
  }
}

/** The error responses of an operation: by status, its declared errors and our own. */
export function failureResponses(
  id: string,
  spec: OperationSpec,
  pool: SchemaPool,
  isSecured: boolean,
): JsonObject {
  const responses: JsonObject = {
    "400": { $ref: "#/components/responses/BadRequest" },
    ...(isSecured && {
      "401": { $ref: "#/components/responses/Unauthenticated" },
      "403": { $ref: "#/components/responses/AccessDenied" },
    }),
  }
  const byStatus = new Map<number, ErrorDefinition[]>()
  for (const error of spec.errorSchemas ?? []) {
    addToList(byStatus, statusOf(error.code, spec), error)
  }
  for (const [status, errors] of byStatus) {
    const declared = errors.map((error) => declaredProblem(id, error, pool))
    const ours = ownCodes(status, errors)
    const schemas = ours.length === 0 ? declared : [...declared, problemOf({ enum: ours })]
    const [only] = schemas
    const description = errors.map((one) => one.description || one.code).join("\n\n")
    const schema = schemas.length === 1 && only !== undefined ? only : { anyOf: schemas }
    responses[status] = problemResponse(description, schema)
  }
  responses["default"] = { $ref: "#/components/responses/Problem" }
  return responses
}

function declaredProblem(id: string, error: ErrorDefinition, pool: SchemaPool): JsonObject {
  const details = pool.add(error.schema as JsonSchema, "error", `${id}.${error.code}`)
  const { description } = error
  return {
    ...(description !== "" && { description }),
    ...problemOf({ const: error.code }, details),
  }
}

function problemOf(code: JsonSchema, details?: JsonObject): JsonObject {
  return {
    allOf: [PROBLEM_REF],
    properties: { code, ...(details !== undefined && { details }) },
  }
}

/** The library's own codes that have this status too. */
function ownCodes(status: number, errors: readonly ErrorDefinition[]): string[] {
  return Object.entries(ERROR_CODES)
    .filter(
      ([code, info]) => info.httpStatus === status && !errors.some((one) => one.code === code),
    )
    .map(([code]) => code)
}

function problemResponse(description: string, schema: JsonObject): JsonObject {
  return { description, content: { [PROBLEM_TYPE]: { schema } } }
}
