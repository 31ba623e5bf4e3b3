import { isPlainRecord } from "../../schema/json.ts"
import type { OperationSpec } from "../../core/types.ts"
import { SchemaView } from "../input/schema.ts"
import { shellLine } from "./shell-words.ts"

/** A command that works on a hub, and what it does. */
export interface Suggestion {
  readonly line: string
  readonly what: string
}

// Looking at a schema may mean making it: of a thousand imported operations a few are enough.
const MAX_EXAMINED = 200

/** Three commands that work as they stand, made of what there is. Nothing in them changes anything. */
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

/** A call that changes nothing: of a query, of what is said to be read-only, or one that is not sent. */
function suggestedCall(
  open: readonly OperationSpec[],
): { readonly words: readonly string[]; readonly what: string } | undefined {
  const queries = open.filter(({ type }) => type === "query")
  const calls = open.filter(({ type }) => type !== "subscription")
  const readers = calls.filter(({ annotations }) => annotations?.readOnly === true)
  const found = pick(queries) ?? pick(readers)
  if (found !== undefined) return { words: found.words, what: titleOf(found.spec) }
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

/** One that can be called: with an example of its own, best a plain one, or with what its schema offers. */
function pick(specs: readonly OperationSpec[]): Picked | undefined {
  let second: Picked | undefined
  let third: Picked | undefined
  for (const spec of specs) {
    const id = idOf(spec)
    const [example] = spec.examples ?? []
    const words = isPlainRecord(example) ? plainWords(example) : undefined
    if (words !== undefined) return { spec, words: [id, ...words] }
    if (isPlainRecord(example)) third ??= { spec, words: [id, "--input", JSON.stringify(example)] }
    else if (example === undefined) {
      const known = valuesOf(spec)
      if (known !== undefined) second ??= { spec, words: [id, ...known] }
    }
  }
  return second ?? third
}

/** `key=value` for each member; `undefined` where that would say something else. */
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

/** Values for everything that is required, as far as the schema has some; `undefined` where it has not. */
function valuesOf({ inputSchema }: OperationSpec): string[] | undefined {
  const view = new SchemaView(inputSchema)
  if (view.alternatives.length !== 1 || !view.types.has("object")) return undefined
  const values: Record<string, unknown> = {}
  for (const name of view.required) {
    const value = valueOf(view.property(name))
    if (value === undefined) return undefined
    values[name] = value
  }
  return plainWords(values)
}

function valueOf(view: SchemaView): unknown {
  const { examples, example } = view.schema
  const [first] = Array.isArray(examples) ? (examples as unknown[]) : []
  return first ?? example ?? view.default?.value ?? view.values?.[0]
}

/** Whether anybody may call it. */
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

function idOf({ namespace, name }: OperationSpec): string {
  return `${namespace}.${name}`
}
