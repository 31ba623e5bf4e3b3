// One operation of a document: from its list entry to the plan of its requests.
import { BODILESS } from "../request/body.ts"
import type { TSchema } from "typebox"
import { decodeFiles } from "../../../core/decode-files.ts"
import type { ShownRequest, ShowsRequest } from "../../../core/dry-run.ts"
import type { LazyParts, OperationRequest } from "../../../core/lazy-operation.ts"
import type {
  CallOptions,
  ErrorDefinition,
  OperationAnnotations,
  OperationDeprecation,
  OperationType,
} from "../../../core/types.ts"
import type { OperationHandler, SubscriptionHandler } from "../../../core/handler.ts"
import type { HttpResponse } from "../../../http-client/exchange.ts"
import { isRecord, isString, nonEmpty } from "../../../internal/guards.ts"
import { compileJson } from "../../../schema/compiled.ts"
import { escapeToken } from "../../../schema/json.ts"
import type { RequestOptions } from "../config.ts"
import type { PreparedRequest } from "../../../http-client/request.ts"
import { child, followNoted, membersOf, noteAt } from "../document.ts"
import type { Note, OpenAPIDocument, Place } from "../document.ts"
import { ANNOTATIONS_EXTENSION, UNTAGGED_EXTENSION } from "../../../core/openapi-marks.ts"
import type { InputLocation, RequestPlan, SecurityScheme, ServerModel } from "../model.ts"
import { READS, annotationsOf, declaredAnnotations, declaredDeprecation } from "./annotations.ts"
import {
  chosenBody,
  declaresBody,
  flatten,
  mediaModel,
  memberNames,
  propertiesOf,
  readBody,
} from "./body.ts"
import type { Body, Flattened } from "./body.ts"
import { subjectOf } from "./subject.ts"
import type { RawOperation } from "./list.ts"
import { dateKeys } from "./parameter.ts"
import type { ParameterReader, Parameters } from "./parameters.ts"
import { readProblems, type Problems } from "./problems.ts"
import { EMPTY, acceptOf, isResponseRef, plainOutput, readResponses } from "./responses.ts"
import { examplesOf, versionText } from "./annotate-schema.ts"
import { ANYTHING, NOTHING, type SchemaBuilder } from "./schemas.ts"
import { readScalar, scalarTypes } from "./text-scalars.ts"
import { fixedInputs, isPlainWatch, streamPlan, type StreamPlan } from "./stream-plan.ts"
import { anyScheme, declaredSecurity, noteSecurity, ownServers, readSecurity } from "./security.ts"

/** Prepares the requests of an import without sending them. */
export interface RequestPreparer {
  prepare(
    source: OperationSource,
    input: unknown,
    options?: RequestOptions,
  ): Promise<PreparedRequest>
  /** The same without credentials. */
  show(source: OperationSource, input: unknown, context: CallOptions): Promise<ShownRequest>
}

/** The shared context of all operations of one import. */
export interface ImportContext {
  readonly document: OpenAPIDocument
  readonly parameters: ParameterReader
  readonly schemas: SchemaBuilder
  /** Cached output schemas that are only a reference, by that reference. */
  readonly outputs: Map<string, TSchema>
  readonly caller: RequestPreparer
  /** Creates the handler of an operation. */
  readonly handlerOf: (source: OperationSource) => OperationHandler | SubscriptionHandler
  readonly namespace: string
  readonly version: string
  readonly flatten: boolean
  /** The user's choice of a content type for bodies. */
  readonly contentType: string | undefined
  readonly callPolicy: LazyParts["policy"]
  /** The same without a timeout. */
  readonly streamPolicy: LazyParts["policy"]
  readonly schemes: ReadonlyMap<string, SecurityScheme>
  readonly servers: readonly ServerModel[]
}

/** Lazily created parts of an operation. */
interface CachedParts {
  input?: TSchema
  output?: TSchema
  handler?: OperationHandler | SubscriptionHandler
  errors?: readonly ErrorDefinition[]
  problems?: Problems
  plan?: RequestPlan
  stream?: StreamPlan | null
  meta?: Readonly<Record<string, unknown>>
  examples?: readonly unknown[]
}

const NO_EXAMPLES: readonly unknown[] = Object.freeze([])
const ANYONE = Object.freeze({ requiredScopes: Object.freeze([]) })

/**
 * One operation of a document. The parts for lists exist from the start; all others are created on first use
 * and cached.
 */
