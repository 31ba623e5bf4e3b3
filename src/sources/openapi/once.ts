import { CallError, isCallError } from "../../core/errors.ts"
import { exchange } from "../../http-client/exchange.ts"
import type { ExchangeOptions, HttpResponse } from "../../http-client/exchange.ts"
import type { PreparedRequest } from "../../http-client/request.ts"
import { holdsBlob } from "./request/multipart.ts"

/** Whether a body was read when it was sent: there is nothing left to send again. */
export function isStreamed(body: PreparedRequest["body"]): boolean {
  if (body instanceof FormData) return holdsBlob(body)
  return body instanceof ReadableStream || body instanceof Blob
}

/** Sends a request whose body is gone then. */
export async function exchangeOnce(
  request: PreparedRequest,
  options: ExchangeOptions,
): Promise<HttpResponse> {
  try {
    return await exchange(request, options)
  } catch (thrown) {
    throw isCallError(thrown) ? unrepeatable(thrown) : thrown
  }
}

/** The same error, which nobody should answer by calling again. */
export function unrepeatable(error: CallError): CallError {
  if (!error.retryable) return error
  const { code, message, details, mayHaveExecuted, operationId, cause } = error
  return new CallError(code, message, {
    details,
    mayHaveExecuted,
    operationId,
    retryable: false,
    ...(cause !== undefined && { cause }),
  })
}
