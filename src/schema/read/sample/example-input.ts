import { isRecord } from "../../../internal/guards.ts"
import { getOwn, setOwn } from "../../json.ts"
import { flatten, requiredOf } from "../flatten.ts"
import { scopeOf } from "../resolve-ref.ts"
import { sampleOf } from "./sample.ts"

const MAX_EXAMPLES = 20

/** Inputs that show how an operation is called; `undefined` for one that takes nothing. Never empty. */
export function exampleInputs(spec: {
  readonly inputSchema: unknown
  readonly examples?: readonly unknown[] | undefined
}): readonly unknown[] {
  const { inputSchema: schema, examples = [] } = spec
  if (examples.length === 0 && takesNothing(schema)) return [undefined]
  const made = sampleOf({ schema, scope: scopeOf(schema) })
  if (examples.length === 0) return [made]
  return examples
    .slice(0, MAX_EXAMPLES)
    .map((example) => completed(unwrapped(example, schema), made, schema))
}

/** Documents show bodies without what goes into the path: what must be given and is missing is added. */
function completed(example: unknown, made: unknown, schema: unknown): unknown {
  if (!isRecord(example) || !isRecord(made)) return example
  const required = requiredOf(flatten([{ schema, scope: scopeOf(schema) }]))
  const missing = [...required].filter((name) => !Object.hasOwn(example, name))
  const value: Record<string, unknown> = {}
  for (const name of missing) if (Object.hasOwn(made, name)) setOwn(value, name, made[name])
  for (const [name, item] of Object.entries(example)) setOwn(value, name, item)
  return value
}

const WORDS = new Set(["input", "output", "name", "title", "description", "summary"])

/** Some authors write an example as a pair of input and output. */
function unwrapped(example: unknown, schema: unknown): unknown {
  if (!isRecord(example) || !Object.hasOwn(example, "input")) return example
  const properties = isRecord(schema) ? schema["properties"] : undefined
  const isInput = isRecord(properties) && getOwn(properties, "input") !== undefined
  const others = Object.keys(example).filter((key) => !WORDS.has(key))
  return isInput || others.length > 0 ? example : example["input"]
}

function takesNothing(schema: unknown): boolean {
  return flatten([{ schema, scope: scopeOf(schema) }]).isNothing
}