export class OperationSource implements LazyParts, ShowsRequest {
  // The same for all operations: see below.
  declare readonly accessControl: LazyParts["accessControl"]
  declare readonly visibility: undefined
  declare readonly context: ImportContext
  declare readonly operation: RawOperation
  /** Changed while listing if two operations have the same name. */
  declare name: string
  declare readonly type: OperationType
  /** Whether it comes from a document of this library: only those have the extensions that are read here. */
  declare readonly isOurs: boolean
  /** The plain operation, if this is the stream twin of one that does both. */
  declare private readonly original: OperationSource | undefined
  declare private cached: CachedParts | undefined

  constructor(
    context: ImportContext,
    operation: RawOperation,
    name: string,
    isStreamed: boolean,
    original: OperationSource | undefined,
  ) {
    this.context = context
    this.operation = operation
    this.name = name
    const { method, raw } = operation
    const isOurs = typeof raw["x-operation-id"] === "string"
    this.isOurs = isOurs
    const isRead =
      READS.has(method) || (isOurs && method === "POST" && raw["x-operation-type"] === "query")
    this.type = isStreamed ? "subscription" : isRead ? "query" : "mutation"
    this.original = original
    this.cached = undefined
  }

  get handler(): OperationHandler | SubscriptionHandler {
    return (this.parts.handler ??= this.context.handlerOf(this))
  }

  show(input: unknown, context: CallOptions): Promise<ShownRequest> {
    return this.context.caller.show(this, input, context)
  }

  get id(): string {
    return `${this.namespace}.${this.name}`
  }

  get namespace(): string {
    return this.context.namespace
  }

  get version(): string {
    const own = this.isOurs ? versionText(this.operation.raw["x-operation-version"]) : undefined
    return own ?? this.context.version
  }

  get title(): string | undefined {
    return nonEmpty(this.operation.raw["summary"])
  }

  get description(): string {
    const { raw, method, path } = this.operation
    return nonEmpty(raw["description"]) ?? (this.isOurs ? "" : (this.title ?? `${method} ${path}`))
  }

  get tags(): readonly string[] | undefined {
    const { raw } = this.operation
    const { tags } = raw
    if (!Array.isArray(tags) || (this.isOurs && raw[UNTAGGED_EXTENSION] === true)) return undefined
    for (let index = 0; index < tags.length; index++) {
      if (!isString(tags[index])) return tags.filter(isString)
    }
    return tags as readonly string[]
  }

  get deprecated(): boolean | undefined {
    return this.operation.raw["deprecated"] === true ? true : undefined
  }

  get deprecation(): OperationDeprecation | undefined {
    return declaredDeprecation(this.operation.raw, this.namespace)
  }

  get annotations(): OperationAnnotations {
    const { raw, method } = this.operation
    const own = this.isOurs ? declaredAnnotations(raw[ANNOTATIONS_EXTENSION]) : undefined
    return own ?? annotationsOf(this.type === "query" && method === "POST" ? "QUERY" : method)
  }

  get policy(): LazyParts["policy"] {
    return this.type === "subscription" ? this.context.streamPolicy : this.context.callPolicy
  }

  /** Whether this is the stream twin of a plain operation. */
  get isTwin(): boolean {
    return this.original !== undefined
  }

  get inputNames(): readonly string[] {
    const { parameters, body, flat } = this.readInputs()
    const names = parameters.list.map(({ key }) => key)
    return [...names, ...(flat === undefined ? memberNames(body) : flat.names.keys())]
  }

  get subject(): string | undefined {
    const [success] = readResponses(this.operation, "success", [])
    return subjectOf(this.readInputs().body) ?? subjectOf(success)
  }

  get request(): OperationRequest {
    return this.operation
  }

  get inputSchema(): TSchema {
    if (this.original !== undefined) return this.original.inputSchema
    return (this.parts.input ??= this.makeInput(this.readInputs(), undefined))
  }

  get outputSchema(): TSchema {
    return (this.parts.output ??= this.cachedOutput() ?? this.makeOutput(undefined, []))
  }

  get errorSchemas(): readonly ErrorDefinition[] {
    if (this.original !== undefined) return this.original.errorSchemas
    return (this.parts.errors ??= this.makeErrors(undefined, []))
  }

  /** The declared problems of this operation. */
  get problems(): Problems {
    if (this.original !== undefined) return this.original.problems
    return (this.parts.problems ??= readProblems(readResponses(this.operation, "failure", [])))
  }

  get examples(): readonly unknown[] | undefined {
    return (this.parts.examples ??= this.makeExamples() ?? NO_EXAMPLES).length === 0
      ? undefined
      : this.parts.examples
  }

  get _meta(): Readonly<Record<string, unknown>> {
    return (this.parts.meta ??= this.makeMeta())
  }

