import { findOptionIssue } from "../internal/option-issues.ts"
import type { OptionRule } from "../internal/options.ts"
import type { JsonSchema } from "../schema/json.ts"
import type { Shape } from "./field-checks.ts"

/** The shape of a value that a function of the library takes, too: with its rule, and without showing values. */
export function optionShape(description: string, rule: OptionRule): Shape {
  return {
    schema: { ...schemaOf(rule), description },
    check(value, keys, report) {
      const issue = findOptionIssue(value, { secret: rule })
      if (issue === undefined) return
      const path = issue.path.split(/[/[\]]+/).filter((part) => part !== "")
      report.error([...keys, ...path], `${issue.message}.`)
    },
  }
}

/** The JSON Schema of a rule; `undefined` for what a file cannot contain, such as a function. */
function schemaOf(rule: OptionRule): JsonSchema | undefined {
  if (typeof rule === "string") return KINDS[rule]
  if ("required" in rule) return schemaOf(rule.required)
  if ("secret" in rule) return schemaOf(rule.secret)
  if ("either" in rule) {
    const choices = rule.either.map(schemaOf).filter((schema) => schema !== undefined)
    return choices.length > 1 ? { anyOf: choices } : choices[0]
  }
  if ("oneOf" in rule) return { enum: [...rule.oneOf] }
  if ("min" in rule) {
    const { min, max, whole } = rule
    const type = whole === true ? "integer" : "number"
    return { type, minimum: min, ...(max !== undefined && { maximum: max }) }
  }
  if ("list" in rule) return { type: "array", items: schemaOf(rule.list) ?? {} }
  if (!("members" in rule)) return undefined
  const members = Object.entries(rule.members).flatMap(([name, one]) => {
    const schema = schemaOf(one)
    return schema === undefined ? [] : [[name, schema] as const]
  })
  const required = Object.entries(rule.members).flatMap(([name, one]) =>
    typeof one === "object" && "required" in one ? [name] : [],
  )
  return {
    type: "object",
    properties: Object.fromEntries(members),
    ...(required.length > 0 && { required }),
    additionalProperties: false,
  }
}

const KINDS: Readonly<Partial<Record<string, JsonSchema>>> = {
  any: {},
  boolean: { type: "boolean" },
  count: { type: "integer", minimum: 1 },
  duration: { type: "number", exclusiveMinimum: 0 },
  string: { type: "string" },
  text: { type: "string", minLength: 1 },
}
