// Sends the calls of one import, from the input to the envelope.
import { changedError, repeatableLoss } from "../../core/error-changes.ts"
import { CallError, isCallError } from "../../core/errors.ts"
import { discard, exchange, type HttpResponse } from "../../http-client/exchange.ts"
import type { ShownRequest } from "../../core/dry-run.ts"
import type { CallOptions } from "../../core/types.ts"
import { encodeSoon } from "../../core/unread-file.ts"
import { fileOf } from "../../http-client/file-bodies.ts"
import { fileFieldsOf } from "../../schema/file-fields.ts"
import { fixedHeaders, readCallHeaders } from "../../core/call-headers.ts"
import { keyForOthers } from "../../core/call-policy.ts"
import { secretsIn } from "../../http-client/secrets.ts"
import { resolveFetch } from "../../http-client/public-fetch.ts"
import { readHttpError } from "../../http-client/http-error.ts"
import { createTokenSource } from "../../http-client/oauth.ts"
import { isJson } from "../../http-client/media-type.ts"
import { readBody } from "../../http-client/read-body.ts"
import { isSafeMethod, type PreparedRequest } from "../../http-client/request.ts"
import { httpEnvelope, type ResponseEnvelope } from "../../core/envelope.ts"
import { compileJson } from "../../schema/compiled.ts"
import { isRecord } from "../../internal/guards.ts"
import { selectAuth, type AuthContext, type TokenRequest } from "./auth.ts"
import type { SelectedAuth } from "./auth/apply.ts"
import { createTokenStore, credentialContext, type TokenProvider } from "./auth/secrets.ts"
import type { HTTPServiceConfig, RequestOptions } from "./config.ts"
import type { OperationSource } from "./operation/source.ts"
import { isProblem } from "./operation/problems.ts"
import { problemError } from "./problem-error.ts"
import { buildRequest } from "./request/build.ts"
import { encodeMultipart, holdsBlob } from "./request/multipart.ts"
import { chooseServer } from "./request/server.ts"
import { traceRequest } from "./trace.ts"
import { createCallLimits, type CallLimits, type HandlerContext } from "./call-limits.ts"

/** A request that contains its secrets. */
interface ReadyRequest {
  readonly request: PreparedRequest
  readonly auth: SelectedAuth
  readonly headers: PlainHeaders | undefined
}

type PlainHeaders = Readonly<Record<string, string>>

/** Additions to a request besides its input. */
interface Extras {
  readonly headers: PlainHeaders | undefined
  /** Its body can be sent only once. */
  isOnce: boolean
}

/** A response, and the secrets to mask in everything derived from it. */
export interface Answer {
  readonly response: HttpResponse
  readonly secrets: readonly string[]
}

/** Sends the requests of one import. */
export class HTTPOperationClient {
  // Private, so that printing an operation does not show the credentials.
  readonly #config: HTTPServiceConfig & Pick<RequestOptions, "contentType">
  /** The headers of the configuration, if none depends on the call. */
  readonly #headers: PlainHeaders | undefined
  readonly #documentUrl: string | undefined
  readonly #tokens: TokenProvider

