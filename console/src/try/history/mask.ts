import { schemasAt } from "../schema/at-path.ts"
import { isRecord } from "../../../../src/internal/guards.ts"
import { isSecretField } from "../../../../src/internal/secret-names.ts"
import { isSchema, listOf, setOwn } from "../../../../src/schema/json.ts"
import { own } from "../schema/json.ts"
import type { JsonRecord, Path } from "../schema/json.ts"
import { toPointer } from "../schema/pointer.ts"

/** A value without its sensitive parts, and the pointers of those. */
export interface Masked {
  readonly value: unknown
  readonly removed: readonly string[]
}

/** Longer texts are files; what history is for is not to keep those. */
const MAX_TEXT = 8192
const MAX_DEPTH = 60

/** Takes out what looks like a secret, by its name or its schema, and texts as long as files. */
export function withoutSecrets(value: unknown, schema?: unknown): Masked {
  return without(value, schema, isSecretPart)
}

const isSecretPart: Test = (current, path, schemas) => {
  const last = path.at(-1)
  if (isTooLong(current) || (typeof last === "string" && isSecretField(last, current))) return true
  return schemas().some(
    (one) => own(one, "writeOnly") === true || own(one, "format") === "password",
  )
}

/** Takes out what only the server sets; a parameter that is required stays. */
export function withoutReadOnly(value: unknown, schema?: unknown): Masked {
  const required = listOf(own(schema, "required"))
  return without(value, schema, (_current, path, schemas) => {
    if (path.length === 1 && required.includes(path[0])) return false
    return schemas().some((one) => own(one, "readOnly") === true)
  })
}

/** Whether a part of a value is left out; `schemas` returns the schemas that apply to it. */
type Test = (current: unknown, path: Path, schemas: () => readonly JsonRecord[]) => boolean

function without(value: unknown, schema: unknown, isLeftOut: Test): Masked {
  const removed: string[] = []
  const root = isSchema(schema) ? schema : undefined
  const copy = (current: unknown, path: Path): unknown => {
    const schemas = (): readonly JsonRecord[] => (root === undefined ? [] : schemasAt(root, path))
    if (path.length > MAX_DEPTH || isLeftOut(current, path, schemas)) {
      removed.push(toPointer(path))
      return undefined
    }
    if (Array.isArray(current)) {
      return current.map((item: unknown, at) => copy(item, [...path, at]) ?? null)
    }
    if (!isRecord(current)) return current
    const kept = {}
    for (const [key, item] of Object.entries(current)) {
      const masked = copy(item, [...path, key])
      if (masked !== undefined) setOwn(kept, key, masked)
    }
    return kept
  }
  return { value: copy(value, []), removed }
}

function isTooLong(value: unknown): boolean {
  return typeof value === "string" && value.length > MAX_TEXT
}
