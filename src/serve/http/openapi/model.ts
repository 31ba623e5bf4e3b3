import type { Identity, OperationSpec, RestRoute } from "../../../core/types.ts"

/** Plain data for `JSON.stringify`. */
export type JsonObject = Record<string, unknown>

/** How callers authenticate: a token, a signed token, or a key in the header `x-api-key`. */
export type DocumentSecurity = "bearer" | "jwt" | "apiKey"

/** Where an API can be reached. */
export interface DocumentServer {
  readonly url: string
  readonly description?: string | undefined
}

/** Options of a document. */
export interface DocumentOptions {
  readonly title: string
  /** Version of the API. */
  readonly version: string
  readonly description?: string | undefined
  /** Prefix of the REST paths, base path included: `/api`. */
  readonly restPath: string
  /** Prefix of own routes; default: none. */
  readonly basePath?: string | undefined
  /** The own route of an operation; default: none has one. */
  readonly routeOf?: ((spec: OperationSpec) => RestRoute | undefined) | undefined
  readonly servers?: readonly DocumentServer[] | undefined
  /** Any one of these is enough; default: no authentication. */
  readonly security?: readonly DocumentSecurity[] | undefined
  /** Version of OpenAPI; default: 3.1. In 3.2 streams describe their items. */
  readonly openapi?: "3.1" | "3.2" | undefined
  readonly isExposed?: ((spec: OperationSpec) => boolean) | undefined
  /**
   * If present, even as `undefined`, only operations that this caller may call are shown. Without it this
   * is the application's own view.
   */
  readonly identity?: Identity | undefined
}

/** An OpenAPI document as plain data. */
export interface OpenAPIObject extends JsonObject {
  openapi: string
  info: JsonObject
  paths: Record<string, JsonObject>
  components: Record<string, JsonObject>
}

/** Whether values of a schema are sent, received, or the details of errors, which contain no files. */
export type SchemaRole = "input" | "output" | "error"

/** Long work in small steps, between which other work can run. */
export type Steps<TResult> = Generator<undefined, TResult, undefined>

/** Whether tools can handle an example: they interpret `$ref` and `$id` even in data. */
export function isShowable(example: unknown): boolean {
  return !/"\$(?:ref|id)":/.test(JSON.stringify(example) ?? "")
}

/** Examples by name, as in OpenAPI; missing ones keep their number. */
export function namedExamples(examples: readonly unknown[]): JsonObject | undefined {
  const named = examples.flatMap((value, index) =>
    value === undefined ? [] : [[`example${index + 1}`, { value }]],
  )
  return named.length === 0 ? undefined : (Object.fromEntries(named) as JsonObject)
}
