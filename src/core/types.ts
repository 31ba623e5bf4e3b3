import type { MCPSkill } from "./skill.ts"
import type { TSchema } from "typebox"
import type { Logger } from "../internal/logger.ts"
import type { MCPIcon } from "./envelope.ts"

/** The kind of an operation: it reads, changes something, or returns a stream. */
export const OperationType = {
  QUERY: "query",
  MUTATION: "mutation",
  SUBSCRIPTION: "subscription",
} as const

export type OperationType = (typeof OperationType)[keyof typeof OperationType]

// Types only: lets `OperationType.QUERY` be written where a type is expected.
export declare namespace OperationType {
  type QUERY = "query"
  type MUTATION = "mutation"
  type SUBSCRIPTION = "subscription"
}

/** Whether remote callers can call an operation; for them, `internal` ones do not exist. */
export type Visibility = "external" | "internal"

/** Who is calling. Plain data: only own properties of the stated types count. */
export interface Identity {
  readonly id: string
  readonly scopes: readonly string[]
  /** `"type:id"` to the actions allowed on it. */
  readonly resources?: Readonly<Record<string, readonly string[]>> | undefined
}

/** What a caller needs. If nothing is required, anyone may call. */
export interface AccessControl {
  /** All of these scopes. */
  readonly requiredScopes: readonly string[]
  /** At least one of these scopes. */
  readonly requiredScopesAny?: readonly string[] | undefined
  readonly resourceType?: string | undefined
  readonly resourceAction?: string | undefined
  /** JSON pointer into the input: the resource entry must have that id. */
  readonly resourceIdPath?: string | undefined
}

/** An error that an operation declares as part of its contract. */
export interface ErrorDefinition {
  readonly code: string
  readonly description: string
  /** Describes the error's `details`. */
  readonly schema: TSchema
  readonly httpStatus?: number | undefined
}

/** Hints about an operation's effect, for agents and user interfaces. */
export interface OperationAnnotations {
  readonly readOnly?: boolean | undefined
  readonly destructive?: boolean | undefined
  readonly idempotent?: boolean | undefined
  readonly openWorld?: boolean | undefined
}

/** Since when an operation is deprecated, how long it will work, and what replaces it. */
export interface OperationDeprecation {
  /** A date or a date-time with its zone: `2026-03-01`. It may be in the future. */
  readonly since?: string | undefined
  /** When callers must expect that the operation no longer exists; not before `since`. */
  readonly sunset?: string | undefined
  /** The id of the operation to call instead. */
  readonly replacedBy?: string | undefined
  /** An http(s) URL of a page for callers. */
  readonly link?: string | undefined
}

/** The method and path of an operation in an HTTP API, instead of its default path. */
export interface RestRoute {
  /** GET is for operations that change nothing. */
  readonly method: "GET" | "POST" | "PUT" | "PATCH" | "DELETE"
  /** `/users/{id}`: a segment in braces is an input. Others are in the query of GET and DELETE, else in the body. */
  readonly path: string
  /** The status of a success, such as 201; default: 200, or 204 without a result. */
  readonly status?: number | undefined
}

/** How MCP servers show an operation. */
export interface MCPExposure {
  /** Default: "tool". A resource is a query; a prompt returns a text, messages or content blocks. */
  readonly as?: "tool" | "resource" | "prompt" | undefined
  /** The address of a resource, or a template whose variables are inputs: `note://{id}`. */
  readonly uri?: string | undefined
  /** `_meta` of the definition that clients receive. */
  readonly meta?: Readonly<Record<string, unknown>> | undefined
  readonly icons?: readonly MCPIcon[] | undefined
  /**
   * By input: the id of the operation that completes it. It receives `{ value, arguments }`, the text so far and the
   * other inputs, and returns a list of texts. The values of an enumeration need none.
   */
  readonly complete?: Readonly<Record<string, string>> | undefined
  /** The resource is the `SKILL.md` of a skill. */
  readonly skill?: MCPSkill | undefined
  /** Hints for MCP clients alone, before those of the operation's `annotations`. */
  readonly annotations?: {
    readonly title?: string
    readonly readOnlyHint?: boolean
    readonly destructiveHint?: boolean
    readonly idempotentHint?: boolean
    readonly openWorldHint?: boolean
  }
}

/** The serializable contract of an operation. Its id is `namespace.name`. */
export interface OperationSpec {
  readonly name: string
  readonly namespace: string
  readonly version: string
  readonly type: OperationType
  readonly title?: string | undefined
  readonly description: string
  readonly tags?: readonly string[] | undefined
  readonly inputSchema: TSchema
  /** Describes the result's `data`, not the envelope around it. */
  readonly outputSchema: TSchema
  readonly errorSchemas?: readonly ErrorDefinition[] | undefined
  readonly accessControl: AccessControl
  readonly visibility?: Visibility | undefined
  readonly annotations?: OperationAnnotations | undefined
  readonly deprecated?: boolean | undefined
  /** Details for callers. An operation that has them is `deprecated`. */
  readonly deprecation?: OperationDeprecation | undefined
  readonly examples?: readonly unknown[] | undefined
  /** Its own route in HTTP APIs. Only that of an operation of this process counts: imports lose theirs. */
  readonly route?: RestRoute | undefined
  /** How MCP servers show it. */
  readonly mcp?: MCPExposure | undefined
  readonly _meta?: Readonly<Record<string, unknown>> | undefined
}

