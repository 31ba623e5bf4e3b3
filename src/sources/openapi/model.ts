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

/** How one value becomes text. */
export interface Serialization {
  readonly style: ParameterStyle
  readonly explode: boolean
  readonly allowReserved: boolean
}

/** One parameter, whatever version of OpenAPI described it. */
export interface ParameterModel extends Serialization {
  /** Its key in the operation's input. */
  readonly key: string
  /** Its name in the request. */
  readonly name: string
  readonly in: Exclude<InputLocation, "body">
  readonly required: boolean
  /** A required one of a request that callers may leave out: what is sent then. */
  readonly preset?: unknown
  /** A required header that the configuration may send instead of the caller. */
  readonly isShared?: boolean | undefined
  /** An empty value is sent as such; otherwise an empty list is left out. */
  readonly allowEmptyValue: boolean
  /** The media type in which a `content` parameter is written. */
  readonly content?: string | undefined
}

/** What an `encoding` object says about one field of a form. */
export interface EncodingModel {
  readonly contentType?: string | undefined
  /** Given only where the document says so: it then replaces the field's content type. */
  readonly serialization?: Serialization | undefined
}

/** What is known about one field of a form. */
export interface FieldModel {
  /** Files and other raw bytes. */
  readonly isBinary: boolean
  readonly encoding?: EncodingModel | undefined
}

/** One content type that a body may have. */
export interface MediaModel {
  /** As the document writes it, parameters included. */
  readonly type: string
  /** The body as a whole is raw bytes. */
  readonly isBinary: boolean
  /** Fields of a form, in the order they are declared; made when first asked for. */
  readonly fields: () => ReadonlyMap<string, FieldModel>
}

/** The body of a request. */
export interface BodyModel {
  readonly required: boolean
  /** In the document's order; one at least. */
  readonly media: readonly MediaModel[]
  /** With `flatten`: input key to property name. Without: the whole body is the input `body`. */
  readonly flat?: ReadonlyMap<string, string> | undefined
}

/** A server as the document describes it. */
export interface ServerModel {
  readonly url: string
  readonly variables: ReadonlyMap<
    string,
    { readonly default: string; readonly enum?: readonly string[] | undefined }
  >
}

/** A way to prove who is calling. */
export type SecurityScheme =
  | { readonly type: "apiKey"; readonly in: "header" | "query" | "cookie"; readonly name: string }
  | { readonly type: "http"; readonly scheme: string }
  | {
      readonly type: "oauth2"
      /** Of the client credentials flow, where there is one. */
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

/** Everything that is needed to write a request of one operation. */
export interface RequestPlan {
  /** `namespace.name`, for messages. */
  readonly id: string
  /** Upper-case. */
  readonly method: string
  /** The path template, as the document writes it: it may hold a query or a fragment. */
  readonly path: string
  readonly parameters: readonly ParameterModel[]
  /** Some of them have a `preset`. */
  readonly hasPresets?: boolean | undefined
  /** Keys of those that are days: a `Date` is written without its time. */
  readonly days?: ReadonlySet<string> | undefined
  readonly body?: BodyModel | undefined
  /** Declared content types of a success, JSON first; what `Accept` says. */
  readonly accept: readonly string[]
  /** The first that is usable counts: the operation's own, else the path's, else the document's. */
  readonly servers: readonly ServerModel[]
  /** The document's own servers, to tell whether `servers` is somewhere else. */
  readonly rootServers: readonly ServerModel[]
  /** Alternatives; none at all means that the operation needs no credential. */
  readonly security: readonly SecurityRequirement[]
  /** What a stream twin always sends: query parameters, and members of a JSON or form body. */
  readonly fixed?: {
    readonly query?: Readonly<Record<string, string>> | undefined
    readonly body?: Readonly<Record<string, unknown>> | undefined
  }
}
