import { CallError } from "../../../core/errors.ts"
import { callUntilAborted } from "../../../core/call-headers.ts"
import type { Secret } from "../config.ts"
import { type AuthContext, credentialContext } from "./context.ts"

/**
 * Reads a secret; `what` names it in messages.
 *
 * An exception of a failing function is neither quoted nor kept as a cause: it may contain the secret.
 */
export async function readSecret(
  secret: Secret | undefined,
  what: string,
  context: AuthContext,
): Promise<string> {
  const value: unknown =
    typeof secret === "function"
      ? await callUntilAborted(secret, credentialContext(context), subjectOf(what, context))
      : secret
  if (typeof value !== "string") throw unauthenticated(`it is not a string`, what, context)
  return value
}

/** Refuses a value that would break out of its place in a request; the message does not contain it. */
export function checkValue(
  value: string,
  what: string,
  place: "header" | "query" | "cookie",
  context: AuthContext,
): void {
  const issue = findIssue(value, place)
  if (issue === undefined) return
  const { operationId } = context
  throw new CallError("VALIDATION_ERROR", `${subjectOf(what, context)} ${issue}.`, {
    operationId,
  })
}

export function unauthenticated(why: string, what: string, context: AuthContext): CallError {
  const message = `${subjectOf(what, context)} is missing: ${why}.`
  return new CallError("UNAUTHENTICATED", message, { operationId: context.operationId })
}

function findIssue(value: string, place: "header" | "query" | "cookie"): string | undefined {
  // oxlint-disable-next-line no-control-regex -- control characters are what is looked for
  if (/[\u0000-\u001F\u007F]/.test(value)) {
    return "contains a line break or another control character; a value read from a file may need trimming"
  }
  if (place === "header" && /[^\u0020-\u00FF]/.test(value)) {
    return "contains a character that is not allowed in headers"
  }
  if (place === "cookie" && /[\s;,"\\]|[^\u0021-\u007E]/.test(value)) {
    return "contains a character that is not allowed in cookies"
  }
  return undefined
}

function subjectOf(what: string, { operationId }: AuthContext): string {
  return `${capital(what)} for "${operationId}"`
}

function capital(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1)
}
