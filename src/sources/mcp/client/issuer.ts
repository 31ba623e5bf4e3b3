import { isRecord, stringsOf } from "../../../internal/guards.ts"
import type { ResolvedServer } from "../config.ts"

/** Who issues tokens for a server, as far as it said so when it refused a request. */
const issuers = new WeakMap<ResolvedServer, string>()

const MAX_URL = 200
const MAX_BYTES = 65_536
const TIMEOUT_MS = 3000

/** The issuer of tokens for a server, for messages. */
export function issuerOf(server: ResolvedServer): string | undefined {
  return issuers.get(server)
}

/**
 * Looks up who issues tokens, after a 401: the metadata of the server (RFC 9728) names its authorization server. Only an
 * address on the server's own origin is read. Never rejects.
 */
export async function learnIssuer(
  server: ResolvedServer,
  home: URL,
  response: Response,
  send: typeof globalThis.fetch,
): Promise<void> {
  if (issuers.has(server)) return
  const challenge = response.headers.get("www-authenticate") ?? ""
  const given = challenge.split('resource_metadata="')[1]?.split('"', 1)[0]
  if (given === undefined || given.length > MAX_URL || !URL.canParse(given)) return
  const url = new URL(given)
  if (url.origin !== home.origin) return
  try {
    const signal = AbortSignal.timeout(TIMEOUT_MS)
    const { exchange } = await import("../../../http-client/exchange.ts")
    const { readBody } = await import("../../../http-client/read-body.ts")
    const about = { signal, secrets: [], operationId: undefined, subject: "The issuer of tokens" }
    const answer = await exchange(
      { method: "GET", url: url.href, headers: {}, body: undefined },
      { ...about, fetch: send, mayHaveEffect: false, redirect: "return" },
    )
    const { data } = await readBody(answer, { ...about, method: "GET", maxBytes: MAX_BYTES })
    const [issuer = ""] = isRecord(data) ? stringsOf(data["authorization_servers"]) : []
    if (/^https?:\/\//i.test(issuer) && issuer.length <= MAX_URL && URL.canParse(issuer)) {
      const { origin, pathname } = new URL(issuer)
      issuers.set(server, `${origin}${pathname === "/" ? "" : pathname}`)
    }
  } catch {
    // The message does without it.
  }
}
