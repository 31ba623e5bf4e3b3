import { isCallError, refusal } from "../../../core/errors.ts"
import type { CallError, CallErrorOptions } from "../../../core/errors.ts"
import { quote, reasonOf } from "../../../internal/message-text.ts"
import type { CallEntry } from "./model.ts"

/** Messages of errors for calls that found no worker, or lost theirs. */
export const messages = {
  noWorker: ({ operationId, version, offer }: CallEntry): string => {
    const served = offer.versions(({ goneSince }) => goneSince === undefined)
    return version === undefined || served.length === 0
      ? `No worker serves "${operationId}" now. Start one, or try again later.`
      : `No worker serves version ${version} of "${operationId}", which you imported; workers serve ${served.join(", ")}. Import it again, or start a worker that serves it.`
  },

  notAccepted: ({ operationId, attempt }: CallEntry): string =>
    `No worker accepted "${operationId}", which was sent ${attempt} times. Workers are connected but do not respond: check their load, or try again later.`,

  allWorkersBusy: ({ operationId, attempt }: CallEntry): string =>
    `All workers that were tried for "${operationId}" are busy (${attempt} attempts). Try again later, or start more workers.`,

  breakerOpen: ({ operationId }: CallEntry): string =>
    `"${operationId}" is suspended for now: several workers crashed one after another while they ran it. Find out why; calls are allowed again later.`,

  workerLost: ({ operationId }: CallEntry, why: string): string =>
    `The worker that ran "${operationId}" ${why}. The call may have run: check before you repeat one that has an effect.`,

  dataLost: ({ operationId, lastSeq }: CallEntry): string =>
    `"${operationId}" lost data: items after ${lastSeq} did not arrive, and its worker no longer has them. Subscribe again.`,

  timeout: ({ operationId }: CallEntry): string =>
    `"${operationId}" timed out before it could be sent to a worker.`,
}

/** The error for an id that no operation can have, and that must not get into an address. */
export function unknownId(operationId: string): CallError {
  const message = `Operation ${quote(operationId)} is not registered: ids are names with dots between them, of letters, digits, "_" and "-".`
  return refusal("OPERATION_NOT_FOUND", message, { operationId: operationId.slice(0, 256) })
}

/** The error of a request that was not sent. */
function unsent(
  code: string,
  operationId: string,
  why: string,
  options?: CallErrorOptions,
): CallError {
  return refusal(code, `"${operationId}" was not sent: ${why}`, { operationId, ...options })
}

/** The error for a request id that a pending request already has. */
export function duplicateId(operationId: string, requestId: string): CallError {
  const why = `a request with the id "${requestId}" is still pending. Use a new id.`
  return unsent("CONFLICT", operationId, why, { requestId })
}

export function closed(operationId: string): CallError {
  const options = { mayHaveExecuted: false, retryable: false }
  return unsent("UNAVAILABLE", operationId, "the transport is closed.", options)
}

/** The error when a ticket could not be signed. */
export function notSigned(operationId: string, thrown: unknown): CallError {
  if (isCallError(thrown)) return thrown
  const why = `its ticket could not be signed. Check the "signer" of this transport.`
  return unsent("UNAUTHENTICATED", operationId, why, { cause: thrown })
}

/** The error for a broker that does not protect tickets. */
export function unsafeTicket(operationId: string, risk: string): CallError {
  const why = `its ticket would not be safe. ${risk}`
  return unsent("UNAVAILABLE", operationId, why, { retryable: false })
}

/** The error for a request or an answer that exceeds the broker's limit. */
export function tooLarge(
  { operationId }: CallEntry,
  bytes: number,
  maxPayload: number,
  what = "Input",
): CallError {
  const message =
    `${what} for "${operationId}" takes ${bytes} bytes as JSON, and the broker's limit is ${maxPayload} (maxPayload); ` +
    "send less, or raise the broker's limit."
  return refusal("PAYLOAD_TOO_LARGE", message, { operationId, details: { bytes, maxPayload } })
}

/** The error when workers are connected, and none answers. */
export function noAnswer(operationId: string): CallError {
  const message = `"${operationId}" got no answer: workers are connected but do not respond. Check their load, or try again later.`
  return refusal("UNAVAILABLE", message, { operationId })
}

/** Turns what a bus threw into a `CallError`. */
export function notSent(operationId: string, thrown: unknown): CallError {
  if (isCallError(thrown)) return thrown
  return refusal("UNAVAILABLE", `"${operationId}" could not be sent: ${reasonOf(thrown)}`, {
    ...{ operationId, cause: thrown },
  })
}
