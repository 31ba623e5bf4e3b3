import { changedError } from "../../core/error-marks.ts"
import { CallError } from "../../core/errors.ts"
import { problemError } from "../../core/problem.ts"
import { exchange } from "../../http-client/exchange.ts"
import type { HttpResponse } from "../../http-client/exchange.ts"
import { readBody } from "../../http-client/read-body.ts"
import type { HubAddress } from "./hub-address.ts"

/** A request to a hub. */
export interface HubRequest {
  readonly method: "GET" | "POST"
  /** Path after the hub's URL: `/operations`. */
  readonly path: string
  readonly signal: AbortSignal
  readonly body?: string | Blob | ReadableStream<Uint8Array> | undefined
  /** Further headers, such as the content type of a body that is not JSON. */
  readonly headers?: Readonly<Record<string, string>> | undefined
  readonly accept?: string | undefined
  readonly operationId?: string | undefined
  /** Milliseconds that the hub may take. */
  readonly timeout?: number | undefined
}

// Results of operations may be large; the hub has its own limits.
const MAX_BYTES = 256 * 1024 * 1024

/** The subject of errors. */
const SUBJECT = "The request to the hub"

/** Sends requests to a hub's gateway; failures are `CallError`s, as in the hub. */
export class HubClient {
  readonly url: string
  readonly #token: string | undefined

  constructor({ url, token }: HubAddress) {
    this.url = url
    this.#token = token
  }

  /** The headers of a request, with or without the token. */
  headers(request: HubRequest, withToken = true): Record<string, string> {
    return {
      accept: request.accept ?? "application/json",
      ...(request.body !== undefined && { "content-type": "application/json" }),
      ...request.headers,
      ...(request.timeout !== undefined && { "x-timeout-ms": String(request.timeout) }),
      ...(this.#token !== undefined && {
        authorization: `Bearer ${withToken ? this.#token : "***"}`,
      }),
    }
  }

  /** Sends a request and returns the JSON of a successful response. */
  async json(request: HubRequest): Promise<unknown> {
    return await this.read(await this.open(request), request)
  }

  /** Reads the JSON of a successful response. */
  async read(response: HttpResponse, request: HubRequest): Promise<unknown> {
    const { data } = await readBody(response, this.#reading(request))
    if (typeof data === "object" && data !== null) return data
    throw this.#notHub(response.status)
  }

  /** Sends a request and returns a successful response with its unread body. */
  async open(request: HubRequest): Promise<HttpResponse> {
    const { method, path, body, signal, operationId } = request
    const sent = { method, url: `${this.url}${path}`, headers: this.headers(request), body }
    const response = await exchange(sent, {
      fetch: globalThis.fetch,
      signal,
      operationId,
      secrets: this.secrets,
      mayHaveEffect: method !== "GET",
      subject: SUBJECT,
    })
    if (response.status < 400) return response
    throw await this.#failure(response, request)
  }

  get secrets(): readonly string[] {
    return this.#token === undefined ? [] : [this.#token]
  }

  #reading(request: HubRequest): Parameters<typeof readBody>[1] {
    const { method, signal, operationId } = request
    const maxBytes = MAX_BYTES
    return { method, signal, operationId, secrets: this.secrets, maxBytes, subject: SUBJECT }
  }

  async #failure(response: HttpResponse, request: HubRequest): Promise<CallError> {
    const { data } = await readBody(response, { ...this.#reading(request), truncate: true })
    return hubError(data, this.url) ?? this.#notHub(response.status)
  }

  #notHub(status: number): CallError {
    return new CallError(
      "UNAVAILABLE",
      `${this.url} answered with ${status} and not as a hub does. Is the address right?`,
      { retryable: false },
    )
  }
}

/** The error that a problem of a hub describes, with what to do; `undefined` when it is not a problem. */
export function hubError(problem: unknown, hub: string): CallError | undefined {
  const error = problemError(problem)
  if (error?.code !== "UNAUTHENTICATED") return error
  const cure = `The hub at ${hub} needs a credential: set OPERATIONS_TOKEN, or give --token.`
  return changedError(error, { message: `${error.message}\n${cure}` })
}
