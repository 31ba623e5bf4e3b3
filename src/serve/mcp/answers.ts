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

/** Texts of responses that were made of one. */
const texts = new WeakMap<Response, string>()

/** A response with a JSON text. Writers that need no stream take the text from `textOf`. */
export function jsonResponse(status: number, text: string): Response {
  const response = new Response(text, { status, headers: JSON_HEADERS })
  texts.set(response, text)
  return response
}

const JSON_HEADERS = { "Content-Type": "application/json" }

/** The text of a response of `jsonResponse`; `undefined` for others. */
export function textOf(response: Response): string | undefined {
  return texts.get(response)
}

/** Code of requests that are refused before their message is read. */
export const NOT_SERVED = -32000
