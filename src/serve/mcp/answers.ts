import type { RequestId } from "./sdk.ts"

/** What an answer that is an error has beside its status and message. */
export interface RefusalOptions {
  readonly id?: RequestId | null | undefined
  readonly data?: unknown
  readonly headers?: Readonly<Record<string, string>> | undefined
}

/** An HTTP answer that is a JSON-RPC error. */
export function refuse(
  status: number,
  code: number,
  message: string,
  { id = null, data, headers }: RefusalOptions = {},
): Response {
  const error = { code, message, ...(data === undefined ? {} : { data }) }
  return Response.json({ jsonrpc: "2.0", error, id }, { status, headers: { ...headers } })
}

/** Code of what is refused before anyone has looked at the message. */
export const NOT_SERVED = -32000
