import { codeOf, reasonOf } from "../internal/message-text.ts"

/** Why a connection failed, as far as the platform reports it. */
export type ConnectionFailureKind =
  | "dns"
  | "refused"
  | "unreachable"
  | "connect-timeout"
  | "tls"
  | "closed"
  | "timeout"
  | "length"
  | "protocol"
  | "encoding"
  | "other"

/** Why an exchange failed. */
export interface ConnectionFailure {
  readonly kind: ConnectionFailureKind
  /** A sentence, with its full stop. */
  readonly why: string
  /** `before`: nothing of the request can have arrived. */
  readonly phase: "before" | "after"
  /** Repeating the request would fail in the same way. */
  readonly isPermanent: boolean
  readonly code: string | undefined
}

type Row = readonly [ConnectionFailureKind, RegExp, why: string, isPermanent?: true]

/** Failures of connecting: nothing of the request can have arrived. */
const BEFORE: ReadonlySet<ConnectionFailureKind> = new Set([
  ...(["dns", "refused", "unreachable", "connect-timeout", "tls"] as const),
])

const NOT_SECURE = "a secure connection could not be made (TLS)."
const NOT_HTTP = "the answer is not valid HTTP."

// Error codes of Node, OpenSSL, undici and zlib, or messages without a code; Bun and Deno use many of them.
const FAILURES: readonly Row[] = [
  [
    "dns",
    /^(?:ENOTFOUND|ENODATA|ENONAME|EAI_(?!AGAIN)\w+)$/,
    "its host name is not known (DNS). Check the spelling of the address.",
  ],
  [
    "dns",
    /^EAI_AGAIN$/,
    "its host name could not be looked up now (DNS). Check the network, or try again.",
  ],
  [
    "refused",
    /^(?:ECONNREFUSED|ConnectionRefused)$/,
    "the connection was refused. Check that the server runs and that the port is right.",
  ],
  ["refused", /^bad port$/, "the platform does not connect to this port. Use another.", true],
  [
    "unreachable",
    /^(?:ENETUNREACH|EHOSTUNREACH|ENETDOWN|EHOSTDOWN|EADDRNOTAVAIL|EACCES|EPERM)$/,
    "that host cannot be reached. Check the network, a proxy or a firewall.",
  ],
  [
    "connect-timeout",
    /^(?:UND_ERR_CONNECT_TIMEOUT|ETIMEDOUT)$/,
    "no connection could be made in time. Check the address, or a firewall on the way.",
  ],
  [
    "tls",
    /^(?:CERT_\w+|DEPTH_ZERO_\w+|SELF_SIGNED_\w+|UNABLE_TO_\w+|ERR_TLS_\w+|ERR_SSL_\w+|EPROTO|CRL_\w+|HOSTNAME_MISMATCH|INVALID_(?:CA|PURPOSE))$/,
    NOT_SECURE,
    true,
  ],
  ["tls", /^ERR_SSL_SSL\/TLS_/, NOT_SECURE, true],
  [
    "timeout",
    /^UND_ERR_(?:HEADERS|BODY)_TIMEOUT$/,
    "the server was silent for longer than the platform waits.",
  ],
  [
    "length",
    /^UND_ERR_RE[SQ]_CONTENT_LENGTH_MISMATCH$/,
    "the body does not have the announced length: a part of it is missing.",
  ],
  [
    "closed",
    /^(?:UND_ERR_SOCKET|ECONNRESET|EPIPE|ECONNABORTED|ERR_STREAM_PREMATURE_CLOSE|UND_ERR_(?:CLOSED|DESTROYED))$/,
    "the connection was closed before the answer was complete.",
  ],
  ["protocol", /^(?:HPE_\w+|UND_ERR_HEADERS_OVERFLOW|UND_ERR_RESPONSE\w*)$/, NOT_HTTP, true],
  ["protocol", /^Response does not match the HTTP/, NOT_HTTP, true],
  [
    "encoding",
    /^(?:Z_\w+|ERR__ERROR_FORMAT_\w+|ERR_PADDING_\d|ERR_BROTLI\w*)$/,
    "the answer could not be decompressed: its bytes do not fit its content-encoding.",
    true,
  ],
]

// Browsers use these generic messages for every network error.
const BROWSER =
  /^(?:failed to fetch|fetch failed|networkerror\b|load failed|network error|terminated)/i

/** Classifies an exception of a platform's `fetch`, or of reading a body. */
export function classifyFailure(thrown: unknown): ConnectionFailure {
  const chain = [...causes(thrown)]
  for (const error of chain) {
    const code = codeOf(error)
    const row = FAILURES.find(([, codes]) => codes.test(code ?? reasonOf(error)))
    if (row === undefined) continue
    const [kind, , why, isPermanent = false] = row
    const phase = BEFORE.has(kind) ? "before" : "after"
    // OpenSSL's reason is useful, and names certificates and hosts but no secrets.
    if (kind === "tls") {
      return { kind, phase, isPermanent, code, why: `${why} ${sentence(error)}` }
    }
    // Node also reports "reset" when a peer disconnects during the TLS handshake.
    if (kind === "closed" && reasonOf(error).includes("before secure TLS connection")) {
      return { kind: "tls", phase: "before", isPermanent: false, code, why: TLS_CUT }
    }
    return { kind, phase, isPermanent, code, why }
  }
  const last = chain[chain.length - 1] ?? thrown
  const isBrowser = BROWSER.test(reasonOf(last))
  const why = isBrowser
    ? "the platform does not say why. Check the address, the network and, in a browser, CORS."
    : sentence(last)
  const isPermanent = !isBrowser && thrown instanceof TypeError && chain.length === 1
  return { kind: "other", phase: "after", isPermanent, code: codeOf(last), why }
}

const TLS_CUT = "the connection was closed before it was secure (TLS). Is it an https server?"

/** An error and its chain of causes; for an aggregate error, its first error. */
function* causes(thrown: unknown): Generator {
  let at = thrown
  for (let hops = 0; hops < 6 && typeof at === "object" && at !== null; hops++) {
    yield at
    const { cause, errors } = at as { cause?: unknown; errors?: unknown }
    at = Array.isArray(errors) && codeOf(at) === undefined ? errors[0] : cause
  }
}

function sentence(error: unknown): string {
  const reason = reasonOf(error).trim().slice(0, 200)
  return /[.!?]$/.test(reason) ? reason : `${reason}.`
}
