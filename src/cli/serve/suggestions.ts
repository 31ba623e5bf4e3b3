import { idOf } from "../../core/define.ts"
import { isRecord } from "../../internal/guards.ts"
import type { OperationSpec } from "../../core/types.ts"
import { viewOf, type SchemaView } from "../../schema/read/view.ts"
import { shellWord } from "../../internal/shell.ts"

/** A suggested command, and what it does. */
export interface Suggestion {
  readonly line: string
  readonly what: string
}

// Schemas may be lazy and expensive, so only some operations are examined.
const MAX_EXAMINED = 200

/** Suggests three commands that work as printed on this hub and change nothing. */
export function suggestions(
  specs: readonly OperationSpec[],
  program: string,
  hub: string,
): Suggestion[] {
  const on = (...words: readonly string[]): string =>
    `${program} ${shellLine([...words, "--hub", hub])}`
  const open = specs.filter(isOpen).slice(0, MAX_EXAMINED)
  const lines: Suggestion[] = [{ line: on("list"), what: "what there is" }]
  const call = suggestedCall(open)
  if (call !== undefined) lines.push({ line: on("call", ...call.words), what: call.what })
  const stream = pick(open.filter(({ type }) => type === "subscription"))
  if (stream !== undefined) {
    lines.push({ line: on("watch", ...stream.words, "--limit", "5"), what: titleOf(stream.spec) })
  }
  for (const spec of open) {
    if (lines.length >= 3) break
    lines.push({ line: on("describe", idOf(spec)), what: "what it takes and gives" })
  }
  return lines
}

/** A call that changes nothing: of a query, of a read-only operation, or a dry run. */
function suggestedCall(
  open: readonly OperationSpec[],
): { readonly words: readonly string[]; readonly what: string } | undefined {
  const queries = open.filter(({ type }) => type === "query")
  const calls = open.filter(({ type }) => type !== "subscription")
  const readers = calls.filter(({ annotations }) => annotations?.readOnly === true)
  const picked = pick(queries) ?? pick(readers)
  if (picked !== undefined) return { words: picked.words, what: titleOf(picked.spec) }
  const [asking] = [...queries, ...readers]
  if (asking !== undefined) {
    return { words: [idOf(asking)], what: `${titleOf(asking)} (asks for what it needs)` }
  }
  const [mutation] = calls
  if (mutation === undefined) return undefined
  const what = `${titleOf(mutation)} (asks for what it needs, and sends nothing)`
  return { words: [idOf(mutation), "--dry-run"], what }
}

interface Picked {
  readonly spec: OperationSpec
  readonly words: readonly string[]
}

/** Picks an operation that can be called with one of its examples, or with values from its schema. */
function pick(specs: readonly OperationSpec[]): Picked | undefined {
  let second: Picked | undefined
  let third: Picked | undefined
  for (const spec of specs) {
    const id = idOf(spec)
    const [example] = spec.examples ?? []
    const words = isRecord(example) ? plainWords(example) : undefined
    if (words !== undefined) return { spec, words: [id, ...words] }
    if (isRecord(example)) third ??= { spec, words: [id, "--input", JSON.stringify(example)] }
    else if (example === undefined) {
      const values = valuesOf(spec)
      if (values !== undefined) second ??= { spec, words: [id, ...values] }
    }
  }
  return second ?? third
}

/** `key=value` for each member; `undefined` when that would mean something else. */
function plainWords(example: Readonly<Record<string, unknown>>): string[] | undefined {
  const words: string[] = []
  for (const [key, value] of Object.entries(example)) {
    if (!/^[A-Za-z]\w*$/.test(key)) return undefined
    const isPlain = typeof value === "number" || typeof value === "boolean"
    if (!isPlain && (typeof value !== "string" || !/^[^@\p{Cc}][^\p{Cc}]*$/u.test(value))) {
      return undefined
    }
    words.push(`${key}=${String(value)}`)
  }
  return words
}

/** Values for all required inputs from the schema; `undefined` when one has none. */
function valuesOf({ inputSchema }: OperationSpec): string[] | undefined {
  const view = viewOf(inputSchema)
  if (view.isUnion || !view.types.has("object")) return undefined
  const values: Record<string, unknown> = {}
  for (const name of view.required) {
    const value = valueOf(view.property(name))
    if (value === undefined) return undefined
    values[name] = value
  }
  return plainWords(values)
}

function valueOf(view: SchemaView): unknown {
  return view.example ?? view.default?.value ?? view.values?.[0]
}

/** Whether everyone may call the operation. */
function isOpen({ accessControl, visibility, deprecated }: OperationSpec): boolean {
  const { requiredScopes, requiredScopesAny = [], resourceType } = accessControl
  const needs = requiredScopes.length + requiredScopesAny.length
  return (
    visibility !== "internal" && deprecated !== true && needs === 0 && resourceType === undefined
  )
}

function titleOf({ title, description }: OperationSpec): string {
  return title ?? description
}

/** Joins words to a shell command line. */
export function shellLine(words: readonly string[]): string {
  return words.map(shellWord).join(" ")
}
