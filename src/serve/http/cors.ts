import type { OptionsSchema } from "../../internal/options.ts"

/** Origins whose pages may call the API. Default: none. */
export interface CorsOptions {
  /** Such as `["https://app.example.com"]`; `["*"]` for all, never together with `credentials`. */
  readonly origins: readonly string[]
  /** Allows browsers to send cookies. */
  readonly credentials?: boolean | undefined
}

export const CORS_OPTIONS: OptionsSchema<CorsOptions> = {
  origins: { required: { list: "text" } },
  credentials: "boolean",
}

type Headers = Readonly<Record<string, string>>

// DELETE ends an MCP session; the MCP headers are those of both protocol eras.
const METHODS = "GET, POST, DELETE"
const REQUEST_HEADERS =
  "accept, authorization, cache-control, content-disposition, content-type, idempotency-key, last-event-id, mcp-method, mcp-name, " +
  "mcp-protocol-version, mcp-session-id, prefer, request-id, traceparent, tracestate, x-api-key, x-outer-call, " +
  "x-resume, x-timeout-ms"
const EXPOSED =
  "content-disposition, deprecation, link, mcp-session-id, preference-applied, request-id, retry-after, " +
  "sunset, www-authenticate"
const PREFLIGHT: Headers = {
  "access-control-allow-methods": METHODS,
  "access-control-allow-headers": REQUEST_HEADERS,
  "access-control-max-age": "600",
}

/** Computes the CORS headers of responses. */
export class Cors {
  /** Pages of every origin may call. */
  readonly isOpen: boolean
  /** The listed origins, without `*`. */
  readonly origins: readonly string[]
  readonly #headers = new Map<string, Headers>()

  constructor({ origins, credentials = false }: CorsOptions) {
    if (origins.length === 0) {
      throw new TypeError(
        'cors.origins must name at least one origin: ["https://app.example.com"].',
      )
    }
    this.isOpen = origins.includes("*")
    if (this.isOpen && credentials) {
      throw new TypeError(
        'cors: "*" with credentials would let every page act for its visitors. Name the origins.',
      )
    }
    this.origins = origins.filter((origin) => origin !== "*")
    for (const origin of this.origins) {
      this.#headers.set(checkOrigin(origin), this.isOpen ? ANY : allow(origin, credentials))
    }
  }

  /** Headers that let a page of an origin read the response; `undefined` when it may not. */
  headersFor(origin: string): Headers | undefined {
    return this.isOpen ? ANY : this.#headers.get(origin)
  }

  /** Headers of the response to a preflight request. */
  preflightHeadersFor(origin: string): Headers | undefined {
    const headers = this.headersFor(origin)
    return headers === undefined ? undefined : { ...headers, ...PREFLIGHT }
  }
}

const ANY: Headers = {
  "access-control-allow-origin": "*",
  "access-control-expose-headers": EXPOSED,
}

function allow(origin: string, credentials: boolean): Headers {
  return {
    "access-control-allow-origin": origin,
    ...(credentials ? { "access-control-allow-credentials": "true" } : {}),
    "access-control-expose-headers": EXPOSED,
  }
}

/** Validates an origin as browsers send it; anything else would never match, or match too much. */
function checkOrigin(text: string): string {
  const isOne = !text.includes("*") && URL.canParse(text)
  if (isOne && new URL(text).origin === text) return text
  throw new TypeError(
    `cors.origins: "${text}" is not an origin. Write scheme, host and port only, without a slash at the ` +
      'end: "https://app.example.com".',
  )
}
