import type { JsonSchema } from "../json.ts"
import { ANNOTATIONS, keywordsWhere } from "../keywords.ts"
import { ARRAY, flattenOne, type Member, OBJECT } from "./flatten.ts"
import type { Choice, Compilation, Conditional } from "./model.ts"
import { mentionedKeys, oneSchema, schemaList, schemaMap, type Subschema } from "./subschemas.ts"
import { unionOf } from "./union.ts"

/** The conditions of one schema. */
export interface Conditions {
  readonly conditionals: readonly Conditional[]
  /** Keys named by branches that describe nothing, such as `anyOf: [{ required: ["a"] }]`. */
  readonly mentioned: readonly string[]
  /** A change may affect a condition that adds no schema, but has to hold. */
  readonly isDelicate: boolean
}

const NOTHING: Choice = { entries: [], isOpen: false, isDelicate: true }

/** Keywords that describe the parts of an object or array. */
const STRUCTURAL = [
  ...keywordsWhere(({ of, isNormalized }) => of !== undefined && isNormalized),
  "unevaluatedProperties",
]

/** The conditions in one schema. */
export function conditionsOf(member: Member, compilation: Compilation): Conditions {
  const { schema, fill } = member
  const conditionals: Conditional[] = []
  const mentioned: string[] = []
  let isDelicate = false

  const idle = (branches: readonly Subschema[]): boolean => {
    if (branches.some((branch) => describesParts(branch, compilation))) return false
    for (const branch of branches) mentioned.push(...namesIn(branch, compilation))
    isDelicate ||= branches.some((branch) => looksInside(branch, compilation))
    return true
  }

  for (const keyword of ["anyOf", "oneOf"] as const) {
    const branches = schemaList(schema, keyword)
    if (branches.length === 0 || idle(branches)) continue
    conditionals.push(unionOf(keyword, branches, member, compilation))
  }
  const condition = oneSchema(schema, "if")
  if (condition !== undefined) {
    const matched = oneSchema(schema, "then") ?? true
    const unmatched = oneSchema(schema, "else") ?? true
    if (!idle([condition, matched, unmatched])) {
      conditionals.push(ifThenElse(condition, matched, unmatched, fill, compilation))
    }
  }
  for (const [key, dependent] of schemaMap(schema, "dependentSchemas")) {
    if (!idle([dependent])) conditionals.push(dependentSchema(key, dependent, fill))
  }
  return { conditionals, mentioned, isDelicate }
}

function ifThenElse(
  condition: Subschema,
  matched: Subschema,
  unmatched: Subschema,
  fill: boolean,
  compilation: Compilation,
): Conditional {
  // A condition that holds counts as evaluated, but its defaults are not used.
  const evaluated = { schema: condition, fill: false }
  const holds: Choice = { ...NOTHING, entries: [evaluated, { schema: matched, fill }] }
  const fails: Choice = { ...NOTHING, entries: [{ schema: unmatched, fill }] }
  return {
    dispatch: { array: undefined, object: undefined },
    choose: (value) => (compilation.accepts(condition, value) ? holds : fails),
  }
}

function dependentSchema(key: string, dependent: Subschema, fill: boolean): Conditional {
  const present: Choice = { ...NOTHING, entries: [{ schema: dependent, fill }] }
  return {
    dispatch: { array: NOTHING, object: { key, present, absent: NOTHING } },
    choose: (value) => (!Array.isArray(value) && Object.hasOwn(value, key) ? present : NOTHING),
  }
}

/** Whether a schema describes the parts of an object or array. */
function describesParts(
  schema: Subschema,
  compilation: Compilation,
  seen: Set<Subschema> = new Set(),
): boolean {
  if (seen.has(schema) || (compilation.types(schema) & (OBJECT | ARRAY)) === 0) return false
  seen.add(schema)
  const { members, isPartial } = flattenOne(schema, compilation.refs)
  if (isPartial) return true
  return members.some(
    (member) =>
      STRUCTURAL.some((keyword) => Object.hasOwn(member.schema, keyword)) ||
      branchesOf(member.schema).some((branch) => describesParts(branch, compilation, seen)),
  )
}

/** Whether a schema that describes no parts can still distinguish objects or arrays. */
function looksInside(schema: Subschema, compilation: Compilation): boolean {
  if ((compilation.types(schema) & (OBJECT | ARRAY)) === 0) return false
  return flattenOne(schema, compilation.refs).members.some((member) =>
    Object.keys(member.schema).some((keyword) => keyword !== "type" && !ANNOTATIONS.has(keyword)),
  )
}

function namesIn(
  schema: Subschema,
  compilation: Compilation,
  seen: Set<Subschema> = new Set(),
): string[] {
  if (seen.has(schema)) return []
  seen.add(schema)
  return flattenOne(schema, compilation.refs).members.flatMap((member) => [
    ...mentionedKeys(member.schema),
    ...branchesOf(member.schema).flatMap((branch) => namesIn(branch, compilation, seen)),
  ])
}

function branchesOf(schema: JsonSchema): Subschema[] {
  return [
    ...schemaList(schema, "anyOf"),
    ...schemaList(schema, "oneOf"),
    ...["if", "then", "else"].map((keyword) => oneSchema(schema, keyword) ?? true),
  ]
}
