import { typeName } from "../internal/message-text.ts"
import type { OperationType } from "../core/types.ts"

/**
 * Why a handler is wrong for an operation type; `undefined` if it is right.
 *
 * Only the function's own kind is checked. A wrapped or bound function does not show its kind, so its result is
 * checked when it has run.
 */
export function handlerIssue(handler: unknown, type: OperationType): string | undefined {
  if (typeof handler !== "function") return `must be a function, got ${typeName(handler)}`
  const tag = tagOf(handler)
  const isGenerator =
    tag === "[object AsyncGeneratorFunction]" || tag === "[object GeneratorFunction]"
  if (type === "subscription") {
    if (tag === "[object AsyncFunction]") {
      return "of a subscription must return an async iterable, and an async function returns a promise; write async function*"
    }
    if (tag === "[object GeneratorFunction]") {
      return "of a subscription must be asynchronous; write async function*"
    }
    return undefined
  }
  if (isGenerator) {
    return `of a ${type} must return one value, and a generator gives many; use type "subscription"`
  }
  return undefined
}

function tagOf(handler: object): string {
  try {
    return Object.prototype.toString.call(handler)
  } catch {
    // A Proxy over a function can hide its kind.
    return ""
  }
}