/** The progress that a handler reports. */
export interface ProgressUpdate {
  readonly progress: number
  readonly total?: number | undefined
  readonly message?: string | undefined
}

/** A request for input from the caller: data, a visit to a page, or a service of an agent's host. */
export type InputRequest =
  | FormInputRequest
  | UrlInputRequest
  | SamplingInputRequest
  | RootsInputRequest

interface KeyedInputRequest {
  /** Identifies the question among several of one call; by default they are counted. */
  readonly key?: string | undefined
}

/** Asks for data, usually with a form. */
export interface FormInputRequest extends KeyedInputRequest {
  readonly type?: "form" | undefined
  /** The registry asks whether the call may run: rules of `approvals` say so. */
  readonly purpose?: "approval" | undefined
  readonly message: string
  /** An object with plain properties: that is what forms can show. */
  readonly schema: TSchema | Readonly<Record<string, unknown>>
}

/** Asks to do something on a web page, such as paying or signing in. */
export interface UrlInputRequest extends KeyedInputRequest {
  readonly type: "url"
  readonly message: string
  readonly url: string
}

/** Asks the caller's language model; `params` as in MCP's `sampling/createMessage`. */
export interface SamplingInputRequest extends KeyedInputRequest {
  readonly type: "sampling"
  readonly params: Readonly<Record<string, unknown>>
}

/** Asks which folders the caller works in. */
export interface RootsInputRequest extends KeyedInputRequest {
  readonly type: "roots"
}

/** The answer to a request for input. A handler receives content of a form that matches its schema. */
export interface InputResponse {
  readonly action: "accept" | "decline" | "cancel"
  /** The data of a form, the message of a model, the list of roots. */
  readonly content?: unknown
}

/** Policy options of a caller. They can only restrict policies: fewer attempts, no cached results. */
export interface CallPolicy {
  /** No repeats, or a maximum number of attempts. */
  readonly retry?: false | { readonly attempts: number } | undefined
  /** `skip`: the result does not come from the cache, and does not go there. `refresh`: it goes there. */
  readonly cache?: "skip" | "refresh" | undefined
  /** No second attempt at the same time. */
  readonly hedge?: false | undefined
}

/** The ways in which a call can come; `call` is the application's own code. */
export const CALL_WAYS = [
  "mcp",
  "http",
  "websocket",
  "worker",
  "nats",
  "redis",
  "cli",
  "console",
  "tools",
  "code",
  "call",
] as const

export type CallWay = (typeof CALL_WAYS)[number]

/** The options of a call. A handler passes its own context to make a nested call. */
export interface CallOptions {
  readonly requestId?: string | undefined
  readonly parentRequestId?: string | undefined
  readonly identity?: Identity | undefined
  /** Epoch milliseconds, instead of the registry's default; `Infinity` for none. */
  readonly deadline?: number | undefined
  /** The same as milliseconds from now; the earlier one counts. */
  readonly timeout?: number | undefined
  readonly signal?: AbortSignal | undefined
  readonly metadata?: Readonly<Record<string, unknown>> | undefined
  readonly log?: Logger | undefined
  /** Receives what the handler reports with `context.progress`. */
  readonly progress?: ((value: ProgressUpdate) => void) | undefined
  /** Answers what handlers ask with `context.requestInput`, nested calls included. */
  readonly requestInput?: ((request: InputRequest) => Promise<InputResponse>) | undefined
  /** Restrictions of the operation's policies for this call: fewer attempts, no cached result. */
  readonly policy?: CallPolicy | undefined
  /** 1 to 255 characters that identify this call, so that it can be repeated without a second effect. */
  readonly idempotencyKey?: string | undefined
  /** Checks and decides the call, and does not run it: the data of the result is a `DryRun`. For `execute`. */
  readonly dryRun?: boolean | undefined
  /** How the call came, for the rules of `approvals` and for tracers; servers set it. A nested call has that of its outermost call. */
  readonly via?: CallWay | undefined
}

/** The call that a function returns a credential or headers for. */
export interface CredentialContext {
  /** Who calls; `undefined` for anonymous callers, and when a source is connected to or listed. */
  readonly identity: Identity | undefined
  /** The operation as it was imported; `undefined` when a source is connected to or listed. */
  readonly operationId: string | undefined
  /** Aborts when the call ends early. */
  readonly signal: AbortSignal
}

/** How results that do not match their schema exactly are treated. */
export type NormalizeMode = "strip" | "keep" | "off"

/** What happens when an input fails its schema. */
export type InputMode = "warn" | "strict"

/** What happens when a result fails its schema. */
export type OutputMode = "warn" | "strict" | "off"

/**
 * Operations known to the whole program, by id. Empty here: generated declarations, or your own,
 * add members by declaration merging, and then every registry and context is typed for them.
 */
// oxlint-disable-next-line typescript/no-empty-object-type -- an interface, so that it can be merged into
export interface RegisteredOperations {}

/** The same by namespace and name, for those that generated declarations add: editors lead from clients to its members. */
// oxlint-disable-next-line typescript/no-empty-object-type -- an interface, so that it can be merged into
export interface RegisteredRoutes {}
