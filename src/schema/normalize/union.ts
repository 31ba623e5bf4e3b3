import type { JsonSchema } from "../json.ts"
import { isPlainRecord } from "../json.ts"
import type { Compilation } from "./model.ts"
import type { Choice, Conditional, Dispatch, Tags } from "./model.ts"
import type { Member } from "./flatten.ts"
import { ARRAY, OBJECT } from "./json-type.ts"
import type { TypeMask } from "./json-type.ts"
import type { Subschema } from "./keywords.ts"
import { findTag } from "./tag.ts"

const UNDECIDED: Choice = { entries: [], isOpen: true, isDelicate: true }

/**
 * Chooses among the branches of `anyOf` or `oneOf`.
 *
 * In this order: the only branch of the value's JSON type, a property with another constant in each
 * branch, the branch that an OpenAPI `discriminator` names and that matches, compiled checks of all branches.
 */
export function unionOf(
  keyword: "anyOf" | "oneOf",
  branches: readonly Subschema[],
  owner: Member,
  compilation: Compilation,
): Conditional {
  const certain = branches.map((branch) => choiceOf([branch], owner.fill, false))
  const checked = new Map<string, Choice>()

  const byType = (type: TypeMask): number[] =>
    branches.flatMap((branch, index) => ((compilation.types(branch) & type) === 0 ? [] : [index]))
  const arrays = byType(ARRAY)
  const objects = byType(OBJECT)
  const only = (candidates: readonly number[]): Choice | undefined => {
    if (candidates.length > 1) return undefined
    return candidates.length === 1 ? certain[candidates[0]!] : UNDECIDED
  }

  const byCheck = (value: object, candidates: readonly number[]): Choice => {
    const hinted = hintedBranch(owner.schema, branches, value)
    // A value that names a branch and does not match it is not assigned to another.
    const possible = hinted === undefined ? candidates : [hinted]
    const fitting = possible.filter((index) => compilation.accepts(branches[index]!, value))
    if (fitting.length === 0 || (fitting.length > 1 && keyword === "oneOf")) return UNDECIDED
    const key = fitting.join()
    let choice = checked.get(key)
    if (choice === undefined) {
      const fill = owner.fill && fitting.length === 1
      choice = choiceOf(
        fitting.map((index) => branches[index]!),
        fill,
        true,
      )
      checked.set(key, choice)
    }
    return choice
  }

  const array = only(arrays)
  let object: Choice | Tags | undefined = only(objects)
  if (object === undefined) {
    const unionTag = findTag(
      objects.map((index) => branches[index]!),
      hintName(owner.schema),
      compilation,
    )
    if (unionTag !== undefined) {
      const choices = new Map<unknown, Choice>()
      for (const [constant, at] of unionTag.constants) choices.set(constant, certain[objects[at]!]!)
      object = { tag: unionTag.name, choices }
    }
  }
  const dispatch: Dispatch = { array, object }
  return {
    dispatch,
    choose(value) {
      if (Array.isArray(value)) return array ?? byCheck(value, arrays)
      if (object === undefined) return byCheck(value, objects)
      if (!("tag" in object)) return object
      const { tag, choices } = object
      const constant = Object.hasOwn(value, tag) ? (value as JsonSchema)[tag] : undefined
      return choices.get(constant) ?? byCheck(value, objects)
    },
  }
}

function choiceOf(branches: readonly Subschema[], fill: boolean, isDelicate: boolean): Choice {
  return { entries: branches.map((schema) => ({ schema, fill })), isOpen: false, isDelicate }
}

function hintName(schema: JsonSchema): string | undefined {
  const hint = schema["discriminator"]
  const name = isPlainRecord(hint) ? hint["propertyName"] : undefined
  return typeof name === "string" ? name : undefined
}

/** The branch that an OpenAPI `discriminator` names for a value. It may be wrong: check it. */
function hintedBranch(
  schema: JsonSchema,
  branches: readonly Subschema[],
  value: object,
): number | undefined {
  const name = hintName(schema)
  if (name === undefined || !Object.hasOwn(value, name)) return undefined
  const tagValue = (value as JsonSchema)[name]
  if (typeof tagValue !== "string") return undefined
  const mapping = (schema["discriminator"] as JsonSchema)["mapping"]
  const mapped =
    isPlainRecord(mapping) && Object.hasOwn(mapping, tagValue) ? mapping[tagValue] : tagValue
  if (typeof mapped !== "string") return undefined
  const wanted = lastSegment(mapped)
  const named = branches.flatMap((branch, index) => {
    const ref = isPlainRecord(branch) ? branch["$ref"] : undefined
    return typeof ref === "string" && lastSegment(ref) === wanted ? [index] : []
  })
  return named.length === 1 ? named[0] : undefined
}

function lastSegment(ref: string): string {
  return ref.slice(ref.lastIndexOf("/") + 1)
}
