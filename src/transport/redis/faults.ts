import { isCallError, refusal } from "../../core/errors.ts"
import type { CallError } from "../../core/errors.ts"
import { MissingPackage } from "../../internal/import-peer.ts"

/** What went wrong, when trying again would change nothing; otherwise `undefined`. */
export function permanentFault(error: unknown, peer: string): CallError | undefined {
  if (isCallError(error)) return error
  if (error instanceof MissingPackage) return lasting("UNAVAILABLE", error.message, error)
  const message = messageOf(error)
  if (/^NOAUTH\b/.test(message)) {
    return lasting(
      "UNAUTHENTICATED",
      `${peer} asks for a password, and none was given. ${CURE}`,
      error,
    )
  }
  if (/^WRONGPASS\b|^ERR invalid password/.test(message)) {
    return lasting(
      "UNAUTHENTICATED",
      `${peer} refuses this user or password (WRONGPASS). ${CURE}`,
      error,
    )
  }
  if (/^DENIED\b/.test(message)) {
    return lasting(
      "UNAVAILABLE",
      `${peer} is in protected mode and takes connections of its own machine only. Give it a password ` +
        'with "requirepass" or ACL, and the same to createRedisTransport.',
      error,
    )
  }
  return undefined
}

/** Whether the server said that this user may not. */
export function isDenied(error: unknown): boolean {
  return /^NOPERM\b/.test(messageOf(error))
}

/** A caller that cannot hear its answers. */
export function deafCaller(peer: string, inbox: string, cause: unknown): CallError {
  const channels = `&${inbox.slice(0, inbox.lastIndexOf(":"))}:*`
  return lasting(
    "ACCESS_DENIED",
    `${peer} does not let this user subscribe to "${inbox}", so that no answer could arrive. ` +
      `Permit it: ACL SETUSER <user> (+subscribe ${channels})`,
    cause,
  )
}

/** A worker that cannot hear what it is asked. */
export function deafWorker(peer: string, patterns: readonly string[], cause: unknown): CallError {
  return lasting(
    "ACCESS_DENIED",
    `${peer} does not let this user subscribe to ${patterns.map((one) => `"${one}"`).join(", ")}, so that ` +
      "it cannot serve. Permit it: ACL SETUSER <user> (+psubscribe allchannels)",
    cause,
  )
}

/** A caller that may not send what it wants to. */
export function deniedCall(peer: string, operationId: string, channel: string): CallError {
  return refusal(
    "ACCESS_DENIED",
    `${peer} does not let this user publish to "${channel}", which calls "${operationId}". ` +
      `Permit it there, or call as another user.`,
    { operationId },
  )
}

/** Why a connection failed, in a few words, without what a URL may hold. */
export function reasonOf(error: unknown): string {
  if (error === undefined) return "it was closed"
  const { code } = error as { readonly code?: unknown }
  if (typeof code === "string" && code !== "") return code
  return messageOf(error).split("\n", 1)[0] || "it was closed"
}

const CURE = 'Give "username" and "password" in the url or in "connect".'

function lasting(code: string, message: string, cause: unknown): CallError {
  return refusal(code, message, { retryable: false, mayHaveExecuted: false, cause })
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error)
}
