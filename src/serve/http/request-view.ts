// A request as the option `context` gets it, alike in every framework.

import { isCallError } from "../../core/errors.ts"
import { markInternal } from "../../core/error-marks.ts"
import { notCalled } from "../../core/not-called.ts"
import type { Identity } from "../../core/types.ts"
import { isObject, isThenable } from "../../internal/guards.ts"
import { reasonOf, typeName } from "../../internal/message-text.ts"
import type { Clock } from "../../internal/platform.ts"
import { withTimeout } from "../../internal/wait.ts"
import { readCookies } from "../cookies.ts"
import type { HTTPIncoming } from "../exchange.ts"
import type { NodeRequestLike } from "../node-types.ts"
import { originOf } from "./response.ts"

/** The HTTP request of a call. Its body is the input of the call. */
export interface HTTPCallRequest {
  readonly method: string
  /** The whole URL, with the path that the client asked for. */
  readonly url: string
  readonly headers: Headers
  readonly cookies: ReadonlyMap<string, string>
}

/** A call that comes with an HTTP request. */
export interface HTTPCallInfo {
  readonly operationId: string
  readonly requestId: string
  /** The caller; `undefined` for an anonymous one. */
  readonly identity: Identity | undefined
  /** The request as the framework has it: a `Request`, or the request of Node, Express or another one. */
  readonly raw: object
}

/** What `provide` of a context value returns. */
type Provided = Readonly<Record<string, unknown>>

/** What a call gets from its request: one or several values of `defineContextValue`, or nothing. */
export type HTTPContextValues = Provided | readonly Provided[] | undefined

/** Provides context values for a call from its HTTP request. */
export type ProvideHTTPContext = (
  request: HTTPCallRequest,
  info: HTTPCallInfo,
) => HTTPContextValues | Promise<HTTPContextValues>

/** The request of a call, as far as the option `context` needs it. */
export type ViewedRequest = Pick<HTTPIncoming, "method" | "like" | "raw" | "requestId">

class RequestView implements HTTPCallRequest {
  readonly method: string
  readonly #incoming: ViewedRequest
  #headers: Headers | undefined
  #cookies: ReadonlyMap<string, string> | undefined

  constructor(incoming: ViewedRequest) {
    this.method = incoming.method
    this.#incoming = incoming
  }

  get url(): string {
    const { raw, like } = this.#incoming
    const { url = "/", originalUrl = url } = (raw ?? like) as NodeRequestLike
    const { origin } = originOf(this.#incoming)
    const whole = originalUrl.startsWith("/") ? `${origin}${originalUrl}` : originalUrl
    return URL.canParse(whole) ? new URL(whole).href : `${origin}/`
  }

  get headers(): Headers {
    return (this.#headers ??= headersOf(this.#incoming))
  }

  get cookies(): ReadonlyMap<string, string> {
    return (this.#cookies ??= readCookies(this.#incoming.like))
  }
}

function headersOf({ like }: ViewedRequest): Headers {
  const headers = new Headers()
  for (const [name, value = []] of Object.entries(like.headers)) {
    // Pseudo-headers of HTTP/2 are not headers.
    if (name.startsWith(":")) continue
    for (const one of typeof value === "string" ? [value] : value) headers.append(name, one)
  }
  return headers
}

/**
 * The values for a call; a promise of them if `provide` returns one. Throws or rejects with a `CallError` that
 * `provide` threw; other errors are for the log.
 */
export function contextValues(
  provide: ProvideHTTPContext,
  incoming: ViewedRequest,
  call: Pick<HTTPCallInfo, "operationId" | "identity">,
  { timeout = 10_000, clock }: { readonly timeout: number | undefined; readonly clock: Clock },
): Provided | Promise<Provided> {
  const { operationId, identity } = call
  const { requestId, raw = incoming.like } = incoming
  try {
    const given = provide(new RequestView(incoming), { operationId, requestId, identity, raw })
    if (!isThenable(given)) return combined(given)
    const onLate = (): never => {
      const why = `its context took more than ${timeout} ms`
      throw notCalled("TIMEOUT", operationId, `${why}.`, { mayHaveExecuted: false })
    }
    return withTimeout(given, timeout, onLate, { clock, keepsAlive: false }).then(
      combined,
      (thrown: unknown) => failed(thrown, operationId),
    )
  } catch (thrown) {
    return failed(thrown, operationId)
  }
}

/** Several values as the metadata of a call. */
function combined(given: HTTPContextValues): Provided {
  const values: readonly unknown[] = Array.isArray(given) ? given : [given]
  for (const one of values) {
    // Named members would be shared by caches, and sent on to other registries.
    if (one === undefined || (isObject(one) && Object.keys(one).length === 0)) continue
    throw new TypeError(
      `toHTTP({ context }) must return what provide() of a defineContextValue() returns, or a list of these, ` +
        `got ${isObject(one) ? `the members ${Object.keys(one).join(", ")}` : typeName(one)}.`,
    )
  }
  return Object.assign({}, ...values) as Provided
}

function failed(thrown: unknown, operationId: string): never {
  if (isCallError(thrown)) throw thrown
  const why = `the function context of toHTTP failed: ${reasonOf(thrown)}`
  const terms = { cause: thrown, mayHaveExecuted: false }
  throw markInternal(notCalled("EXECUTION_ERROR", operationId, why, terms))
}
