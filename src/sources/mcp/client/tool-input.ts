import type { CallError } from "../../../core/errors.ts"
import { pointerSegment } from "../../../internal/pointer.ts"
import { reasonOf, typeName } from "../../../internal/message-text.ts"
import { invalid } from "../../../core/validation.ts"

/** Deeper than any real input, and far below the limit of serialisers. */
const MAX_DEPTH = 500

/**
 * Converts an input to the arguments of a tool: JSON without members that are `undefined`.
 *
 * Returns the same object if nothing has to be removed. Throws `VALIDATION_ERROR` with the path of a value
 * that JSON cannot represent, before anything is sent.
 */
export function toolInput(input: unknown, operationId: string): Readonly<Record<string, unknown>> {
  if (input === undefined) return {}
  if (typeof input !== "object" || input === null || Array.isArray(input)) {
    throw refused(operationId, "", `must be an object, got ${typeName(input)}`)
  }
  const walk: Walk = { parents: [], keys: [] }
  try {
    return plain(input, walk) as Readonly<Record<string, unknown>>
  } catch (thrown) {
    const path = walk.keys.map((key) => pointerSegment(String(key))).join("")
    // Anything else was thrown by a getter or a Proxy trap of the caller.
    const why =
      thrown instanceof InputIssue ? thrown.message : `cannot be read: ${reasonOf(thrown)}`
    throw refused(operationId, path, why)
  }
}

/** The current position of a walk. */
interface Walk {
  readonly parents: object[]
  readonly keys: (string | number)[]
}

class InputIssue extends Error {}

function plain(value: unknown, walk: Walk): unknown {
  switch (typeof value) {
    case "string":
    case "boolean":
      return value
    case "number":
      if (Number.isFinite(value)) return value
      throw new InputIssue(`is ${value}, which JSON cannot represent`)
    case "object":
      if (value === null) return value
      break
    default:
      throw new InputIssue(`is ${words(value)}, which JSON cannot represent`)
  }
  const odd = describeNonPlain(value)
  if (odd !== undefined) throw new InputIssue(odd)
  const { parents } = walk
  if (parents.includes(value)) throw new InputIssue("contains itself")
  if (parents.length >= MAX_DEPTH) throw new InputIssue(`is nested over ${MAX_DEPTH} levels deep`)
  parents.push(value)
  const isList = Array.isArray(value)
  let changes: Map<string | number, unknown> | undefined
  for (const key of isList ? value.keys() : Object.keys(value)) {
    walk.keys.push(key)
    const member = (value as Readonly<Record<string | number, unknown>>)[key]
    const out = member === undefined && !isList ? undefined : plain(member, walk)
    if (out === undefined || out !== member) (changes ??= new Map()).set(key, out)
    walk.keys.pop()
  }
  parents.pop()
  return changes === undefined ? value : withChanges(value, changes)
}

function withChanges(value: object, changes: ReadonlyMap<string | number, unknown>): object {
  if (Array.isArray(value)) return value.map((item, at): unknown => changes.get(at) ?? item)
  const members = Object.entries(value).flatMap(([key, member]) => {
    const out: unknown = changes.has(key) ? changes.get(key) : member
    return out === undefined ? [] : [[key, out] as const]
  })
  return Object.fromEntries(members)
}

/** Why an object is not plain data; a serialiser would silently convert it. */
function describeNonPlain(value: object): string | undefined {
  if (value instanceof Date) return "is a Date; send a string, such as date.toISOString()"
  if (ArrayBuffer.isView(value) || value instanceof ArrayBuffer) {
    return "is binary data; send a string, such as base64"
  }
  if (value instanceof Map || value instanceof Set) {
    return `is a ${value instanceof Map ? "Map" : "Set"}; send a plain object or an array`
  }
  if (typeof (value as { readonly toJSON?: unknown }).toJSON === "function") {
    return "is not plain data; send the result of its toJSON()"
  }
  return undefined
}

function words(value: unknown): string {
  if (typeof value === "bigint") return "a BigInt"
  return value === undefined ? "undefined" : `a ${typeof value}`
}

function refused(operationId: string, path: string, message: string): CallError {
  return invalid("VALIDATION_ERROR", `Input for "${operationId}"`, [{ path, message }], {
    operationId,
  })
}