  /** Where each input goes. */
  get inputs(): readonly InputPlace[] {
    const { parameters, body, flat } = this.readInputs()
    const inputs: InputPlace[] = parameters.list.map(({ key, in: location, name }) =>
      Object.freeze({ key, in: location, name }),
    )
    if (flat !== undefined) {
      for (const [key, name] of flat.names) inputs.push(Object.freeze({ key, in: "body", name }))
    } else if (body !== undefined)
      inputs.push(Object.freeze({ key: "body", in: "body", name: "body" }))
    return Object.freeze(inputs)
  }

  get stream(): StreamPlan | null {
    if (this.type !== "subscription") return null
    return (this.parts.stream ??= streamPlan(
      this.operation,
      readResponses(this.operation, "success", []),
    ))
  }

  get plan(): RequestPlan {
    return (this.parts.plan ??= this.makePlan())
  }

  /** Parses a text that the document declares as a scalar; otherwise returns the text. */
  readText(text: string, { status, contentType }: HttpResponse): unknown {
    return readScalar(
      text,
      scalarTypes(readResponses(this.operation, "success", []), status, contentType),
    )
  }

  /** Converts base64 text in JSON of a server of this library to the files that it stands for. */
  decoded(value: unknown): unknown {
    return this.isOurs ? decodeFiles(this.outputSchema, value, "result") : value
  }

  /** The document does not say whether a credential is needed. */
  get isUndeclared(): boolean {
    return declaredSecurity(this.operation) === undefined
  }

  /** All differences from the document. Creates all schemas. */
  get notes(): readonly Note[] {
    const notes: Note[] = []
    const reading = this.readInputs(notes)
    notes.push(...reading.parameters.notes)
    this.noteBody(reading, notes)
    this.noteDescriptions(reading, notes)
    noteSecurity(this.operation, this.context.schemes, notes)
    this.makeInput(reading, notes)
    this.makeOutput(notes, notes)
    const inErrors: Note[] = []
    this.makeErrors(inErrors, inErrors)
    return unique([...notes, ...inErrors.map((note) => ({ ...note, isError: true as const }))])
  }

  private get parts(): CachedParts {
    return (this.cached ??= {})
  }

  /**
   * Reads the parameters and the body. Not cached: they are large, and needed only for the schema and for the
   * plan of a request.
   */
  private readInputs(notes?: Note[]): ParsedInputs {
    const { context, operation } = this
    const hasBody = !context.flatten && declaresBody(operation)
    const parameters = context.parameters.read(operation, hasBody, notes !== undefined)
    const declared = readBody(operation, parameters, notes ?? [])
    const isSent = !BODILESS.has(operation.method)
    const chosen = declared && chosenBody(declared, context.contentType)
    // A body that cannot be sent cannot be required. An optional one may be empty.
    const body = isSent || chosen?.required !== true ? chosen : undefined
    if (!context.flatten || body === undefined) return { parameters, body, flat: undefined }
    const taken = new Set(parameters.list.map(({ key }) => key))
    return {
      parameters,
      body,
      flat: flatten(body, taken, operation, notes ?? []),
    }
  }

  /** Notes a body of a method for which `fetch` sends none. */
  private noteBody({ parameters }: ParsedInputs, notes: Note[]): void {
    const { operation } = this
    const { method } = operation
    const body = BODILESS.has(method) ? readBody(operation, parameters, []) : undefined
    if (body === undefined) return
    const { form, media, required } = body
    const isUsed =
      required || form !== undefined || media.some(({ schema }) => propertiesOf(schema).size > 0)
    if (!isUsed) return
    const instead = required
      ? "it is left out"
      : "one that is not empty is refused when it is called"
    const place = operation.member("requestBody") ?? media[0]?.place ?? operation
    notes.push(noteAt(place, `A ${method} request carries no body: ${instead}.`, !required))
  }

  /** Notes broken references in descriptive parts: examples of the body, headers of responses. */
  private noteDescriptions({ body }: ParsedInputs, notes: Note[]): void {
    for (const { place } of body?.media ?? []) noteBroken(place, "examples", notes)
    for (const which of ["success", "failure"] as const) {
      for (const { place } of readResponses(this.operation, which, [])) {
        noteBroken(place, "headers", notes)
      }
    }
  }

  private makeInput({ parameters, body, flat }: ParsedInputs, notes: Note[] | undefined): TSchema {
    const { schemas } = this.context
    if (notes !== undefined || body !== undefined) {
      return schemas.input(parameters.list, body, flat?.properties, notes)
    }
    return (parameters.input ??= schemas.input(parameters.list, undefined, undefined))
  }

