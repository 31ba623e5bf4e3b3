import { CallError, isCallError } from "./errors.ts"
import type { CredentialContext } from "./types.ts"
import type { HeadersLike } from "../internal/headers.ts"
import { plainHeaders } from "../internal/headers.ts"
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

/** They may carry credentials: no message shows one. */
export const CALL_HEADERS: OptionRule = {
  secret: {
    either: [
      "function",
      { record: { either: ["string", "function"] } },
      { methods: ["get", "entries"], expected: "a Headers" },
    ],
  },
}

// Codes with which a function tells the caller something, such as to sign in first.
const MEANT: ReadonlySet<string> = new Set([
  ...["ABORTED", "TIMEOUT", "UNAUTHENTICATED", "ACCESS_DENIED"],
])

type Plain = Readonly<Record<string, string>>

/** Headers by name, where none of them depends on the call. */
export function fixedHeaders(headers: CallHeaders): Plain | undefined {
  if (typeof headers === "function") return undefined
  if (Symbol.iterator in headers) return plainHeaders(headers)
  const depends = Object.values(headers).some((value) => typeof value === "function")
  return depends ? undefined : (headers as Plain)
}

/**
 * The headers for one call; `subject` names them in messages.
 *
 * What a failing function says is not repeated, and not kept as a cause: it may hold a secret.
 */
export async function readCallHeaders(
  headers: CallHeaders,
  context: CredentialContext,
  subject: string,
): Promise<Plain> {
  if (typeof headers === "function") {
    const given = await callWhileWanted(headers, context, subject)
    if (given === undefined) return {}
    if (typeof given !== "object" || (given as unknown) === null) {
      throw unavailable(subject, "the function returned no headers")
    }
    return checked(plainHeaders(given), subject)
  }
  const given = fixedHeaders(headers)
  if (given !== undefined) return given
  const entries: [string, string][] = []
  for (const [name, value] of Object.entries(headers as Record<string, HeaderValue>)) {
    const text =
      typeof value === "function" ? await callWhileWanted(value, context, subject) : value
    if (text !== undefined) entries.push([name, text])
  }
  return checked(Object.fromEntries(entries), subject)
}

/** The same text for the same headers, however they are ordered and spelt. */
export function headersKey(headers: Plain): string {
  const entries = Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value])
  return JSON.stringify(entries.toSorted(([a = ""], [b = ""]) => (a < b ? -1 : 1)))
}

/** Headers of which those of `over` count where both have one. */
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
 * Calls a function of the user's until its call is given up.
 *
 * Rejects with `UNAUTHENTICATED` when it fails, and as the signal says when that is aborted.
 */
export async function callWhileWanted<TValue>(
  give: (context: CredentialContext) => TValue | Promise<TValue>,
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
    return await Promise.race([give(context), end])
  } catch (thrown) {
    if (isCallError(thrown) && MEANT.has(thrown.code)) throw thrown
    const kind = thrown instanceof Error ? thrown.name : typeof thrown
    throw unavailable(subject, `the function that gives it failed (${kind})`, context)
  } finally {
    signal.removeEventListener("abort", stop)
  }
}

function checked(headers: Plain, subject: string): Plain {
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
