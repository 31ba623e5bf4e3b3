import { fixedHeaders, headersKey, readCallHeaders } from "../../core/call-headers.ts"
import { callUntilAborted, type CallHeaders } from "../../core/call-headers.ts"
import { IdlePool } from "../../internal/idle-pool.ts"
import type { PendingRequestMap } from "../../protocol/pending/request-map.ts"
import type { Clock } from "../../internal/platform.ts"
import type { Secret } from "../../sources/openapi/config.ts"
import type { CredentialContext } from "../../core/types.ts"

const MAX_LINKS = 200
const IDLE_MS = 300_000

/** Credentials that a hub sends to another hub. */
export interface HubCredentials {
  readonly token: string | undefined
  readonly headers: Readonly<Record<string, string>> | undefined
}

/** Credentials as configured; they may depend on the caller. */
export interface HubCredentialConfig {
  readonly token?: Secret | undefined
  readonly headers?: CallHeaders | undefined
}

/** Credential context of connecting and listing, which have no caller. */
export function anonymousContext(signal: AbortSignal): CredentialContext {
  return { identity: undefined, operationId: undefined, signal }
}

/** Whether credentials depend on the caller. */
export function dependsOnCaller({ token, headers }: HubCredentialConfig): boolean {
  return (
    typeof token === "function" || (headers !== undefined && fixedHeaders(headers) === undefined)
  )
}

/** Resolves the credentials for one call. */
export async function credentialsFor(
  { token, headers }: HubCredentialConfig,
  context: CredentialContext,
  source: string,
): Promise<HubCredentials> {
  const what = `The token of source "${source}"`
  return {
    token: typeof token === "function" ? await callUntilAborted(token, context, what) : token,
    headers: headers && (await readCallHeaders(headers, context, `A header of source "${source}"`)),
  }
}

/**
 * Connections to another hub, one per token and set of headers: the other hub identifies a caller by
 * its connection.
 */
export function callerLinks(
  clock: Clock,
  open: (shown: HubCredentials) => PendingRequestMap,
): { get(shown: HubCredentials): PendingRequestMap; close(): Promise<unknown> } {
  const pool = new IdlePool<PendingRequestMap>({
    clock,
    maxSize: MAX_LINKS,
    idle: IDLE_MS,
    isBusy: (map) => map.getPendingCount() > 0,
    // The connection is idle: no call waits for the result.
    dispose: (map) => void map.close(),
  })
  return {
    get: (shown) =>
      pool.get(JSON.stringify([shown.token, shown.headers && headersKey(shown.headers)]), () =>
        open(shown),
      ),
    close: () => Promise.all(pool.clear().map((map) => map.close())),
  }
}
