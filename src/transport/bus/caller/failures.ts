import { isCallError, refusal } from "../../../core/errors.ts"
import type { CallError } from "../../../core/errors.ts"
import { quote, reasonOf } from "../../../internal/describe.ts"
import type { CallEntry } from "./model.ts"

/** What is said of calls that found no worker, or lost theirs. */
export const say = {
  nobody: ({ operationId, version, offer }: CallEntry): string => {
    const served = offer.versions(({ goneSince }) => goneSince === undefined)
    return version === undefined || served.length === 0
      ? `Nobody serves "${operationId}" now. Start a worker that does, or try again later.`
      : `Nobody serves version ${version} of "${operationId}" now, which was imported; workers serve ${served.join(", ")}. Import it again, or start a worker that serves it.`
  },

  notAccepted: ({ operationId, attempt }: CallEntry): string =>
    `No worker accepted "${operationId}", which was sent ${attempt} times. Workers are there and say nothing: look at their load, or try again later.`,

  full: ({ operationId, attempt }: CallEntry): string =>
    `Every worker that was asked for "${operationId}" is full (${attempt} attempts). Try again later, or start more workers.`,

  resting: ({ operationId }: CallEntry): string =>
    `"${operationId}" is not called for now: several workers went down one after another while they ran it. Look at why they did; it is tried again later.`,

  lost: ({ operationId }: CallEntry, why: string): string =>
    `The worker that "${operationId}" was given to ${why}. It may have been run: look before repeating what has an effect.`,

  dataLost: ({ operationId, lastSeq }: CallEntry): string =>
    `"${operationId}" lost data: what follows item ${lastSeq} did not arrive, and its worker does not have it any more. Subscribe again.`,

  timeout: ({ operationId }: CallEntry): string =>
    `The time for "${operationId}" was over before it could be given to a worker.`,
}

/** An id that could be no operation's, and must not get into an address. */
export function unknownId(operationId: string): CallError {
  return refusal(
    "OPERATION_NOT_FOUND",
    `Operation ${quote(operationId)} is not registered: ids are names with dots between them, of letters, digits, "_" and "-".`,
    { operationId: operationId.slice(0, 256) },
  )
}

/** A request whose id is taken by one that still waits. */
export function knownId(operationId: string, requestId: string): CallError {
  return refusal(
    "CONFLICT",
    `"${operationId}" was not sent: a request with the id "${requestId}" still waits. Use a new id.`,
    { operationId, requestId },
  )
}

export function closed(operationId: string): CallError {
  return refusal("UNAVAILABLE", `"${operationId}" was not sent: the transport is closed.`, {
    ...{ operationId, mayHaveExecuted: false, retryable: false },
  })
}

/** The signer could not sign. */
export function notSigned(operationId: string, thrown: unknown): CallError {
  if (isCallError(thrown)) return thrown
  return refusal(
    "UNAUTHENTICATED",
    `"${operationId}" was not sent: its ticket could not be signed. Look at the "signer" of this transport.`,
    { operationId, cause: thrown },
  )
}

/** The broker does not protect tickets. */
export function unsafeTicket(operationId: string, risk: string): CallError {
  return refusal(
    "UNAVAILABLE",
    `"${operationId}" was not sent: its ticket would not be safe. ${risk}`,
    { operationId, retryable: false },
  )
}

/** A request that no broker would take. */
export function tooLarge({ operationId }: CallEntry, bytes: number, maxPayload: number): CallError {
  return refusal(
    "PAYLOAD_TOO_LARGE",
    `Input for "${operationId}" takes ${bytes} bytes as JSON, and the broker's limit is ${maxPayload} (maxPayload); ` +
      "send less, or raise the broker's limit.",
    { operationId, details: { bytes, maxPayload } },
  )
}

/** Whatever a bus threw instead of sending. */
export function notSent(operationId: string, thrown: unknown): CallError {
  if (isCallError(thrown)) return thrown
  return refusal("UNAVAILABLE", `"${operationId}" could not be sent: ${reasonOf(thrown)}`, {
    ...{ operationId, cause: thrown },
  })
}
