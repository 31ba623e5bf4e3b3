import { fixedHeaders, headersKey, readCallHeaders } from "../../core/call-headers.ts"
import type { CallHeaders } from "../../core/call-headers.ts"
import { callUntilAborted } from "../../core/call-headers.ts"
import { IdlePool } from "../../internal/idle-pool.ts"
import type { PendingRequestMap } from "../../protocol/pending/request-map.ts"
import type { Clock } from "../../internal/platform.ts"
import type { Secret } from "../../sources/openapi/config.ts"
import type { CredentialContext } from "../../core/types.ts"

const MOST = 200
const IDLE = 300_000

/** What a hub shows another one. */
export interface Shown {
  readonly token: string | undefined
  readonly headers: Readonly<Record<string, string>> | undefined
}

/** What a source says of that, which may depend on who calls. */
export interface Showing {
  readonly token: Secret | undefined
  readonly headers: CallHeaders | undefined
}

/** The call of a source that connects or lists. */
export function nobody(signal: AbortSignal): CredentialContext {
  return { identity: undefined, operationId: undefined, signal }
}

/** Whether callers are shown as themselves. */
export function dependsOnCaller({ token, headers }: Showing): boolean {
  return (
    typeof token === "function" || (headers !== undefined && fixedHeaders(headers) === undefined)
  )
}

/** What is shown for one call. */
export async function shownFor(
  { token, headers }: Showing,
  context: CredentialContext,
  source: string,
): Promise<Shown> {
  const what = `The token of source "${source}"`
  return {
    token: typeof token === "function" ? await callUntilAborted(token, context, what) : token,
    headers: headers && (await readCallHeaders(headers, context, `A header of source "${source}"`)),
  }
}

/**
 * Connections to another hub, one for each token and set of headers: there, a caller is whoever
 * opened the connection.
 */
export class CallerLinks {
  readonly #open: (shown: Shown) => PendingRequestMap
  readonly #pool: IdlePool<PendingRequestMap>

  constructor(clock: Clock, open: (shown: Shown) => PendingRequestMap) {
    this.#open = open
    this.#pool = new IdlePool({
      clock,
      maxSize: MOST,
      idle: IDLE,
      isBusy: (map) => map.getPendingCount() > 0,
      // Nothing runs on it, so that there is nobody to tell how it went.
      dispose: (map) => void map.close(),
    })
  }

  get(shown: Shown): PendingRequestMap {
    const key = JSON.stringify([shown.token, shown.headers && headersKey(shown.headers)])
    return this.#pool.get(key, () => this.#open(shown))
  }

  async close(): Promise<void> {
    await Promise.all(this.#pool.clear().map((map) => map.close()))
  }
}
