import { isRecord } from "../../internal/guards.ts"
import type { JsonSchema } from "../json.ts"
import { ARRAY, flattenOne, type Member, OBJECT, type TypeMask } from "./flatten.ts"
import type { Choice, Compilation, Conditional, Dispatch, Tags } from "./model.ts"
import { schemaList, schemaMap, type Subschema } from "./subschemas.ts"

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
  const name = isRecord(hint) ? hint["propertyName"] : undefined
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
    isRecord(mapping) && Object.hasOwn(mapping, tagValue) ? mapping[tagValue] : tagValue
  if (typeof mapped !== "string") return undefined
  const wanted = lastSegment(mapped)
  const named = branches.flatMap((branch, index) => {
    const ref = isRecord(branch) ? branch["$ref"] : undefined
    return typeof ref === "string" && lastSegment(ref) === wanted ? [index] : []
  })
  return named.length === 1 ? named[0] : undefined
}

function lastSegment(ref: string): string {
  return ref.slice(ref.lastIndexOf("/") + 1)
}

/** A property that distinguishes the branches of a union. */
export interface Tag {
  readonly name: string
  /** Each constant, with the position of the branch that has it. */
  readonly constants: ReadonlyMap<unknown, number>
}

/** Finds a property that holds constants in every branch (one or more), none of them in two. */
function findTag(
  branches: readonly Subschema[],
  hint: string | undefined,
  compilation: Compilation,
): Tag | undefined {
  const names = propertyNames(branches[0]!, compilation, new Set())
  const ordered = hint === undefined ? names : [hint, ...names]
  for (const name of new Set(ordered)) {
    const constants = constantsBy(name, branches, compilation)
    if (constants !== undefined) return { name, constants }
  }
  return undefined
}

function constantsBy(
  name: string,
  branches: readonly Subschema[],
  compilation: Compilation,
): Map<unknown, number> | undefined {
  const positions = new Map<unknown, number>()
  for (const [index, branch] of branches.entries()) {
    const constants = constantsOf(branch, name, compilation, new Set())
    if (constants === undefined) return undefined
    for (const constant of constants) {
      if ((positions.get(constant) ?? index) !== index) return undefined
      positions.set(constant, index)
    }
  }
  return positions
}

/** The possible values of a property, if they are a few plain constants. */
function constantsOf(
  schema: Subschema,
  name: string,
  compilation: Compilation,
  above: ReadonlySet<Subschema>,
): readonly unknown[] | undefined {
  if (above.has(schema)) return undefined
  const { members } = flattenOne(schema, compilation.refs)
  for (const member of members) {
    const property = schemaMap(member.schema, "properties").find(([key]) => key === name)
    const constants = property && fixedValues(property[1], compilation)
    if (constants !== undefined) return constants
  }
  // A branch may itself be a union: then every part of it has to have the tag.
  const path = new Set(above).add(schema)
  for (const branches of members.flatMap((member) => unionsOf(member.schema))) {
    const inner = branches.map((branch) => constantsOf(branch, name, compilation, path))
    if (inner.every((constants) => constants !== undefined)) return inner.flat()
  }
  return undefined
}

function fixedValues(schema: Subschema, compilation: Compilation): readonly unknown[] | undefined {
  for (const { schema: member } of flattenOne(schema, compilation.refs).members) {
    const values = Object.hasOwn(member, "const") ? [member["const"]] : member["enum"]
    if (Array.isArray(values) && values.every(isConstant)) return values
  }
  return undefined
}

function propertyNames(
  schema: Subschema,
  compilation: Compilation,
  seen: Set<Subschema>,
): string[] {
  if (seen.has(schema)) return []
  seen.add(schema)
  return flattenOne(schema, compilation.refs).members.flatMap((member) => [
    ...schemaMap(member.schema, "properties").map(([name]) => name),
    ...unionsOf(member.schema).flatMap(([first]) => propertyNames(first!, compilation, seen)),
  ])
}

function unionsOf(schema: JsonSchema): (readonly Subschema[])[] {
  return [schemaList(schema, "anyOf"), schemaList(schema, "oneOf")].filter(
    (branches) => branches.length > 0,
  )
}

/** Whether a value can be used after `case`. */
function isConstant(value: unknown): boolean {
  return value === null || typeof value !== "object"
}
