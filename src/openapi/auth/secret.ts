import { CallError, isCallError } from "../../errors.ts"
import type { Secret } from "../config.ts"
import type { AuthContext } from "./context.ts"

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
  let value: unknown
  try {
    value = typeof secret === "function" ? await whileWanted(secret, context.signal) : secret
  } catch (thrown) {
    if (isCallError(thrown) && (thrown.code === "ABORTED" || thrown.code === "TIMEOUT"))
      throw thrown
    const kind = thrown instanceof Error ? thrown.name : typeof thrown
    throw unauthenticated(`the function that gives it failed (${kind})`, what, context)
  }
  if (typeof value !== "string") throw unauthenticated(`it is not a text`, what, context)
  return value
}

/** Refuses a value that would break out of its place in a request; the message leaves it out. */
export function checkValue(
  value: string,
  what: string,
  place: "header" | "query" | "cookie",
  { operationId }: AuthContext,
): void {
  const fault = faultOf(value, place)
  if (fault === undefined) return
  throw new CallError("VALIDATION_ERROR", `${capital(what)} for "${operationId}" ${fault}.`, {
    operationId,
  })
}

export function unauthenticated(
  why: string,
  what: string,
  { operationId }: AuthContext,
): CallError {
  return new CallError(
    "UNAUTHENTICATED",
    `${capital(what)} for "${operationId}" is missing: ${why}.`,
    {
      operationId,
    },
  )
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

async function whileWanted(
  secret: () => string | Promise<string>,
  signal: AbortSignal | undefined,
): Promise<string> {
  if (signal === undefined) return await secret()
  if (signal.aborted) throw aborted(signal)
  let stop: () => void = () => {}
  const end = new Promise<never>((_resolve, reject) => {
    stop = () => reject(aborted(signal))
    signal.addEventListener("abort", stop, { once: true })
  })
  try {
    return await Promise.race([secret(), end])
  } finally {
    signal.removeEventListener("abort", stop)
  }
}

function aborted(signal: AbortSignal): unknown {
  if (isCallError(signal.reason)) return signal.reason
  return new CallError("ABORTED", "The call was aborted while it waited for a credential.", {
    mayHaveExecuted: false,
  })
}

function capital(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1)
}