  /** The cached output schema of an operation with the same reference. */
  private cachedOutput(): TSchema | undefined {
    const { outputs, schemas } = this.context
    if (this.type === "subscription") {
      return isPlainWatch(this.operation) ? ANYTHING : undefined
    }
    const plain = plainOutput(this.operation)
    if (plain === undefined || plain === EMPTY) return plain && NOTHING
    const ref = plain["$ref"] as string
    let cached = outputs.get(ref)
    if (cached === undefined) {
      const referred = isResponseRef(ref) ? undefined : schemas.referred(plain)
      cached = referred ?? this.makeOutput(undefined, [])
      outputs.set(ref, cached)
    }
    return cached
  }

  private makeOutput(notes: Note[] | undefined, reading: Note[]): TSchema {
    const { schemas } = this.context
    const success = readResponses(this.operation, "success", reading)
    if (this.type !== "subscription") {
      return schemas.output(success, this.operation.method, notes)
    }
    return schemas.item(streamPlan(this.operation, success).media, notes)
  }

  private makeErrors(notes: Note[] | undefined, reading: Note[]): readonly ErrorDefinition[] {
    const { schemas } = this.context
    const failure = readResponses(this.operation, "failure", reading)
    return Object.freeze(schemas.errors(failure, readProblems(failure), notes))
  }

  private makeExamples(): readonly unknown[] | undefined {
    // Those of a document of this library are restored as they were.
    const accepts = (input: unknown): boolean =>
      this.isOurs || compileJson(this.inputSchema).validator.accepts(input)
    const { parameters, body, flat } = this.readInputs()
    return examplesOf(this.context.document, parameters.list, body, flat, this.isOurs, accepts)
  }

  private makeMeta(): Readonly<Record<string, unknown>> {
    const { method, path, raw } = this.operation
    // JSON pointer to the address of the next page in a response.
    const pageable = raw["x-ms-pageable"]
    const nextLink = isRecord(pageable) ? pageable["nextLinkName"] : undefined
    const openapi = {
      method,
      path,
      ...(isString(raw["operationId"]) && { operationId: raw["operationId"] }),
      inputs: this.inputs,
      ...(isString(nextLink) && {
        pagination: Object.freeze({ nextUrl: `/${escapeToken(nextLink)}` }),
      }),
    }
    return Object.freeze({ openapi: Object.freeze(openapi) })
  }

  private makePlan(): RequestPlan {
    const { schemes, servers } = this.context
    const { operation, stream } = this
    const { parameters, body, flat } = this.readInputs()
    const own = ownServers(operation)
    const fixed = this.isTwin ? fixedInputs(stream, parameters, body) : undefined
    return {
      id: this.id,
      method: operation.method,
      path: operation.path,
      parameters: parameters.list,
      hasPresets: parameters.list.some(({ preset }) => preset !== undefined),
      days: dateKeys(parameters.list),
      ...(body !== undefined && {
        body: {
          required: body.required,
          media: body.media.map((media) => mediaModel(body, media)),
          ...(flat !== undefined && { flat: flat.names }),
          isOurs: this.isOurs,
        },
      }),
      accept: acceptedTypes(stream, parameters) ?? acceptOf(operation),
      servers: own.length > 0 ? own : servers,
      rootServers: servers,
      security: this.isUndeclared ? anyScheme(schemes) : readSecurity(operation, schemes),
      ...(fixed && { fixed }),
    }
  }
}

// Values of the prototype: a getter for each would be called for each of thousands of operations.
Object.assign(OperationSource.prototype, {
  accessControl: ANYONE,
  visibility: undefined,
} satisfies Partial<LazyParts>)

interface InputPlace {
  readonly key: string
  readonly in: InputLocation
  readonly name: string
}

/** The types for `Accept`, if they differ from the declared ones. */
function acceptedTypes(
  stream: StreamPlan | null,
  { accept }: Parameters,
): readonly string[] | undefined {
  if (stream !== null) return [stream.media.type]
  return accept === undefined ? undefined : [accept]
}

/** The parsed inputs of an operation. */
interface ParsedInputs {
  readonly parameters: Parameters
  readonly body: Body | undefined
  readonly flat: Flattened | undefined
}

/** Notes broken references in a map that does not affect calls, such as named examples. */
function noteBroken(place: Place, key: string, notes: Note[]): void {
  const declared = child(place, key)
  const map = declared && followNoted(declared, notes, NOT_DESCRIBED, true)
  for (const [, member] of membersOf(map)) followNoted(member, notes, NOT_DESCRIBED, true)
}

const NOT_DESCRIBED = "It is not described."

function unique(notes: readonly Note[]): Note[] {
  const seen = new Set<string>()
  return notes.filter(({ pointer, message }) => {
    const key = `${pointer} ${message}`
    if (seen.has(key)) return false
    seen.add(key)
    return true
  })
}
