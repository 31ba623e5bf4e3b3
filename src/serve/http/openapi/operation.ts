import { shownDeprecation } from "../../../core/deprecation.ts"
import {
  ANNOTATIONS_EXTENSION,
  DEPRECATION_EXTENSION,
  SUNSET_EXTENSION,
  UNTAGGED_EXTENSION,
} from "../../../core/openapi-marks.ts"
import { isNoValue, type JsonSchema, mayBeVoid } from "../../../schema/json.ts"
import { mayChange } from "../../../core/rest-route.ts"
import type { AccessControl, OperationSpec, RestRoute } from "../../../core/types.ts"
import { fileFieldsOf, isFileNode } from "../../../schema/file-fields.ts"
import type { FileField, FileFields } from "../../../schema/file-fields.ts"
import { hasContent } from "../../../schema/read/plain-schema.ts"
import { isShowable, namedExamples, type DocumentSecurity, type JsonObject } from "./model.ts"
import { parametersOf, routedInput } from "./parameters.ts"
import type { SchemaPool } from "./schema-pool.ts"
import { failureResponses } from "./problems.ts"
import { mapSchemas } from "../../../schema/keywords.ts"

/** Shared state of writing the operations of a document. */
export interface OperationWriter {
  readonly pool: SchemaPool
  readonly security: readonly DocumentSecurity[]
  /** Streams describe their items, as of OpenAPI 3.2. */
  readonly hasItemSchema: boolean
  /** The ids of all operations in the document. */
  readonly shown: ReadonlySet<string>
}

/**
 * One operation as a path item.
 *
 * It has one method, so that importers find each operation once: that of its route, otherwise GET for operations that
 * change nothing and whose input fits into a query, otherwise POST.
 */
export function pathItemOf(
  id: string,
  spec: OperationSpec,
  writer: OperationWriter,
  route?: RestRoute,
): JsonObject {
  const { pool, security } = writer
  const { parameters, body: sent } =
    route === undefined ? defaultInput(id, spec, pool) : routedInput(id, spec, route, pool)
  const body = sent === undefined ? undefined : bodyOf(id, sent, pool)
  const own = operationSecurity(security, spec.accessControl)
  const { title, description, tags = [], deprecated, deprecation, annotations, namespace } = spec
  const shown = shownDeprecation(deprecation, (other) => writer.shown.has(other))
  // Assignments instead of conditional spreads: a large API has 20,000 of these.
  const operation: JsonObject = { operationId: id }
  if (title !== undefined && title !== "") operation["summary"] = title
  if (description !== "") operation["description"] = description
  operation["tags"] = tagsOf(tags, namespace)
  if (deprecated === true) operation["deprecated"] = true
  if (parameters !== undefined && parameters.length > 0) operation["parameters"] = parameters
  if (body !== undefined) operation["requestBody"] = body
  const responses = successResponses(id, spec, writer, route?.status)
  // A spread would cost 4 KB: the keys are numbers.
  Object.assign(responses, failureResponses(id, spec, pool, security.length > 0))
  operation["responses"] = responses
  if (own !== undefined) operation["security"] = own
  operation["x-operation-id"] = id
  operation["x-operation-type"] = spec.type
  operation["x-operation-version"] = spec.version
  if (tags.length === 0) operation[UNTAGGED_EXTENSION] = true
  if (annotations !== undefined) operation[ANNOTATIONS_EXTENSION] = { ...annotations }
  if (shown !== undefined) operation[DEPRECATION_EXTENSION] = { ...shown }
  if (deprecation?.sunset !== undefined) operation[SUNSET_EXTENSION] = deprecation.sunset
  const method = route?.method.toLowerCase() ?? (sent === undefined ? "get" : "post")
  return { [method]: operation }
}

/** How the input of a default path is sent: as parameters, or in the body. */
function defaultInput(id: string, spec: OperationSpec, pool: SchemaPool): SentInput {
  const isPosted = mayChange(spec) || sentFiles(spec.inputSchema as JsonSchema) !== undefined
  const parameters = isPosted ? undefined : parametersOf(id, spec, pool)
  return { parameters, body: parameters === undefined ? spec : undefined }
}

interface SentInput {
  readonly parameters: JsonObject[] | undefined
  readonly body: OperationSpec | undefined
}

/** The tags of an operation; default: its namespace. */
export function tagsOf(tags: readonly string[] | undefined, namespace: string): string[] {
  return tags === undefined || tags.length === 0 ? [namespace] : [...new Set(tags)]
}

function bodyOf(
  id: string,
  { inputSchema, examples }: OperationSpec,
  pool: SchemaPool,
): JsonObject | undefined {
  const schema = inputSchema as JsonSchema
  if (isNoValue(schema)) return undefined
  const shown = namedExamples((examples ?? []).filter(isShowable))
  const extra = shown === undefined ? undefined : { examples: shown }
  const add = (own: JsonSchema): JsonObject => pool.add(own, "input", `${id}.input`)
  const files = sentFiles(schema)
  if (files !== undefined) {
    return { required: true, content: fileContent(files, add(typedFiles(schema)), extra) }
  }
  return {
    ...(!mayBeVoid(schema) && hasContent(schema) && { required: true }),
    content: { "application/json": { schema: add(schema), ...extra } },
  }
}

