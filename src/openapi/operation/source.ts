// One idea: one operation of a document, from what a list shows to what a request needs.
import type { TSchema } from "typebox"
import type { LazyParts } from "../../internal/lazy-operation.ts"
import { isPlainRecord } from "../../schema/json.ts"
import type {
  ErrorDefinition,
  OperationAnnotations,
  OperationHandler,
  OperationType,
  SubscriptionHandler,
} from "../../types.ts"
import type { OpenAPIDocument } from "../document.ts"
import type { InputLocation, RequestPlan, SecurityScheme, ServerModel } from "../model.ts"
import type { Note } from "../schema/convert.ts"
import { annotationsOf, READS } from "./annotations.ts"
import { type Body, declaresBody, mediaModel, propertiesOf, readBody } from "./body.ts"
import { flatten } from "./flatten.ts"
import type { Flattened } from "./flatten.ts"
import type { RawOperation } from "./list.ts"
import { isStream } from "./media.ts"
import type { Media } from "./media.ts"
import { paginationOf } from "./pagination.ts"
import type { ParameterReader, Parameters } from "./parameters.ts"
import { acceptOf, readResponses } from "./responses.ts"
import type { Response } from "./responses.ts"
import { safeCopy } from "./describe.ts"
import type { SchemaBuilder, Sealed } from "./schemas.ts"
import { ownServers, readSecurity } from "./security.ts"

/** What all operations of one import share. */
export interface ImportContext {
  readonly document: OpenAPIDocument
  readonly parameters: ParameterReader
  readonly schemas: SchemaBuilder
  readonly namespace: string
  readonly version: string
  readonly flatten: boolean
  readonly schemes: ReadonlyMap<string, SecurityScheme>
  readonly servers: readonly ServerModel[]
}

/** How the items of a stream are given. */
export interface StreamPlan {
  readonly media: Media
  /** The whole event where its schema describes one, else its data; text where nothing is said. */
  readonly yields: "event" | "data" | "text"
}

const ANYONE = Object.freeze({ requiredScopes: Object.freeze([]) })

/**
 * One operation of a document. What a list shows is there at once; all else is made when it is
 * first asked for, and kept.
 */
export class OperationSource implements LazyParts {
  readonly name: string
  readonly namespace: string
  readonly version: string
  readonly type: OperationType
  readonly title: string | undefined
  readonly description: string
  readonly tags: readonly string[] | undefined
  readonly deprecated: boolean | undefined
  readonly annotations: OperationAnnotations
  readonly accessControl: LazyParts["accessControl"] = ANYONE
  readonly visibility: undefined = undefined
  // What a real API adds to its answers is worth having, and what it leaves out is not made up.
  readonly normalize = "off" as const
  readonly output = "warn" as const
  readonly composes: undefined = undefined
  readonly operation: RawOperation
  /** This is the stream of an operation that also answers at once. */
  readonly isTwin: boolean
  handler: OperationHandler | SubscriptionHandler = unset
  readonly #context: ImportContext
  readonly #notes: Note[] = []
  #parameters: Parameters | undefined
  #body: Body | null | undefined
  #flat: Flattened | null | undefined
  #success: readonly Response[] | undefined
  #stream: StreamPlan | null | undefined
  #input: Sealed | undefined
  #outputSchema: Sealed | undefined
  #errors: { errors: readonly ErrorDefinition[]; notes: readonly Note[] } | undefined
  #plan: RequestPlan | undefined
  #meta: Readonly<Record<string, unknown>> | undefined

  constructor(
    context: ImportContext,
    operation: RawOperation,
    name: string,
    isStreamed: boolean,
    isTwin: boolean,
  ) {
    const { raw, method } = operation
    const { summary, description, tags, deprecated } = raw
    this.#context = context
    this.operation = operation
    this.isTwin = isTwin
    this.name = name
    this.namespace = context.namespace
    this.version = context.version
    this.type = isStreamed ? "subscription" : READS.has(method) ? "query" : "mutation"
    this.title = textOf(summary)
    this.description = textOf(description) ?? this.title ?? `${method} ${operation.path}`
    this.tags = Array.isArray(tags)
      ? tags.every(isText)
        ? tags.slice()
        : tags.filter(isText)
      : undefined
    this.deprecated = deprecated === true ? true : undefined
    this.annotations = annotationsOf(method)
  }

