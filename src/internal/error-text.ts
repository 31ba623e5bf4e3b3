import { cutText } from "./message-text.ts"
import { redactText } from "./redact.ts"

/** The message for callers in place of one that is not meant for them. */
export const HIDDEN_MESSAGE = "The operation failed."

const MAX_CAUSES = 5
const MAX_TEXT = 200

/** The causes of an error in one line: `TypeError: x is not a function; caused by …`. */
export function describeCause(error: { readonly cause?: unknown }): string | undefined {
  const causes = causesOf(error)
  return causes.length === 0 ? undefined : redactText(causes.map(nameOf).join("; caused by "))
}

/** The stacks of an error's causes, the error that the operation threw first. */
export function describeStack(error: Error): string {
  const causes = causesOf(error).filter((cause) => cause instanceof Error)
  const stacks = (causes.length === 0 ? [error] : causes).map(stackOf)
  return redactText(stacks.join("\nCaused by: "))
}

function causesOf(error: { readonly cause?: unknown }): unknown[] {
  const causes: unknown[] = []
  let at: unknown = error
  while (causes.length < MAX_CAUSES && typeof at === "object" && at !== null) {
    const cause = readProperty(at, "cause")
    if (cause === undefined || causes.includes(cause)) break
    causes.push(cause)
    at = cause
  }
  return causes
}

function stackOf(error: unknown): string {
  const stack = readProperty(error, "stack")
  return typeof stack === "string" && stack !== "" ? stack : nameOf(error)
}

function nameOf(cause: unknown): string {
  if (!(cause instanceof Error)) return preview(cause)
  return `${String(readProperty(cause, "name"))}: ${String(readProperty(cause, "message"))}`
}

/** Anything that was thrown in a few words. */
export function preview(value: unknown): string {
  try {
    return cutText(typeof value === "string" ? JSON.stringify(value) : String(value), MAX_TEXT)
  } catch {
    return `an unreadable ${typeof value}`
  }
}

/** A property of any value; `undefined` if reading it throws. */
export function readProperty(value: unknown, key: string): unknown {
  try {
    return (value as Readonly<Record<string, unknown>>)[key]
  } catch {
    return undefined
  }
}
