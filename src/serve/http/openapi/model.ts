import type { Identity, OperationSpec } from "../../../core/types.ts"

/** Plain data that `JSON.stringify` takes. */
export type JsonObject = Record<string, unknown>

/** How callers prove who they are: a token, a signed token, or a key in the header `x-api-key`. */
export type DocumentSecurity = "bearer" | "jwt" | "apiKey"

/** Where an API can be reached. */
export interface DocumentServer {
  readonly url: string
  readonly description?: string | undefined
}

/** What a document says beside what the registry knows. */
export interface DocumentOptions {
  readonly title: string
  /** Of the API. */
  readonly version: string
  readonly description?: string | undefined
  /** Where the REST paths begin, base path included: `/api`. */
  readonly restPath: string
  readonly servers?: readonly DocumentServer[] | undefined
  /** Any one of these is enough; none at all when nobody is asked. */
  readonly security?: readonly DocumentSecurity[] | undefined
  /** Of OpenAPI; 3.1. In 3.2 streams say what each of their items is. */
  readonly openapi?: "3.1" | "3.2" | undefined
  readonly isExposed?: ((spec: OperationSpec) => boolean) | undefined
  /**
   * When it is there, even as `undefined`, only what that caller may call is shown. Without it this
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

/** Whether values of a schema are sent or received. */
export type SchemaRole = "input" | "output"
