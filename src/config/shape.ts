// Shapes of values: each knows its JSON Schema, and says in words what is wrong with a value.

import { listed } from "../internal/describe.ts"
import { nearest } from "../internal/suggest.ts"
import { isPlainRecord, type JsonSchema } from "../schema/json.ts"
import { parseReferences } from "./references.ts"

export type Keys = readonly string[]

/** Told what is found; never shows a value. */
export interface Findings {
  fault(keys: Keys, message: string): void
  warn(keys: Keys, message: string): void
}

export interface Shape {
  readonly schema: JsonSchema
  check(value: unknown, keys: Keys, found: Findings): void
}

export interface TextOptions {
  /** What is wrong with a text; `undefined` when nothing is. Not asked where it refers to something. */
  readonly refuse?: ((text: string) => string | undefined) | undefined
  /** It may refer: `${env:NAME}`. */
  readonly refers?: boolean | undefined
  /** It is a secret: written out, it earns a warning. Functions may give it. */
  readonly secret?: boolean | undefined
}

/** A text that is not empty. */
export function text(description: string, options: TextOptions = {}): Shape {
  return {
    schema: { type: "string", minLength: 1, description },
    check(value, keys, found) {
      if (options.secret === true && typeof value === "function") return
      if (typeof value !== "string") {
        found.fault(keys, `must be a text, got ${kindOf(value)}.`)
      } else if (value === "") {
        found.fault(keys, "must not be empty.")
      } else if (value.includes("\0")) {
        found.fault(keys, "must not contain the character NUL.")
      } else {
        checkText(value, keys, found, options)
      }
    },
  }
}

function checkText(value: string, keys: Keys, found: Findings, options: TextOptions): void {
  const parts = options.refers === true ? parseReferences(value) : []
  for (const part of parts) {
    if (part.kind === "unknown") found.fault(keys, unknownKind(part.name))
    if (part.kind === "open")
      found.fault(keys, `has "\${${part.name}:" without the "}" that ends it.`)
  }
  if (parts.some((part) => part.kind !== "text")) return
  const refusal = options.refuse?.(value)
  if (refusal !== undefined) found.fault(keys, refusal)
  else if (options.secret === true) found.warn(keys, LITERAL_SECRET)
}

const LITERAL_SECRET =
  "holds a secret itself. Better refer to it, as ${env:NAME}, and keep it out of the file."

/** What is said of a reference that nobody knows. */
export function unknownKind(kind: string): string {
  const meant = nearest(kind, ["env", "file", "command"])
  const cure = meant === undefined ? "" : ` Did you mean \${${meant}:…}?`
  return `uses \${${kind}:…}, which is not known.${cure} There are \${env:NAME}, \${file:path} and \${command:…}; write $\${ for \${ itself.`
}

export function flag(description: string): Shape {
  return {
    schema: { type: "boolean", description },
    check(value, keys, found) {
      if (typeof value !== "boolean") {
        found.fault(keys, `must be true or false, got ${kindOf(value)}.`)
      }
    },
  }
}

export function number(
  description: string,
  limits: { readonly least: number; readonly most?: number; readonly whole?: boolean },
): Shape {
  const { least, most = Infinity, whole = false } = limits
  const range = most === Infinity ? `of at least ${least}` : `from ${least} to ${most}`
  return {
    schema: {
      type: whole ? "integer" : "number",
      minimum: least,
      ...(most !== Infinity && { maximum: most }),
      description,
    },
    check(value, keys, found) {
      const isOne = typeof value === "number" && value >= least && value <= most
      if (isOne && (!whole || Number.isInteger(value))) return
      const got = typeof value === "number" ? "" : `, got ${kindOf(value)}`
      found.fault(keys, `must be a ${whole ? "whole " : ""}number ${range}${got}.`)
    },
  }
}

export function oneOf(description: string, values: readonly string[]): Shape {
  const choice = listed(values.map((value) => `"${value}"`))
  return {
    schema: { enum: [...values], description },
    check(value, keys, found) {
      if (typeof value === "string" && values.includes(value)) return
      const meant = typeof value === "string" ? nearest(value, values) : undefined
      found.fault(
        keys,
        `must be ${choice}.${meant === undefined ? "" : ` Did you mean "${meant}"?`}`,
      )
    },
  }
}

