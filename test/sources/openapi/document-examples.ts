import { Check } from "typebox/schema"
import type { ImportedOperation } from "../../../src/from-openapi.ts"
import { isRecord } from "../../../src/internal/guards.ts"
import { compileSchema } from "../../../src/schema/compiled.ts"
import { pointerTokens } from "../../../src/schema/json.ts"
import type { Raw } from "./recorder.ts"

/** An example of a JSON body in a document, and its schema there. */
interface BodyExample {
  readonly schema: Raw
  readonly value: unknown
}

/** Examples of a document that plain JSON Schema accepts and the imported operations refuse, in words. */
export function refusedExamples(
  document: Raw,
  operations: readonly ImportedOperation[],
): { readonly examples: number; readonly refused: readonly string[] } {
  let examples = 0
  const refused: string[] = []
  for (const { name, inputSchema, _meta } of operations) {
    const openapi = _meta?.["openapi"] as { method: string; path: string } | undefined
    const { method = "", path = "" } = openapi ?? {}
    for (const { schema, value } of bodyExamples(document, path, method.toLowerCase())) {
      examples++
      const issues = compileSchema(inputSchema)
        .errors({ body: value })
        .filter((issue) => /^\/body(?:\/|$)/.test(issue.path))
      const [first] = issues
      if (first === undefined || !isPlainlyAccepted(document, schema, value)) continue
      refused.push(`${name}: ${first.path} ${first.message}`)
    }
  }
  return { examples, refused }
}

function isPlainlyAccepted(document: Raw, schema: Raw, value: unknown): boolean {
  const { components, definitions, paths } = document
  return Check({ ...schema, components, definitions, paths }, value)
}

function* bodyExamples(document: Raw, path: string, method: string): Generator<BodyExample> {
  const item = at(document, member(document["paths"], path))
  const operation = at(document, item[method])
  const content = at(document, at(document, operation["requestBody"])["content"])
  for (const [type, one] of Object.entries(content)) {
    const media = at(document, one)
    const { schema, example } = media
    if (!/json/.test(type) || !isRecord(schema)) continue
    const named = Object.values(at(document, media["examples"])).map(
      (each) => at(document, each)["value"],
    )
    yield* of(schema, [example, ...named, ...ownExamples(document, schema)])
  }
  // Swagger 2.0
  for (const list of [item["parameters"], operation["parameters"]]) {
    for (const one of Array.isArray(list) ? (list as unknown[]) : []) {
      const { in: location, schema } = at(document, one)
      if (location !== "body" || !isRecord(schema)) continue
      yield* of(schema, ownExamples(document, schema))
    }
  }
}

function of(schema: Raw, values: readonly unknown[]): BodyExample[] {
  return values.filter((value) => value !== undefined).map((value) => ({ schema, value }))
}

function ownExamples(document: Raw, schema: unknown): readonly unknown[] {
  const { example, examples } = at(document, schema)
  return [example, ...(Array.isArray(examples) ? (examples as unknown[]) : [])]
}

/** An object of a document, with references resolved; empty for anything else. */
function at(document: Raw, value: unknown): Raw {
  let found = value
  for (let hops = 0; hops < 20 && isRecord(found) && typeof found["$ref"] === "string"; hops++) {
    const ref = found["$ref"]
    const tokens = ref.startsWith("#") ? pointerTokens(decodeURIComponent(ref.slice(1))) : undefined
    found = (tokens ?? [""]).reduce<unknown>(member, document)
  }
  return isRecord(found) ? found : {}
}

function member(value: unknown, key: string): unknown {
  return isRecord(value) && Object.hasOwn(value, key) ? value[key] : undefined
}
