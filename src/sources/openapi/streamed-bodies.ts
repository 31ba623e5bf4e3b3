import { changedError } from "../../core/error-marks.ts"
import { isCallError } from "../../core/errors.ts"
import { exchange } from "../../http-client/exchange.ts"
import type { ExchangeOptions, HttpResponse } from "../../http-client/exchange.ts"
import type { PreparedRequest } from "../../http-client/request.ts"
import { holdsBlob } from "./request/multipart.ts"

/** Whether a body is consumed by sending it, so that it cannot be sent again. */
export function isStreamed(body: PreparedRequest["body"]): boolean {
  if (body instanceof FormData) return holdsBlob(body)
  return body instanceof ReadableStream || body instanceof Blob
}

/** Sends a request whose body can be sent only once. */
export async function exchangeOnce(
  request: PreparedRequest,
  options: ExchangeOptions,
): Promise<HttpResponse> {
  try {
    return await exchange(request, options)
  } catch (thrown) {
    throw isCallError(thrown) ? changedError(thrown, { retryable: false }) : thrown
  }
}
