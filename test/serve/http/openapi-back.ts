import { Validator } from "@seriousme/openapi-schema-validator"
import { FromOpenAPI } from "../../../src/from-openapi.ts"
import type { ImportedOperation } from "../../../src/from-openapi.ts"
import type { AnyOperation, OperationSpec } from "../../../src/index.ts"
import { compileSchema } from "../../../src/schema/compiled.ts"
import { isNoValue } from "../../../src/schema/json.ts"
import type { JsonSchema } from "../../../src/schema/json.ts"
import { createDocument } from "./create-document.ts"
import type { DocumentOptions, OpenAPIObject } from "../../../src/serve/http/openapi/model.ts"
import { statusOf } from "../../../src/core/problem.ts"
import { valueFor } from "../../sources/openapi/fuzz/inputs.ts"
import { Random } from "../../sources/openapi/fuzz/random.ts"
import { quietRegistry } from "../../support/operations.ts"

/** An operation and what it is after it was written down and read again. */
export interface Pair {
  readonly id: string
  readonly spec: OperationSpec
  readonly back: ImportedOperation
  /** The import found a schema that no value fits, and accepts anything there. */
  readonly isOpened: boolean
}

/** What was written, and each operation with what became of it. */
export interface WayBack {
  readonly document: OpenAPIObject
  readonly pairs: readonly Pair[]
  /** Operations that came back under no known id. */
  readonly strangers: readonly string[]
}

const ABOUT: DocumentOptions = { title: "There and back", version: "1.0.0", restPath: "/api" }

/** Writes a document and imports it. */
export function wayBack(
  operations: readonly AnyOperation[],
  options: Partial<DocumentOptions> = {},
): WayBack {
  const registry = quietRegistry(operations)
  const document = createDocument(registry, { ...ABOUT, ...options })
  const text = JSON.stringify(document)
  const imported = FromOpenAPI(text, { namespace: "back", baseUrl: "https://api.test" })
  const found = new Map(imported.map((one) => [metaOf(one).operationId, one]))
  const opened = new Set(
    imported.report.operations
      .filter(({ notes }) => notes.some(({ message }) => message.startsWith("No value fits")))
      .map(({ id }) => id),
  )
  const pairs: Pair[] = []
  for (const spec of registry.getAllSpecs()) {
    const id = `${spec.namespace}.${spec.name}`
    const back = found.get(id)
    if (back !== undefined) {
      pairs.push({ id, spec, back, isOpened: opened.has(`${back.namespace}.${back.name}`) })
    }
    found.delete(id)
  }
  return { document, pairs, strangers: [...found.keys()] }
}

const validator = new Validator()

/** What an independent validator has to say. */
export async function faultsOf(document: object): Promise<unknown> {
  // It takes a property that is called `$id` for the keyword, which no document has.
  const text = JSON.stringify(document).replaceAll(`"$id":`, `"_id":`)
  const { valid, errors } = await validator.validate(JSON.parse(text) as Record<string, unknown>)
  return valid ? undefined : errors
}

const ODD: readonly unknown[] = [
  null,
  true,
  0,
  -1.5,
  "",
  "a",
  [],
  [1, "a"],
  {},
  { a: 1 },
  { id: "x" },
]

/** What is not as it was, in words. */
export function differences(
  { id, spec, back }: Pair,
  seed = 1,
  extra: readonly unknown[] = [],
): string[] {
  const random = new Random(seed)
  const found: string[] = []
  const samplesOf = (schema: JsonSchema): unknown[] => [
    ...ODD,
    ...extra,
    ...Array.from({ length: 6 }, () => plain(valueFor(schema, schema, random))).filter(
      (value) => value !== undefined,
    ),
  ]
  const compare = (
    what: string,
    schema: unknown,
    after: unknown,
    wrap: (v: unknown) => unknown,
  ): void => {
    const before = compileSchema(schema)
    const now = compileSchema(after)
    for (const sample of samplesOf(schema as JsonSchema)) {
      const was = before.check(sample)
      if (was === now.check(wrap(sample))) continue
      found.push(`${id} ${what}: ${JSON.stringify(sample)} was ${was ? "fine" : "wrong"}`)
    }
  }
  for (const key of ["type", "title", "deprecated"] as const) {
    if (spec[key] !== back[key]) found.push(`${id} ${key}: ${String(back[key])}`)
  }
  if (spec.description !== "" && spec.description !== back.description) {
    found.push(`${id} description: ${back.description}`)
  }
  const isBody = Object.hasOwn((back.inputSchema as JsonSchema)["properties"] as object, "body")
  const isGet = metaOf(back).method === "GET"
  if (!isGet && isBody) compare("input", spec.inputSchema, back.inputSchema, (body) => ({ body }))
  if (isGet && (spec.inputSchema as JsonSchema)["type"] === "object") {
    const names = (back.inputSchema as JsonSchema)["properties"] as object
    const isOpen = (spec.inputSchema as JsonSchema)["additionalProperties"] !== false
    compare("input", spec.inputSchema, back.inputSchema, (value) =>
      isOpen ? onlyOf(value, names) : value,
    )
  }
  if (isNoValue(spec.outputSchema) !== isNoValue(back.outputSchema))
    found.push(`${id} output: void`)
  else if (!isNoValue(spec.outputSchema)) {
    compare("output", spec.outputSchema, back.outputSchema, (value) => value)
  }
  const codes = (spec.errorSchemas ?? []).map(({ code }) => code).toSorted()
  const after = (back.errorSchemas ?? []).map(({ code }) => code).toSorted()
  if (codes.join() !== after.join()) found.push(`${id} errors: ${after.join()}`)
  for (const { code, description, schema } of spec.errorSchemas ?? []) {
    const now = back.errorSchemas?.find((one) => one.code === code)
    if (now === undefined) continue
    if (now.description !== description) found.push(`${id} ${code}: ${now.description}`)
    if (now.httpStatus !== statusOf(code, spec)) found.push(`${id} ${code}: ${now.httpStatus}`)
    compare(code, schema, now.schema, (details) => details)
  }
  return found
}

function metaOf({ _meta }: ImportedOperation): { operationId: string; method: string } {
  return _meta?.["openapi"] as { operationId: string; method: string }
}

/** Parameters are all that a query can hold. */
function onlyOf(value: unknown, names: object): unknown {
  if (typeof value !== "object" || value === null || Array.isArray(value)) return value
  return Object.fromEntries(Object.entries(value).filter(([key]) => Object.hasOwn(names, key)))
}

/** What JSON makes of a value; `undefined` for what it cannot say. */
function plain(value: unknown): unknown {
  try {
    return JSON.parse(JSON.stringify(value)) as unknown
  } catch {
    return undefined
  }
}
