import { CallError, isCallError } from "./errors.ts"
import type { CredentialContext } from "./types.ts"
import { type HeadersLike, plainHeaders } from "../internal/headers.ts"
import type { OptionRule } from "../internal/options.ts"

/** A header's value, or a function that returns it for each call; `undefined` leaves the header out. */
export type HeaderValue =
  | string
  | ((context: CredentialContext) => string | undefined | Promise<string | undefined>)

/** Headers, some of them functions, or one function that returns all of them for each call. */
export type CallHeaders =
  | HeadersLike
  | Readonly<Record<string, HeaderValue>>
  | ((context: CredentialContext) => HeadersLike | undefined | Promise<HeadersLike | undefined>)

/** Headers may carry credentials, so messages never contain their values. */
export const CALL_HEADERS: OptionRule = {
  secret: {
    either: [
      "function",
      // A variable that is not set would be sent as the text "undefined".
      { record: { required: { either: ["string", "function"] } } },
      { methods: ["get", "entries"], expected: "a Headers" },
    ],
  },
}

// Codes of errors that a function throws on purpose for the caller, such as to ask for a sign-in.
const FORWARDED_CODES: ReadonlySet<string> = new Set([
  ...["ABORTED", "TIMEOUT", "UNAUTHENTICATED", "ACCESS_DENIED"],
])

type PlainHeaders = Readonly<Record<string, string>>

/** Headers by name, where none of them depends on the call. */
export function fixedHeaders(headers: CallHeaders): PlainHeaders | undefined {
  if (typeof headers === "function") return undefined
  if (Symbol.iterator in headers) return plainHeaders(headers)
  const depends = Object.values(headers).some((value) => typeof value === "function")
  return depends ? undefined : (headers as PlainHeaders)
}

/**
 * The headers for one call; `subject` names them in messages.
 *
 * The error of a failing function is neither quoted nor kept as a cause: it may contain a secret.
 */
export async function readCallHeaders(
  headers: CallHeaders,
  context: CredentialContext,
  subject: string,
): Promise<PlainHeaders> {
  if (typeof headers === "function") {
    const result = await callUntilAborted(headers, context, subject)
    if (result === undefined) return {}
    if (typeof result !== "object" || (result as unknown) === null) {
      throw unavailable(subject, "the function returned no headers")
    }
    return validateHeaders(plainHeaders(result), subject)
  }
  const fixed = fixedHeaders(headers)
  if (fixed !== undefined) return fixed
  const entries: [string, string][] = []
  for (const [name, value] of Object.entries(headers as Record<string, HeaderValue>)) {
    const text =
      typeof value === "function" ? await callUntilAborted(value, context, subject) : value
    if (text !== undefined) entries.push([name, text])
  }
  return validateHeaders(Object.fromEntries(entries), subject)
}

/** The same text for the same headers, however they are ordered and spelled. */
export function headersKey(headers: PlainHeaders): string {
  const entries = Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value])
  return JSON.stringify(entries.toSorted(([a = ""], [b = ""]) => (a < b ? -1 : 1)))
}

/** Merges headers; those of `over` win. */
export function joinHeaders(
  base: CallHeaders | undefined,
  over: CallHeaders | undefined,
): CallHeaders | undefined {
  if (base === undefined || over === undefined) return over ?? base
  if (typeof base === "function" || typeof over === "function") {
    return async (context) => ({
      ...(await readCallHeaders(base, context, "A header")),
      ...(await readCallHeaders(over, context, "A header")),
    })
  }
  return Object.fromEntries([base, over].flatMap((headers) => Object.entries(byName(headers))))
}

function byName(headers: Exclude<CallHeaders, (context: never) => unknown>): object {
  return fixedHeaders(headers) ?? headers
}

/**
 * Calls a function of the user, and stops waiting for it when the call is aborted.
 *
 * Rejects with `UNAUTHENTICATED` if the function fails, and with the signal's reason on abort.
 */
export async function callUntilAborted<TValue>(
  getCredential: (context: CredentialContext) => TValue | Promise<TValue>,
  context: CredentialContext,
  subject: string,
): Promise<TValue> {
  const { signal } = context
  if (signal.aborted) throw aborted(signal, context)
  let stop: () => void = () => {}
  const end = new Promise<never>((_resolve, reject) => {
    stop = () => reject(aborted(signal, context))
    signal.addEventListener("abort", stop, { once: true })
  })
  try {
    return await Promise.race([getCredential(context), end])
  } catch (thrown) {
    if (isCallError(thrown) && FORWARDED_CODES.has(thrown.code)) throw thrown
    const kind = thrown instanceof Error ? thrown.name : typeof thrown
    throw unavailable(subject, `the function that returns it failed (${kind})`, context)
  } finally {
    signal.removeEventListener("abort", stop)
  }
}

function validateHeaders(headers: PlainHeaders, subject: string): PlainHeaders {
  for (const [name, value] of Object.entries(headers)) {
    if (typeof value !== "string") throw unavailable(subject, `"${name}" is not a text`)
  }
  return headers
}

function unavailable(subject: string, why: string, context?: CredentialContext): CallError {
  return new CallError("UNAUTHENTICATED", `${subject} is missing: ${why}.`, {
    operationId: context?.operationId,
  })
}

function aborted(signal: AbortSignal, { operationId }: CredentialContext): unknown {
  if (isCallError(signal.reason)) return signal.reason
  return new CallError("ABORTED", "The call was aborted while it waited for a credential.", {
    mayHaveExecuted: false,
    operationId,
  })
}
