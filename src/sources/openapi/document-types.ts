/** A parameter of an operation in a document. */
export interface OpenAPIParameter {
  name: string
  in: "path" | "query" | "header" | "cookie" | (string & {})
  description?: string
  required?: boolean
  schema?: object
  [key: string]: unknown
}

/** An operation in a document: the object under a path and a method. */
export interface OpenAPIOperation {
  operationId?: string
  summary?: string
  description?: string
  tags?: string[]
  parameters?: (OpenAPIParameter | { $ref: string })[]
  requestBody?: object
  responses?: Record<string, object>
  [key: string]: unknown
}
