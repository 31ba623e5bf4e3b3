import { isRecord } from "../../../internal/guards.ts"
import { objectAt, type Raw, type SourceFile } from "../document.ts"
import { JSON_TYPES } from "../../../schema/json.ts"
import { isBinary, isNullable, isNumber } from "./lower.ts"

/** A schema and its file. */
interface Member {
  readonly raw: Raw
  readonly file: SourceFile
}

const MAX_MEMBERS = 64
const MAX_DEPTH = 4

const LIMITS = [
  ["minimum", "maximum"],
  ["minLength", "maxLength"],
  ["minItems", "maxItems"],
  ["minProperties", "maxProperties"],
] as const

/**
 * Why no value can match a schema with an `allOf`; `undefined` if one may.
 *
 * Checks types, values, limits and required properties of the members, which finds the usual mistakes. It
 * ignores `anyOf`, `not` and patterns.
 */
export function conflictOf(raw: Raw, file: SourceFile): string | undefined {
  return conflictAmong(membersOf({ raw, file }, []), 0)
}

/** A schema and the members of its `allOf`, with references resolved. */
function membersOf(member: Member, members: Member[]): Member[] {
  const place = objectAt({ value: member.raw, file: member.file, pointer: "" })
  if (place === undefined) return members
  const { value, file } = place
  if (members.length >= MAX_MEMBERS || members.some(({ raw }) => raw === value)) return members
  members.push({ raw: value, file })
  // Since 3.1 keywords beside a reference apply, too.
  if (value !== member.raw && file.document.version === "3.1") members.push(member)
  const { allOf } = value
  if (!Array.isArray(allOf)) return members
  for (const one of allOf as unknown[]) {
    if (isRecord(one)) membersOf({ raw: one, file }, members)
  }
  return members
}

function conflictAmong(members: readonly Member[], depth: number): string | undefined {
  if (members.length < 2) return undefined
  return (
    typeConflict(members) ??
    valueConflict(members) ??
    limitConflict(members) ??
    propertyConflict(members, depth)
  )
}

function typeConflict(members: readonly Member[]): string | undefined {
  let allowed: readonly string[] | undefined
  for (const { raw } of members) {
    const types = typesOf(raw)
    if (types === undefined) continue
    const before = allowed
    allowed = before === undefined ? types : common(before, types)
    if (before !== undefined && allowed.length === 0) {
      return `one part is of type ${before.join(" or ")}, another of type ${types.join(" or ")}`
    }
  }
  return undefined
}

/** The allowed types of a schema; `undefined` if it does not restrict them. */
function typesOf(raw: Raw): readonly string[] | undefined {
  const { type } = raw
  if (type === undefined || isBinary(raw)) return undefined
  const types = Array.isArray(type) ? (type as unknown[]) : [type]
  if (types.length === 0 || !types.every((one) => JSON_TYPES.has(one))) return undefined
  return (isNullable(raw) ? [...types, "null"] : types) as string[]
}

function common(left: readonly string[], right: readonly string[]): readonly string[] {
  const types = left.filter((type) => right.includes(type))
  const isWhole = left.includes("integer") || right.includes("integer")
  const isNumeric = left.includes("number") || right.includes("number")
  if (isWhole && isNumeric && !types.includes("integer") && !types.includes("number")) {
    types.push("integer")
  }
  return types
}

function valueConflict(members: readonly Member[]): string | undefined {
  let allowed: readonly unknown[] | undefined
  for (const { raw } of members) {
    const values = valuesOf(raw)
    if (values === undefined) continue
    const before = allowed
    allowed = before === undefined ? values : before.filter((one) => values.includes(one))
    if (allowed.length === 0) return "its parts have no value in common"
  }
  return undefined
}

/** The allowed values of a schema, if all of them are scalars. */
function valuesOf(raw: Raw): readonly unknown[] | undefined {
  const { const: only, enum: list } = raw
  const values = only === undefined ? list : [only]
  if (!Array.isArray(values) || values.length === 0) return undefined
  if (values.some((one) => typeof one === "object" && one !== null)) return undefined
  return isNullable(raw) ? [...(values as unknown[]), null] : (values as unknown[])
}

function limitConflict(members: readonly Member[]): string | undefined {
  // The limits do not apply to other types.
  if (members.every(({ raw }) => (typesOf(raw)?.length ?? 2) > 1)) return undefined
  for (const [least, most] of LIMITS) {
    const lower = members.map(({ raw }) => raw[least]).filter(isNumber)
    const upper = members.map(({ raw }) => raw[most]).filter(isNumber)
    if (lower.length === 0 || upper.length === 0) continue
    if (Math.max(...lower) > Math.min(...upper)) {
      return `${least} ${Math.max(...lower)} is above ${most} ${Math.min(...upper)}`
    }
  }
  return undefined
}

function propertyConflict(members: readonly Member[], depth: number): string | undefined {
  // `required` does not matter if other types are allowed.
  if (!members.some(({ raw }) => typesOf(raw)?.join() === "object")) return undefined
  const required = new Set<string>()
  for (const { raw } of members) {
    if (!Array.isArray(raw["required"])) continue
    for (const name of raw["required"]) if (typeof name === "string") required.add(name)
  }
  for (const name of required) {
    const schemas = members.flatMap(({ raw, file }) => {
      const { properties } = raw
      const property = isRecord(properties) ? properties[name] : undefined
      return Object.hasOwn(properties ?? {}, name) && isRecord(property)
        ? [{ raw: property, file }]
        : []
    })
    // The property is hidden in inputs or outputs.
    if (schemas.some(({ raw }) => (raw["readOnly"] ?? raw["writeOnly"]) === true)) continue
    const closed = members.find(({ raw }) => refuses(raw, name))
    if (closed !== undefined) {
      return `"${name}" is required, and a part without it has "additionalProperties": false`
    }
    if (schemas.length < 2 || depth >= MAX_DEPTH) continue
    const parts = schemas.reduce<Member[]>((all, one) => membersOf(one, all), [])
    const conflict = conflictAmong(parts, depth + 1)
    if (conflict !== undefined) return `of "${name}", ${conflict}`
  }
  return undefined
}

/** Whether a schema refuses objects with this property. */
function refuses(raw: Raw, name: string): boolean {
  const { additionalProperties, properties, patternProperties } = raw
  if (additionalProperties !== false || patternProperties !== undefined) return false
  return !isRecord(properties) || !Object.hasOwn(properties, name)
}
