import { isCallError, refusal, type CallError } from "../../core/errors.ts"
import { MissingPackage } from "../../internal/import-peer.ts"
import { reasonOf as messageOf } from "../../internal/message-text.ts"

/** The error for a failure that a retry cannot fix; otherwise `undefined`. */
export function permanentFailure(error: unknown, peer: string): CallError | undefined {
  if (isCallError(error)) return error
  if (error instanceof MissingPackage) return lasting("UNAVAILABLE", error.message, error)
  const message = messageOf(error)
  const known = PERMANENT.find(([pattern]) => pattern.test(message))
  return known && lasting(known[1], `${peer} ${known[2]}`, error)
}

const ADVICE = 'Give "username" and "password" in the url or in "connect".'

/** Errors of a server that a retry cannot fix: how they begin, their code, and what the server does. */
const PERMANENT: readonly (readonly [pattern: RegExp, code: string, what: string])[] = [
  [/^NOAUTH\b/, "UNAUTHENTICATED", `requires a password, and there is none. ${ADVICE}`],
  [
    /^WRONGPASS\b|^ERR invalid password/,
    "UNAUTHENTICATED",
    `refuses this user or password (WRONGPASS). ${ADVICE}`,
  ],
  [
    /^DENIED\b/,
    "UNAVAILABLE",
    "is in protected mode and accepts only connections from its own machine. Give it a password " +
      'with "requirepass" or ACL, and the same to createRedisTransport.',
  ],
]

/** Whether the server denied a permission. */
export function isDenied(error: unknown): boolean {
  return /^NOPERM\b/.test(messageOf(error))
}

/** The error when a caller may not subscribe to its answers. */
export function inboxDenied(peer: string, inbox: string, cause: unknown): CallError {
  const channels = `&${inbox.slice(0, inbox.lastIndexOf(":"))}:*`
  return lasting(
    "ACCESS_DENIED",
    `${peer} does not permit this user to subscribe to "${inbox}", so that no answer could arrive. ` +
      `Permit it: ACL SETUSER <user> (+subscribe ${channels})`,
    cause,
  )
}

/** The error when a worker may not subscribe to requests. */
export function requestsDenied(
  peer: string,
  patterns: readonly string[],
  cause: unknown,
): CallError {
  return lasting(
    "ACCESS_DENIED",
    `${peer} does not permit this user to subscribe to ${patterns.map((one) => `"${one}"`).join(", ")}, so that ` +
      "it cannot serve. Permit it: ACL SETUSER <user> (+psubscribe allchannels)",
    cause,
  )
}

/** The error when a caller may not publish a request. */
export function deniedCall(peer: string, operationId: string, channel: string): CallError {
  const message =
    `${peer} does not permit this user to publish to "${channel}", which calls "${operationId}". ` +
    `Permit it there, or call as another user.`
  return refusal("ACCESS_DENIED", message, { operationId })
}

/** Why a connection failed, in a few words, without secrets of a URL. */
export function reasonOf(error: unknown): string {
  if (error === undefined) return "it was closed"
  const { code } = error as { readonly code?: unknown }
  if (typeof code === "string" && code !== "") return code
  return messageOf(error).split("\n", 1)[0] || "it was closed"
}

function lasting(code: string, message: string, cause: unknown): CallError {
  return refusal(code, message, { retryable: false, mayHaveExecuted: false, cause })
}
