import { isRecord, stringsOf } from "../../../internal/guards.ts"
import type { ResolvedServer } from "../config.ts"

/** Who issues tokens for a server, as far as it said so when it refused a request. */
const issuers = new WeakMap<ResolvedServer, string>()

const MAX_URL = 200
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
  const given = /resource_metadata="([^"\s]{1,500})"/.exec(challenge)?.[1]
  if (given === undefined || !URL.canParse(given)) return
  const url = new URL(given)
  if (url.origin !== home.origin) return
  try {
    const signal = AbortSignal.timeout(TIMEOUT_MS)
    const answer = await send(url, { signal, redirect: "error" })
    const metadata: unknown = JSON.parse((await answer.text()).slice(0, 65_536))
    const [issuer = ""] = isRecord(metadata) ? stringsOf(metadata["authorization_servers"]) : []
    if (/^https?:\/\//i.test(issuer) && issuer.length <= MAX_URL && URL.canParse(issuer)) {
      const { origin, pathname } = new URL(issuer)
      issuers.set(server, `${origin}${pathname === "/" ? "" : pathname}`)
    }
  } catch {
    // The message does without it.
  }
}
