import { isRecord } from "../../../internal/guards.ts"
import { setOwn } from "../../../schema/json.ts"
import { followedChild, membersOf, objectAt } from "../document.ts"
import type { OpenAPIDocument, Place, Raw } from "../document.ts"
import type { Body, Flattened } from "./body.ts"
import type { Parameter } from "./parameter.ts"
import { frozenCopy } from "../../../internal/frozen.ts"
import type { SchemaNode } from "../schema/definition.ts"
import { isTooDeepToPrint } from "../size-limits.ts"

/** Sets the description of a schema. */
export function described(schema: SchemaNode, description: string | undefined): SchemaNode {
  if (description === undefined || typeof schema === "boolean") return schema
  return { ...schema, description }
}

/** Adds the description, example and deprecation of a parameter to its schema. */
export function withParameter(schema: SchemaNode, raw: Raw): SchemaNode {
  const { description, deprecated, example } = raw
  const hasDescription = typeof description === "string" && description !== ""
  const hasExample = example !== undefined && isRecord(schema) && schema["examples"] === undefined
  if (typeof schema === "boolean" || (!hasDescription && deprecated !== true && !hasExample))
    return schema
  // Swagger 2.0 has both in one object.
  if (hasDescription && !hasExample && deprecated !== true && schema["description"] === description)
    return schema
  // Copied key by key: with few keys this takes half the memory of a spread, for thousands of schemas.
  const out: Record<string, unknown> = {}
  const keys = Object.keys(schema)
  for (let index = 0; index < keys.length; index++) {
    const key = keys[index] as string
    setOwn(out, key, schema[key])
  }
  if (hasDescription) out["description"] = description
  if (deprecated === true) out["deprecated"] = true
  if (hasExample) out["examples"] = safeCopy([example])
  return out
}

/** A frozen copy; `undefined` if the value is too deep to copy. */
function safeCopy(value: unknown): unknown {
  return isTooDeepToPrint(value) ? undefined : frozenCopy(value)
}

/** A version, if it is valid for operations. */
export function versionText(version: unknown): string | undefined {
  const text = typeof version === "string" || typeof version === "number" ? `${version}`.trim() : ""
  const fits = /^v?\d+(?:\.\d+){0,3}(?:[-+.][0-9A-Za-z.+-]+)?$/.test(text) && text.length <= 128
  return fits ? text : undefined
}

/**
 * The examples of a body, as inputs of the operation that it accepts: with values of the required parameters.
 *
 * In documents of this library parameters have examples that belong together, too.
 */
export function examplesOf(
  document: OpenAPIDocument,
  parameters: readonly Parameter[],
  body: Body | undefined,
  flat: Flattened | undefined,
  isOurs: boolean,
  accepts: (input: unknown) => boolean,
): readonly unknown[] | undefined {
  const valid = (inputs: readonly unknown[]): readonly unknown[] => {
    const copied = safeCopy(inputs)
    return Array.isArray(copied) ? copied.filter(accepts) : []
  }
  if (body === undefined) {
    const examples = isOurs ? valid(parameterExamples(document, parameters)) : []
    return examples.length > 0 ? examples : undefined
  }
  const needed: Record<string, unknown> = {}
  for (const parameter of parameters) {
    const value = parameter.required ? sampleOf(document, parameter) : undefined
    if (value !== undefined) setOwn(needed, parameter.key, value)
  }
  for (const { place } of body.media) {
    const inputs = valuesOf(place).flatMap(([, value]) =>
      flat === undefined ? [{ body: value }] : spread(value, flat),
    )
    const examples = valid(inputs.map((input) => ({ ...needed, ...input })))
    if (examples.length > 0) return examples
  }
  return undefined
}

/**
 * A value of a parameter: its example, that of its schema, its default, or the first of its allowed values. A plain
 * text without any of these is its name, as in `/repos/{owner}`, and a plain number is 1.
 */
function sampleOf(document: OpenAPIDocument, parameter: Parameter): unknown {
  const [named] = valuesOf(exampleHolder(document, parameter))
  const schema = objectAt(parameter.schema)?.value ?? {}
  const { example, examples, default: preset, enum: values, const: only } = schema
  const [first] = Array.isArray(examples) ? (examples as unknown[]) : []
  const [allowed] = Array.isArray(values) ? (values as unknown[]) : []
  const { type = parameter.schema === undefined ? "string" : undefined, format } = schema
  const plain = type === "integer" || type === "number" ? 1 : undefined
  const text = type === "string" && format === undefined ? parameter.name : plain
  return named?.[1] ?? example ?? first ?? preset ?? only ?? allowed ?? text
}

/** The object that has the examples of a parameter: its only content, else itself. */
function exampleHolder(document: OpenAPIDocument, { raw, content, schema }: Parameter): Place {
  const media = content !== undefined && isRecord(raw["content"]) && raw["content"][content]
  return { value: media || raw, file: schema?.file ?? document.entry, pointer: "" }
}

/** The examples of a media type or a parameter, with their names ("" without a name). */
function valuesOf(holder: Place | undefined): Array<[name: string, value: unknown]> {
  if (holder === undefined || !isRecord(holder.value)) return []
  const schema = followedChild(holder, "schema")?.value
  // It would be the name of a file, and an input has its bytes.
  if (isRecord(schema) && schema["format"] === "binary") return []
  const { example } = holder.value
  const values: Array<[string, unknown]> = example === undefined ? [] : [["", example]]
  for (const [name, place] of membersOf(followedChild(holder, "examples"))) {
    const value = objectAt(place)?.value["value"]
    if (value !== undefined) values.push([name, value])
  }
  return values
}

/** Examples in a document of this library: values that belong together have the same numbered name. */
function parameterExamples(
  document: OpenAPIDocument,
  parameters: readonly Parameter[],
): readonly object[] {
  const byNumber = new Map<number, object>()
  for (const parameter of parameters) {
    for (const [name, value] of valuesOf(exampleHolder(document, parameter))) {
      const number = Number(/^example(\d{1,6})$/.exec(name)?.[1] ?? Number.NaN)
      if (Number.isNaN(number)) continue
      let input = byNumber.get(number)
      if (input === undefined) byNumber.set(number, (input = {}))
      setOwn(input, parameter.key, value)
    }
  }
  return [...byNumber].toSorted(([left], [right]) => left - right).map(([, input]) => input)
}

/** Converts a body to separate inputs. */
function spread(value: unknown, { names }: Flattened): object[] {
  if (!isRecord(value)) return []
  const input = {}
  for (const [key, name] of names) {
    if (Object.hasOwn(value, name)) setOwn(input, key, value[name])
  }
  return [input]
}