  constructor(config: HTTPServiceConfig, documentUrl: string | undefined) {
    this.#config = config
    this.#headers = config.headers && fixedHeaders(config.headers)
    this.#documentUrl = documentUrl
    this.#tokens = createTokenStore((request: TokenRequest) =>
      createTokenSource({ ...request, fetch: this.fetch }),
    )
  }

  /** Read for each call, so that a later replacement of the platform's `fetch` takes effect. */
  get fetch(): typeof globalThis.fetch {
    return resolveFetch(this.#config)
  }

  /** How integers beyond 2^53 are returned. */
  get bigint(): HTTPServiceConfig["bigint"] {
    return this.#config.bigint
  }

  /** The request that would be sent. */
  async prepare(
    source: OperationSource,
    input: unknown,
    options: RequestOptions = {},
  ): Promise<PreparedRequest> {
    return (await this.#ready(source, input, options, options)).request
  }

  /** The request of a call, without what is secret in it. Fetches no token. */
  async show(source: OperationSource, input: unknown, context: CallOptions): Promise<ShownRequest> {
    const { signal } = context
    const key = await this.#keyHeader(context, source)
    const ready = await this.#ready(source, input, { signal }, context, key, NO_TOKENS)
    const { showRequest } = await import("./show-request.ts")
    return await showRequest(ready.request, [...ready.auth.secrets, ...secretsIn(ready.headers)])
  }

  /** Runs an operation that does not stream. */
  async call(
    source: OperationSource,
    input: unknown,
    context: HandlerContext | undefined,
  ): Promise<ResponseEnvelope> {
    const key = await this.#keyHeader(context, source)
    const more: Extras = { headers: key ?? revalidationHeaders(context, source), isOnce: false }
    const limits = createCallLimits(context, this.#config.timeout, source.id)
    try {
      const { response, secrets } = await this.open(source, input, context, limits, more)
      const { status, headers, contentType } = response
      const http = { statusCode: status, headers, contentType }
      const file = source.isOurs ? fileFieldsOf(source.outputSchema)?.whole?.kind : undefined
      if (file === "stream" && status === 200) {
        return httpEnvelope(
          fileOf((name) => headers[name], response.body),
          http,
        )
      }
      const { data, warning } = await readBody(response, {
        isFile: file !== undefined,
        signal: limits.signal,
        secrets,
        method: source.operation.method,
        mayHaveEffect: mayHaveEffect(source),
        operationId: source.id,
        maxBytes: this.#config.maxResponseBytes,
        bigint: this.#config.bigint,
      })
      if (warning !== undefined) context?.log?.warn(warning, { operationId: source.id })
      const value =
        typeof data === "string" && !isJson(contentType) ? source.readText(data, response) : data
      return httpEnvelope(source.decoded(value), http)
    } catch (error) {
      // The API sees to it that a key has its effect once.
      const isRepeatable = key !== undefined && !more.isOnce && isLoss(error)
      throw isRepeatable ? repeatableLoss(error) : error
    } finally {
      limits.end()
    }
  }

  /** Sends a request and returns its response; throws when that is not a success. */
  async open(
    source: OperationSource,
    input: unknown,
    context: HandlerContext | undefined,
    limits: CallLimits,
    more?: Extras,
  ): Promise<Answer> {
    for (let attempt = 1; ; attempt++) {
      const { signal } = limits
      const ready = await this.#ready(source, input, { signal }, context, more?.headers)
      const { request, auth } = ready
      const isOnce = isStreamed(request.body)
      if (more !== undefined) more.isOnce = isOnce
      const secrets = [...auth.secrets, ...secretsIn(ready.headers)]
      const { fetch } = this
      const sent = traceRequest(context, { source, request, fetch, attempt }, (traced) =>
        exchange(traced, {
          fetch,
          signal,
          operationId: source.id,
          secrets,
          mayHaveEffect: mayHaveEffect(source),
          encodeBody: encodeMultipart,
          redirect: this.#config.redirect,
          exposeHeaders: this.#config.exposeHeaders,
        }),
      )
      const response = await (isOnce ? sent.catch(refuseRepetition) : sent)
      // 304 has no data: the cache that asked for it has them, and for other callers it is an error.
      if (response.status < 400 && response.status !== 304) return { response, secrets }
      if (response.status === 401) {
        auth.forget()
        // The token may have been revoked; try once with a new one.
        if (attempt === 1 && this.#fetchesTokens && !isOnce) {
          discard(response)
          continue
        }
      }
      const failure = await this.#failure(source, response, secrets, context, limits)
      throw isOnce ? changedError(failure, { retryable: false }) : failure
    }
  }

  /** The idempotency key of a call, if the API takes one. */
  async #keyHeader(
    context: Pick<HandlerContext, "identity" | "idempotencyKey"> | undefined,
    source: OperationSource,
  ): Promise<PlainHeaders | undefined> {
    const key = context?.idempotencyKey
    if (key === undefined || !mayHaveEffect(source)) return undefined
    const { idempotencyHeader = declaredKeyHeader(source) } = this.#config
    if (idempotencyHeader === undefined) return undefined
    return { [idempotencyHeader]: await keyForOthers(key, context?.identity) }
  }

  get #fetchesTokens(): boolean {
    const { auth, credentials } = this.#config
    return [auth, ...Object.values(credentials ?? {})].some(
      (credential) => typeof credential === "object" && credential.type === "clientCredentials",
    )
  }

  async #ready(
    source: OperationSource,
    input: unknown,
    options: RequestOptions,
    caller: AuthContext["caller"],
    more?: PlainHeaders,
    tokens: TokenProvider = this.#tokens,
  ): Promise<ReadyRequest> {
    const { plan } = source
    const config = { ...this.#config, ...options }
    const { base, origin } = chooseServer(plan, { ...config, documentUrl: this.#documentUrl })
    const context: AuthContext = {
      operationId: source.id,
      origin,
      documentUrl: this.#documentUrl,
      allowedOrigins: config.allowedOrigins,
      signal: options.signal,
      caller,
      isUndeclared: source.isUndeclared,
      tokens,
    }
    const auth = await selectAuth(plan.security, config, context)
    const configured = options.headers ?? this.#headers ?? this.#config.headers
    const own =
      configured === this.#headers
        ? this.#headers
        : configured &&
          (await readCallHeaders(
            configured,
            credentialContext(context),
            `A header for "${source.id}"`,
          ))
    const headers = more === undefined ? own : { ...own, ...more }
    // Files inside JSON are read first.
    const request = await encodeSoon(() =>
      buildRequest(plan, inputOf(source, input), {
        base,
        contentType: config.contentType,
        headers,
        auth: auth.applied,
      }),
    )
    return { request, auth, headers }
  }

  async #failure(
    source: OperationSource,
    response: HttpResponse,
    secrets: readonly string[],
    context: HandlerContext | undefined,
    { signal }: CallLimits,
  ): Promise<CallError> {
    return await readHttpError(response, {
      operationId: source.id,
      method: source.operation.method,
      mayHaveEffect: mayHaveEffect(source),
      signal,
      secrets,
      maxBytes: this.#config.maxResponseBytes,
      refine: (error, body) => {
        const hasProblem = isProblem(response.contentType)
        const problem = hasProblem ? problemError(body, error, source, context) : undefined
        return problem ?? statusError(error, response.status, source, context)
      },
    })
  }
}

const NO_TOKENS: TokenProvider = {
  token: () => Promise.resolve("a token that is fetched"),
  forget() {},
}

/** Whether a body is consumed by sending it, so that it cannot be sent again. */
function isStreamed(body: PreparedRequest["body"]): boolean {
  if (body instanceof FormData) return holdsBlob(body)
  return body instanceof ReadableStream || body instanceof Blob
}

/** Marks the error of a request whose body can be sent only once. */
function refuseRepetition(error: unknown): never {
  throw isCallError(error) ? changedError(error, { retryable: false }) : error
}

/** Asks for a result only if it differs from the one that a cache holds. */
function revalidationHeaders(
  context: HandlerContext | undefined,
  { operation }: OperationSource,
): PlainHeaders | undefined {
  const revalidate = context?.revalidate
  if (revalidate === undefined || !isSafeMethod(operation.method)) return undefined
  const { etag, lastModified } = revalidate
  return {
    ...(etag !== undefined && { "if-none-match": etag }),
    ...(lastModified !== undefined && { "if-modified-since": lastModified }),
  }
}

/** The name of the header for idempotency keys that an operation declares. */
function declaredKeyHeader({ plan }: OperationSource): string | undefined {
  return plan.parameters.find((one) => one.in === "header" && /^idempotency-key$/i.test(one.name))
    ?.name
}

/** Whether the answer was lost, so that the outcome of the request is unknown. */
function isLoss(error: unknown): error is CallError {
  if (!isCallError(error) || !error.mayHaveExecuted) return false
  const status = isRecord(error.details) ? error.details["statusCode"] : undefined
  return /^(UNAVAILABLE|TIMEOUT|DATA_LOSS)$/.test(error.code) || status === 502 || status === 504
}

/** Adds the code that the document declares for a status, if the error matches its schema. */
function statusError(
  error: CallError,
  status: number,
  source: OperationSource,
  context: HandlerContext | undefined,
): CallError {
  const declared = declaredError(source, status)
  if (declared === undefined || !isRecord(error.details)) return error
  if (compileJson(declared.schema).check(error.details)) {
    return changedError(error, { details: { ...error.details, declared: declared.code } })
  }
  context?.log?.warn("An error does not match its schema in the document", {
    operationId: source.id,
    declared: declared.code,
  })
  return error
}

/** Whether a call may have an effect; documents of this library can mark a POST as read-only. */
function mayHaveEffect({ type, operation }: OperationSource): boolean {
  return type !== "query" && !isSafeMethod(operation.method)
}

function declaredError(
  { errorSchemas }: OperationSource,
  status: number,
): OperationSource["errorSchemas"][number] | undefined {
  const codes = [`HTTP_${status}`, `HTTP_${Math.floor(status / 100)}XX`, "HTTP_DEFAULT"]
  return codes
    .map((code) => errorSchemas.find((one) => one.code === code))
    .find((definition) => definition !== undefined)
}

function inputOf(source: OperationSource, input: unknown): Readonly<Record<string, unknown>> {
  if (input === undefined || input === null) return {}
  if (typeof input === "object" && !Array.isArray(input)) return input as Record<string, unknown>
  throw new CallError(
    "VALIDATION_ERROR",
    `Input for "${source.id}" must be an object with its inputs by name, got ${Array.isArray(input) ? "a list" : typeof input}.`,
    { operationId: source.id },
  )
}
