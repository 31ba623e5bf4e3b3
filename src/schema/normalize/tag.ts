import type { JsonSchema } from "../json.ts"
import type { Compilation } from "./model.ts"
import { flattenOne } from "./flatten.ts"
import { schemaList, schemaMap } from "./keywords.ts"
import type { Subschema } from "./keywords.ts"

/** A property that distinguishes the branches of a union. */
export interface Tag {
  readonly name: string
  /** Each constant, with the position of the branch that has it. */
  readonly constants: ReadonlyMap<unknown, number>
}

/** Finds a property that holds constants in every branch (one or more), none of them in two. */
export function findTag(
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
