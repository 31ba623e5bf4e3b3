import type { RequestId } from "./sdk.ts"

/** Options of an error response. */
export interface RefusalOptions {
  readonly id?: RequestId | null | undefined
  readonly data?: unknown
  readonly headers?: Readonly<Record<string, string>> | undefined
}

/** An HTTP response with a JSON-RPC error. */
export function refuse(
  status: number,
  code: number,
  message: string,
  { id = null, data, headers }: RefusalOptions = {},
): Response {
  const error = { code, message, ...(data === undefined ? {} : { data }) }
  return Response.json({ jsonrpc: "2.0", error, id }, { status, headers: { ...headers } })
}

/** Code of requests that are refused before their message is read. */
export const NOT_SERVED = -32000
