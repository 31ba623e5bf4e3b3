/** One parameter of an operation, as a document writes it. */
export interface OpenAPIParameter {
  name: string
  in: "path" | "query" | "header" | "cookie" | (string & {})
  description?: string
  required?: boolean
  schema?: object
  [key: string]: unknown
}

/** One operation, as a document writes it: what stands under a path and a method. */
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