function successResponses(
  id: string,
  spec: OperationSpec,
  writer: OperationWriter,
  status?: number,
): JsonObject {
  const schema = spec.outputSchema as JsonSchema
  const file = spec.type === "subscription" ? undefined : fileResult(schema)
  const written = file === undefined ? schema : typedFiles(schema)
  const add = (): JsonObject => writer.pool.add(written, "output", `${id}.output`)
  if (spec.type === "subscription") {
    const item = isNoValue(schema) ? {} : add()
    const media = writer.hasItemSchema ? { itemSchema: eventOf(item) } : { schema: item }
    const description = "Server-sent events, each with one item as JSON; `end` is the last."
    return { "200": { description, content: { "text/event-stream": media } } }
  }
  const nothing = { [status ?? 204]: { description: "It worked; there is no result." } }
  if (isNoValue(schema)) return nothing
  const type = file === undefined ? "application/json" : file.mediaType
  const content = { [type ?? ANY_BYTES]: { schema: add() } }
  return {
    ...(mayBeVoid(schema) && nothing),
    [status ?? 200]: { description: "The result.", content },
  }
}

function eventOf(item: JsonObject): JsonObject {
  return {
    type: "object",
    properties: {
      data: { type: "string", contentMediaType: "application/json", contentSchema: item },
      id: { type: "string" },
      event: { type: "string" },
    },
    required: ["data"],
  }
}

const ANY_BYTES = "application/octet-stream"

/** The files of an input that is sent as a form or a file; base64 text alone is sent as JSON. */
function sentFiles(schema: JsonSchema): FileFields | undefined {
  const fields = fileFieldsOf(schema)
  if (fields === undefined || fields.inside || fields.whole?.kind === "text") return undefined
  const isSent = fields.whole ?? [...fields.properties.values()].find(isSentAsFile)
  return isSent === undefined ? undefined : fields
}

/** The content of a body with files: a form, or the file itself. */
function fileContent(
  { whole, properties }: FileFields,
  schema: JsonObject,
  extra: JsonObject | undefined,
): JsonObject {
  if (whole !== undefined) return { [whole.mediaType ?? ANY_BYTES]: { schema } }
  const typed = [...properties].flatMap(([name, { mediaType }]) =>
    mediaType === undefined ? [] : [[name, { contentType: mediaType }] as const],
  )
  const encoding = typed.length === 0 ? undefined : { encoding: Object.fromEntries(typed) }
  return { "multipart/form-data": { schema, ...encoding, ...extra } }
}

/** The file that a result is. */
function fileResult(schema: JsonSchema): FileField | undefined {
  const whole = fileFieldsOf(schema)?.whole
  return whole !== undefined && isSentAsFile(whole) ? whole : undefined
}

/** The schema of a body with files: what is binary is `type: string` here, as tools expect. */
function typedFiles(schema: JsonSchema): JsonSchema {
  return mapSchemas(schema, (node) => {
    if (!isFileNode(node) || node["type"] !== undefined) return node
    const { contentEncoding: _, ...rest } = node
    return { type: "string", ...rest }
  })
}

function isSentAsFile({ kind }: FileField): boolean {
  return kind !== "text"
}

const SCHEMES: Readonly<Record<DocumentSecurity, JsonObject>> = {
  bearer: { type: "http", scheme: "bearer" },
  jwt: { type: "http", scheme: "bearer", bearerFormat: "JWT" },
  apiKey: { type: "apiKey", in: "header", name: "x-api-key" },
}

/** The security schemes of a document, by name. */
export function securitySchemes(security: readonly DocumentSecurity[]): JsonObject {
  return Object.fromEntries(security.map((name) => [name, { ...SCHEMES[name] }]))
}

/** Security requirements: any one of the schemes, with all of the scopes. */
export function securityRequirements(
  security: readonly DocumentSecurity[],
  scopes: readonly string[] = [],
): JsonObject[] {
  return security.map((name) => ({ [name]: [...scopes] }))
}

/** The security alternatives of an operation; `undefined` when the default applies. */
function operationSecurity(
  security: readonly DocumentSecurity[],
  { requiredScopes, requiredScopesAny }: AccessControl,
): JsonObject[] | undefined {
  const any = requiredScopesAny ?? []
  if (security.length === 0 || (requiredScopes.length === 0 && any.length === 0)) return undefined
  if (any.length === 0) return securityRequirements(security, requiredScopes)
  return any.flatMap((scope) =>
    securityRequirements(security, [...new Set([...requiredScopes, scope])]),
  )
}
