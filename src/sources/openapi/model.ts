/** The input of an operation. */
export type OperationInput = Readonly<Record<string, unknown>>

/** Where an input goes in a request. */
export type InputLocation = "path" | "query" | "header" | "cookie" | "querystring" | "body"

/** How arrays and objects are written; `tabDelimited` is Swagger 2.0's `tsv`, `cookie` is 3.2's. */
export type ParameterStyle =
  | "simple"
  | "label"
  | "matrix"
  | "form"
  | "spaceDelimited"
  | "pipeDelimited"
  | "tabDelimited"
  | "deepObject"
  | "cookie"

/** How a value is serialized. */
export interface Serialization {
  readonly style: ParameterStyle
  readonly explode: boolean
  readonly allowReserved: boolean
}

/** A parameter, independent of the version of OpenAPI. */
export interface ParameterModel extends Serialization {
  /** Its key in the operation's input. */
  readonly key: string
  /** Its name in the request. */
  readonly name: string
  readonly in: Exclude<InputLocation, "body">
  readonly required: boolean
  /** The value of a required parameter that callers may leave out. */
  readonly preset?: unknown
  /** A required header that the configuration may send instead of the caller. */
  readonly isShared?: boolean | undefined
  /** An empty value is sent as such; otherwise an empty list is left out. */
  readonly allowEmptyValue: boolean
  /** The media type in which a `content` parameter is written. */
  readonly content?: string | undefined
}

/** The `encoding` object of a form field. */
export interface EncodingModel {
  readonly contentType?: string | undefined
  /** Present only if the document declares it: it then replaces the field's content type. */
  readonly serialization?: Serialization | undefined
  /** Headers of a part; `undefined` is the name of the part, as its `Content-ID`. */
  readonly headers?: ReadonlyMap<string, string | undefined> | undefined
  /** How the text of a part is encoded: `base64`. */
  readonly transferEncoding?: string | undefined
}

/** A field of a form. */
export interface FieldModel {
  /** Files and other raw bytes. */
  readonly isBinary: boolean
  readonly encoding?: EncodingModel | undefined
}

/** One content type that a body may have. */
export interface MediaModel {
  /** As written in the document, including parameters. */
  readonly type: string
  /** The body as a whole is raw bytes. */
  readonly isBinary: boolean
  /** The fields of a form, in declared order; created on first use. */
  readonly fields: () => ReadonlyMap<string, FieldModel>
}

/** The body of a request. */
export interface BodyModel {
  readonly required: boolean
  /** In the document's order; one at least. */
  readonly media: readonly MediaModel[]
  /** With `flatten`: input key to property name. Without: the whole body is the input `body`. */
  readonly flat?: ReadonlyMap<string, string> | undefined
  /** The server is one of this library: files have names and types, and are base64 text in JSON. */
  readonly isOurs?: boolean | undefined
}

/** A server as the document describes it. */
export interface ServerModel {
  readonly url: string
  readonly variables: ReadonlyMap<string, ServerVariable>
}

export interface ServerVariable {
  readonly default: string
  readonly enum?: readonly string[] | undefined
}

/** A way to prove who is calling. */
export type SecurityScheme =
  | { readonly type: "apiKey"; readonly in: "header" | "query" | "cookie"; readonly name: string }
  | { readonly type: "http"; readonly scheme: string }
  | {
      readonly type: "oauth2"
      /** Of the client credentials flow, if there is one. */
      readonly tokenUrl?: string | undefined
    }
  | { readonly type: "openIdConnect" }
  | { readonly type: "mutualTLS" }
  | { readonly type: "unknown"; readonly declared: string }

/** Schemes that are needed together, by name, with their scopes; no scheme at all means "anyone". */
export type SecurityRequirement = ReadonlyMap<
  string,
  { readonly scheme: SecurityScheme; readonly scopes: readonly string[] }
>

/** Everything needed to build a request of one operation. */
export interface RequestPlan {
  /** `namespace.name`, for messages. */
  readonly id: string
  /** Upper-case. */
  readonly method: string
  /** The path template as written in the document: it may contain a query or a fragment. */
  readonly path: string
  readonly parameters: readonly ParameterModel[]
  /** Some of them have a `preset`. */
  readonly hasPresets?: boolean | undefined
  /** Keys of parameters that are dates: a `Date` is written without its time. */
  readonly days?: ReadonlySet<string> | undefined
  readonly body?: BodyModel | undefined
  /** The declared content types of a success, JSON first, for `Accept`. */
  readonly accept: readonly string[]
  /** The first usable one is taken: the operation's own, else the path's, else the document's. */
  readonly servers: readonly ServerModel[]
  /** The document's own servers, to check whether `servers` differs. */
  readonly rootServers: readonly ServerModel[]
  /** Alternatives; none at all means that the operation needs no credential. */
  readonly security: readonly SecurityRequirement[]
  /** Fixed values of a stream twin: query parameters, and members of a JSON or form body. */
  readonly fixed?: {
    readonly query?: Readonly<Record<string, string>> | undefined
    readonly body?: Readonly<Record<string, unknown>> | undefined
  }
}

/** The additions of credentials to a request. */
export interface AppliedAuth {
  readonly headers: Readonly<Record<string, string>>
  readonly query: readonly (readonly [string, string])[]
  readonly cookies: readonly (readonly [string, string])[]
}