export function listOf(description: string, item: Shape): Shape {
  return {
    schema: { type: "array", items: item.schema, description },
    check(value, keys, found) {
      if (!Array.isArray(value)) {
        found.fault(keys, `must be a list, got ${kindOf(value)}.`)
        return
      }
      for (const [index, one] of value.entries()) item.check(one, [...keys, String(index)], found)
    },
  }
}

/** One, or a list of them. */
export function oneOrMany(description: string, item: Shape): Shape {
  const list = listOf(description, item)
  return {
    schema: { anyOf: [item.schema, list.schema], description },
    check(value, keys, found) {
      ;(Array.isArray(value) ? list : item).check(value, keys, found)
    },
  }
}

/** Anything by name. */
export function recordOf(
  description: string,
  item: Shape,
  refuseKey?: (key: string) => string | undefined,
): Shape {
  return {
    schema: { type: "object", additionalProperties: item.schema, description },
    check(value, keys, found) {
      if (!isPlainRecord(value)) {
        found.fault(keys, `must be an object, got ${kindOf(value)}.`)
        return
      }
      for (const [key, one] of Object.entries(value)) {
        const refusal = refuseKey?.(key)
        if (refusal !== undefined) found.fault([...keys, key], refusal)
        else item.check(one, [...keys, key], found)
      }
    },
  }
}

export interface FieldsOptions {
  readonly required?: readonly string[] | undefined
  /** Names that are not listed are fine, unless they look like a listed one misspelt. */
  readonly open?: boolean | undefined
  /** What to say of names that people try. */
  readonly hints?: Readonly<Record<string, string>> | undefined
}

/** An object whose names are known. `null` counts as not given: what an empty line of YAML is. */
export function fields(
  description: string,
  shapes: Readonly<Record<string, Shape>>,
  options: FieldsOptions = {},
): Shape {
  const required = options.required ?? []
  const properties = Object.fromEntries(
    Object.entries(shapes).map(([name, shape]) => [name, shape.schema]),
  )
  return {
    schema: {
      type: "object",
      properties,
      ...(required.length > 0 && { required: [...required] }),
      ...(options.open !== true && { additionalProperties: false }),
      description,
    },
    check(value, keys, found) {
      if (!isPlainRecord(value)) {
        found.fault(keys, `must be an object, got ${kindOf(value)}.`)
        return
      }
      checkNames(value, keys, found, Object.keys(shapes), options)
      for (const name of required) {
        if (!isGiven(value, name)) found.fault(keys, `needs "${name}".`)
      }
      for (const [name, shape] of Object.entries(shapes)) {
        if (isGiven(value, name)) shape.check(value[name], [...keys, name], found)
      }
    },
  }
}

/** Says which names of an object are not known, and which were probably meant. */
export function checkNames(
  value: Readonly<Record<string, unknown>>,
  keys: Keys,
  found: Findings,
  known: readonly string[],
  options: FieldsOptions = {},
): void {
  for (const name of Object.keys(value)) {
    if (known.includes(name)) continue
    const hint =
      options.hints && Object.hasOwn(options.hints, name) ? options.hints[name] : undefined
    const meant = nearest(
      name,
      known.filter((other) => !Object.hasOwn(value, other)),
    )
    if (hint === undefined && meant === undefined && options.open === true) continue
    const cure =
      hint ??
      (meant === undefined ? `Known here: ${known.join(", ")}.` : `Did you mean "${meant}"?`)
    found.fault([...keys, name], `is not known. ${cure}`)
  }
}

/** Whether an object has a name with a value. */
export function isGiven(value: Readonly<Record<string, unknown>>, name: string): boolean {
  return Object.hasOwn(value, name) && value[name] !== undefined && value[name] !== null
}

/** What a value is, in a word a person uses. */
export function kindOf(value: unknown): string {
  if (value === null || value === undefined) return "nothing"
  if (Array.isArray(value)) return "a list"
  switch (typeof value) {
    case "string":
      return "a text"
    case "object":
      return "an object"
    case "boolean":
      return String(value)
    default:
      return `a ${typeof value}`
  }
}
