import { CallError } from "../../../core/errors.ts"
import { callUntilAborted } from "../../../core/call-headers.ts"
import type { Secret } from "../config.ts"
import { type AuthContext, credentialContext } from "./context.ts"

/**
 * Asks for a secret; `what` names it in messages.
 *
 * What a failing function says is not repeated, and not kept as a cause: it may hold the secret.
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
  if (typeof value !== "string") throw unauthenticated(`it is not a text`, what, context)
  return value
}

/** Refuses a value that would break out of its place in a request; the message leaves it out. */
export function checkValue(
  value: string,
  what: string,
  place: "header" | "query" | "cookie",
  context: AuthContext,
): void {
  const fault = faultOf(value, place)
  if (fault === undefined) return
  const { operationId } = context
  throw new CallError("VALIDATION_ERROR", `${subjectOf(what, context)} ${fault}.`, {
    operationId,
  })
}

export function unauthenticated(why: string, what: string, context: AuthContext): CallError {
  const message = `${subjectOf(what, context)} is missing: ${why}.`
  return new CallError("UNAUTHENTICATED", message, { operationId: context.operationId })
}

function faultOf(value: string, place: "header" | "query" | "cookie"): string | undefined {
  // oxlint-disable-next-line no-control-regex -- control characters are what is looked for
  if (/[\u0000-\u001F\u007F]/.test(value)) {
    return "has a line break or another control character in it; a text read from a file may need trimming"
  }
  if (place === "header" && /[^\u0020-\u00FF]/.test(value)) {
    return "has a character that no header can hold"
  }
  if (place === "cookie" && /[\s;,"\\]|[^\u0021-\u007E]/.test(value)) {
    return "has a character that no cookie can hold"
  }
  return undefined
}

function subjectOf(what: string, { operationId }: AuthContext): string {
  return `${capital(what)} for "${operationId}"`
}

function capital(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1)
}
