import fc from "fast-check"
import type { CallEvent } from "../../src/core/events.ts"
import { codePoint } from "../support/code-point.ts"

/** An object of any fields. */
export type Json = Record<string, unknown>

/** Any Unicode, lone surrogates included: JavaScript has them, and JSON can say them. */
const anyText = fc.oneof(
  fc.string({ unit: codePoint }),
  fc.string({ unit: "grapheme" }),
  fc.array(fc.integer({ min: 0xd7f0, max: 0xe010 })).map((units) => String.fromCharCode(...units)),
  fc.constantFrom("", "\u0000", "\ufeff", "__proto__", "a\u2028b", "😀"),
)

/** Keys that have tripped somebody up before, and others. */
export const anyKey = fc.oneof(
  fc.constantFrom(
    "__proto__",
    "constructor",
    "prototype",
    "toString",
    "hasOwnProperty",
    "",
    "a/~b",
  ),
  anyText,
)

export const json = fc.letrec<{ value: unknown }>((tie) => ({
  value: fc.oneof(
    { maxDepth: 3, depthSize: "small" },
    fc.constantFrom(null, true, false, 0, 1, -1, 0.5, 1e21, Number.MAX_SAFE_INTEGER + 1, [], {}),
    fc.integer(),
    anyText,
    fc.array(tie("value"), { maxLength: 3 }),
    fc.array(fc.tuple(anyKey, tie("value")), { maxLength: 3 }).map((entries) => {
      // `fromEntries` defines properties: a key named `__proto__` is one more key.
      return Object.fromEntries(entries)
    }),
  ),
})).value

const requestId = fc.oneof(fc.uuid(), fc.string({ minLength: 1, maxLength: 300, unit: codePoint }))
const strings = fc.array(anyText, { maxLength: 2 })
const record = (values: fc.Arbitrary<unknown>): fc.Arbitrary<Json> =>
  fc.array(fc.tuple(anyKey, values), { maxLength: 2 }).map((entries) => Object.fromEntries(entries))
const identity = fc.record(
  { id: anyText, scopes: strings, resources: record(strings) },
  { requiredKeys: ["id", "scopes"] },
)
const block = fc.oneof(
  fc.record({ type: fc.constant("text"), text: anyText }),
  fc.record({ type: fc.constant("image"), data: anyText, mimeType: anyText }),
)
const meta = fc.oneof(
  fc.record({ source: fc.constant("local"), operationId: anyText, timestamp: fc.integer() }),
  fc.record({
    source: fc.constant("http"),
    statusCode: fc.integer({ min: 100, max: 599 }),
    headers: record(anyText),
    contentType: anyText,
  }),
  fc.record({
    source: fc.constant("mcp"),
    isError: fc.boolean(),
    content: fc.array(block, { maxLength: 2 }),
  }),
)

/** Events that fit, with data of the given kind in them. */
export function events(data: fc.Arbitrary<unknown>): fc.Arbitrary<Json> {
  const seq = fc.nat()
  type Fields = Record<string, fc.Arbitrary<unknown>>
  const of = (type: CallEvent["type"], required: Fields, optional: Fields): fc.Arbitrary<Json> => {
    const fields: Fields = { type: fc.constant(type), requestId, ...required, ...optional }
    return fc.record(fields, { requiredKeys: ["type", "requestId", ...Object.keys(required)] })
  }
  return fc.oneof(
    of(
      "call.requested",
      { operationId: fc.string({ minLength: 1, unit: codePoint }) },
      {
        input: data,
        kind: fc.constantFrom("call", "stream"),
        parentRequestId: anyText,
        depth: fc.nat(),
        rootRequestId: requestId,
        deadline: fc.integer(),
        timeout: fc.integer(),
        idleTimeout: fc.nat(),
        identity,
        metadata: record(json),
        traceparent: anyText,
        version: anyText,
        window: fc.nat(),
        progress: fc.boolean(),
        canAnswer: fc.boolean(),
      },
    ),
    of("call.responded", { output: fc.record({ data, meta }) }, { seq }),
    of("call.completed", {}, { seq }),
    of("call.aborted", {}, { reason: anyText }),
    of(
      "call.error",
      { code: fc.string({ minLength: 1 }), message: anyText },
      {
        details: json,
        retryable: fc.boolean(),
        mayHaveExecuted: fc.boolean(),
        retryAfterMs: fc.nat(),
      },
    ),
    of("call.progress", { progress: fc.integer() }, { total: fc.integer(), message: anyText }),
    of("call.asked", { question: fc.integer({ min: 1 }), request: record(json) }, {}),
    of(
      "call.answered",
      { question: fc.integer({ min: 1 }) },
      { response: record(json), reason: anyText },
    ),
    of("call.credit", { credit: fc.integer({ min: 1 }) }, {}),
  )
}

/** A change somewhere in an event: a field gone, another value, another key. */
interface Mutation {
  readonly path: readonly number[]
  readonly change: "remove" | "replace" | "add"
  readonly key: string
  readonly value: unknown
}

export const mutation: fc.Arbitrary<Mutation> = fc.record({
  path: fc.array(fc.nat(12), { minLength: 1, maxLength: 4 }),
  change: fc.constantFrom("remove" as const, "replace" as const, "add" as const),
  key: anyKey,
  value: json,
})

export function mutate(value: unknown, { path, change, key, value: other }: Mutation): unknown {
  if (typeof value !== "object" || value === null) return other
  const entries = Object.entries(value)
  const [step = 0, ...rest] = path
  const at = step % (entries.length || 1)
  const entry = entries[at]
  if (rest.length > 0 && entry !== undefined) {
    entries[at] = [entry[0], mutate(entry[1], { path: rest, change, key, value: other })]
  } else if (change === "add" || entry === undefined) entries.push([key, other])
  else if (change === "remove") entries.splice(at, 1)
  else entries[at] = [entry[0], other]
  return Array.isArray(value) ? entries.map((item) => item[1]) : Object.fromEntries(entries)
}

export const parsed = (value: unknown): unknown => JSON.parse(JSON.stringify(value)) as unknown