  get id(): string {
    return `${this.namespace}.${this.name}`
  }

  get inputNames(): readonly string[] {
    return this.inputs.map(({ key }) => key)
  }

  get inputSchema(): TSchema {
    return this.#sealedInput().schema
  }

  get outputSchema(): TSchema {
    return this.#sealedOutput().schema
  }

  get errorSchemas(): readonly ErrorDefinition[] {
    const { document, schemas } = this.#context
    this.#errors ??= schemas.errors(readResponses(document, this.operation, "failure", this.#notes))
    return this.#errors.errors
  }

  get examples(): readonly unknown[] | undefined {
    const media = this.body?.media[0]?.place.value
    if (!isPlainRecord(media)) return undefined
    const { example, examples } = media
    const values = example === undefined ? [] : [example]
    if (isPlainRecord(examples)) {
      for (const one of Object.values(examples)) {
        if (isPlainRecord(one) && one["value"] !== undefined) values.push(one["value"])
      }
    }
    const copied = safeCopy(values.map((body) => ({ body })))
    return Array.isArray(copied) && copied.length > 0 ? (copied as unknown[]) : undefined
  }

  get _meta(): Readonly<Record<string, unknown>> {
    if (this.#meta !== undefined) return this.#meta
    const { method, path, raw } = this.operation
    const pagination = paginationOf(raw)
    const openapi = {
      method,
      path,
      ...(isText(raw["operationId"]) && { operationId: raw["operationId"] }),
      inputs: Object.freeze(this.inputs.map((input) => Object.freeze(input))),
      ...(pagination && { pagination }),
    }
    return (this.#meta = Object.freeze({ openapi: Object.freeze(openapi) }))
  }

  /** Where each input goes. */
  get inputs(): Array<{ key: string; in: InputLocation; name: string }> {
    const inputs: Array<{ key: string; in: InputLocation; name: string }> = []
    for (const { key, in: location, name } of this.parameters.list) {
      inputs.push({ key, in: location, name })
    }
    if (this.flat !== null) {
      for (const [key, name] of this.flat.names) inputs.push({ key, in: "body", name })
    } else if (this.body !== null) inputs.push({ key: "body", in: "body", name: "body" })
    return inputs
  }

  get parameters(): Parameters {
    const hasBody = !this.#context.flatten && declaresBody(this.operation)
    return (this.#parameters ??= this.#context.parameters.read(this.operation, hasBody))
  }

  get body(): Body | null {
    if (this.#body !== undefined) return this.#body
    const { document } = this.#context
    this.#body = readBody(document, this.operation, this.parameters.legacy, this.#notes) ?? null
    return this.#body
  }

  /** The answers that are a success. */
  get success(): readonly Response[] {
    const { document } = this.#context
    return (this.#success ??= readResponses(document, this.operation, "success", this.#notes))
  }

  /** Properties of the body as inputs of their own; `null` where the body is one input. */
  get flat(): Flattened | null {
    if (this.#flat !== undefined) return this.#flat
    const { document, flatten: wanted } = this.#context
    const taken = new Set(this.parameters.list.map(({ key }) => key))
    this.#flat = wanted && this.body !== null ? flatten(document, this.body, taken) : null
    return this.#flat
  }

  get stream(): StreamPlan | null {
    if (this.#stream !== undefined) return this.#stream
    if (this.type !== "subscription") return (this.#stream = null)
    const media = this.success
      .flatMap((response) => response.media)
      .find((one) => isStream(one.class)) ?? {
      // A success without a schema: Swagger 2.0 says in `produces` that it streams.
      type: "application/x-ndjson",
      class: "ndjson" as const,
      place: { value: {}, file: this.operation.file, pointer: this.operation.pointer },
    }
    return (this.#stream = { media, yields: yieldsOf(this.#context.document, media) })
  }

  get plan(): RequestPlan {
    if (this.#plan !== undefined) return this.#plan
    const { document, schemes, servers } = this.#context
    const { body, flat, operation } = this
    const own = ownServers(document, operation)
    const fixed = this.isTwin ? this.#fixed() : undefined
    return (this.#plan = {
      id: this.id,
      method: operation.method,
      path: operation.path,
      parameters: this.parameters.list,
      ...(body !== null && {
        body: {
          required: body.required,
          media: body.media.map((media) => mediaModel(document, body, media)),
          ...(flat !== null && { flat: flat.names }),
        },
      }),
      accept: this.stream === null ? acceptOf(document, operation) : [this.stream.media.type],
      servers: own.length > 0 ? own : servers,
      rootServers: servers,
      security: readSecurity(document, operation, schemes),
      ...(fixed && { fixed }),
    })
  }

  /** The document does not say whether a credential is needed. */
  get isUndeclared(): boolean {
    return (this.operation.raw["security"] ?? this.#context.document.root["security"]) === undefined
  }

  /** Everything about this operation that is not as the document has it. Makes all its schemas. */
  get notes(): readonly Note[] {
    const input = this.#sealedInput()
    const output = this.#sealedOutput()
    void this.errorSchemas
    const all = [...this.parameters.notes, ...this.#notes, ...input.notes(), ...output.notes()]
    return unique([...all, ...(this.#errors?.notes ?? [])])
  }

  #sealedInput(): Sealed {
    return (this.#input ??= this.#context.schemas.input(
      this.parameters.list,
      this.body ?? undefined,
      this.flat?.properties,
    ))
  }

  #sealedOutput(): Sealed {
    if (this.#outputSchema !== undefined) return this.#outputSchema
    const { schemas } = this.#context
    const { stream } = this
    this.#outputSchema =
      stream === null
        ? schemas.output(this.success, this.operation.method)
        : schemas.item(stream.media)
    return this.#outputSchema
  }

  /** What tells a server that also answers at once to stream. */
  #fixed(): RequestPlan["fixed"] {
    const watch = this.parameters.list.some(
      ({ in: at, name }) => at === "query" && name === "watch",
    )
    const isWatch = this.stream?.media.class === "ndjson" && watch
    const body: Record<string, unknown> = {}
    for (const { schema } of this.body?.media ?? []) {
      const properties = propertiesOf(this.#context.document, schema)
      if (properties.has("stream")) body["stream"] = true
      const format = properties.get("stream_format")?.value
      const values = isPlainRecord(format) ? format["enum"] : undefined
      if (Array.isArray(values) && values.includes("sse")) body["stream_format"] = "sse"
    }
    return {
      ...(isWatch && { query: { watch: "true" } }),
      ...(Object.keys(body).length > 0 && { body }),
    }
  }
}

function unset(): never {
  throw new Error("The operation has no handler yet.")
}

function textOf(value: unknown): string | undefined {
  return typeof value === "string" && value !== "" ? value : undefined
}

function isText(value: unknown): value is string {
  return typeof value === "string"
}

/** 3.2: a schema of items with `data` describes the event around the data. */
function yieldsOf(document: OpenAPIDocument, media: Media): StreamPlan["yields"] {
  if (media.class !== "sse") return "data"
  if (media.itemSchema !== undefined) {
    return propertiesOf(document, media.itemSchema).has("data") ? "event" : "data"
  }
  return media.schema === undefined ? "text" : "data"
}

function unique(notes: readonly Note[]): Note[] {
  const seen = new Set<string>()
  return notes.filter(({ pointer, message }) => {
    const key = `${pointer} ${message}`
    if (seen.has(key)) return false
    seen.add(key)
    return true
  })
}
