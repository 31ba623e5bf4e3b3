import { createSseFrameParser } from "../../../src/http-client/sse.ts"
import type { Frame } from "../../../src/http-client/sse.ts"
import { isObject } from "../../../src/internal/guards.ts"
import { ProblemError } from "./model.ts"
import { unexpectedAnswer, readProblem, unreachable } from "./problems.ts"
import { credentialHeaders } from "./session.ts"
import type { Session } from "./session.ts"

/** Options of the client; tests pass their own. */
export interface RequestOptions {
  /** Where the hub is, with a slash at its end. */
  readonly baseUrl: string
  readonly session: Session
  readonly fetch?: typeof fetch | undefined
  /** Called after each request with whether the hub answered it. */
  readonly onReach?: ((isReached: boolean) => void) | undefined
}

/** Longest event of the hub, in characters. */
const MAX_EVENT = 10 * 1024 * 1024

/** Requests to one hub, with the credential of the session. */
export class Requests {
  readonly baseUrl: string
  readonly session: Session
  readonly #fetch: typeof fetch
  readonly #onReach: (isReached: boolean) => void

  constructor(options: RequestOptions) {
    this.baseUrl = options.baseUrl
    this.session = options.session
    this.#fetch = options.fetch ?? ((input, init) => fetch(input, init))
    this.#onReach = options.onReach ?? (() => undefined)
  }

  /** An answer of any status. Rejects with a `ProblemError` when there is none, or with the signal's reason. */
  async send(path: string, init: RequestInit = {}): Promise<Response> {
    const { credential } = this.session
    const headers = new Headers(init.headers)
    // For rules of approvals.
    headers.set("x-operations-client", "console")
    for (const [name, value] of Object.entries(credentialHeaders(credential)))
      headers.set(name, value)
    let response: Response
    try {
      response = await this.#fetch(new URL(path, this.baseUrl), {
        ...init,
        headers,
        // Of a POST nothing is kept anyway; with it, browsers would ask the policies of the hub for a fresh result.
        ...(init.method !== "POST" && { cache: "no-store" }),
        // The credential is sent in a header; cookies of other pages are never sent.
        credentials: "omit",
        redirect: "error",
      })
    } catch (error) {
      if (init.signal?.aborted === true) throw error
      this.#onReach(false)
      throw new ProblemError(unreachable(init.method === "POST"), 0)
    }
    this.#onReach(true)
    // A response to an earlier credential says nothing about the current one.
    if (response.status === 401 && this.session.credential === credential)
      this.session.requireCredential()
    return response
  }

  /** A successful response; rejects with a `ProblemError` otherwise. */
  async ask(path: string, init?: RequestInit): Promise<Response> {
    const response = await this.send(path, init)
    if (!response.ok) throw new ProblemError(await readProblem(response), response.status)
    return response
  }

  /** The JSON object that a path answers with. */
  async json(path: string, signal?: AbortSignal): Promise<Record<string, unknown>> {
    const response = await this.ask(path, {
      headers: { accept: "application/json" },
      ...(signal !== undefined && { signal }),
    })
    const value: unknown = await response.json().catch((error: unknown) => {
      if (signal?.aborted === true) throw error
    })
    if (!isObject(value)) throw unexpectedAnswer(`The response of "${path}"`)
    return value as Record<string, unknown>
  }

  /** The server-sent events that a path answers with, until it ends. Leaving the loop ends the request. */
  async *events(
    path: string,
    signal: AbortSignal,
    onOpen: (() => void) | undefined,
  ): AsyncGenerator<Frame, void, void> {
    const { headers, body } = await this.ask(path, {
      headers: { accept: "text/event-stream" },
      signal,
    })
    onOpen?.()
    const type = headers.get("content-type") ?? ""
    if (body === null || !type.startsWith("text/event-stream")) {
      await body?.cancel()
      throw unexpectedAnswer(`A stream of type "${type}"`)
    }
    const frames = createSseFrameParser(MAX_EVENT)
    const decoder = new TextDecoder()
    const reader = body.getReader()
    try {
      for (;;) {
        const { done, value } = await reader.read()
        yield* frames.feed(decoder.decode(value, { stream: !done }))
        if (frames.isOverLimit) throw unexpectedAnswer("An event of the stream")
        if (done) return
      }
    } finally {
      // Cancelling a failed stream fails with the same error, which has been reported.
      reader.cancel().catch(() => undefined)
    }
  }
}
