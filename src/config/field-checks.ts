// Shapes of values: each has a JSON Schema and a check that reports what is wrong with a value.

import { listed } from "../internal/message-text.ts"
import { nearest } from "../internal/suggest.ts"
import { isRecord } from "../internal/guards.ts"
import { type JsonSchema } from "../schema/json.ts"
import { parseReferences } from "./references.ts"

export type Keys = readonly string[]

/** Receives errors and warnings about a configuration. Messages never contain values. */
export interface IssueReporter {
  error(keys: Keys, message: string): void
  warn(keys: Keys, message: string): void
}

export interface Shape {
  readonly schema: JsonSchema
  check(value: unknown, keys: Keys, report: IssueReporter): void
}

export interface TextOptions {
  /** Returns what is wrong with a text, or `undefined`. Not called for texts with references. */
  readonly refuse?: ((text: string) => string | undefined) | undefined
  /** It may contain references: `${env:NAME}`. */
  readonly refers?: boolean | undefined
  /** It is a secret: a literal value causes a warning. Functions are allowed. */
  readonly secret?: boolean | undefined
}

/** A non-empty string. */
export function text(description: string, options: TextOptions = {}): Shape {
  return {
    schema: { type: "string", minLength: 1, description },
    check(value, keys, report) {
      if (options.secret === true && typeof value === "function") return
      if (typeof value !== "string") {
        report.error(keys, `must be a string, got ${kindOf(value)}.`)
      } else if (value === "") {
        report.error(keys, "must not be empty.")
      } else if (value.includes("\0")) {
        report.error(keys, "must not contain the character NUL.")
      } else {
        checkText(value, keys, report, options)
      }
    },
  }
}

function checkText(value: string, keys: Keys, report: IssueReporter, options: TextOptions): void {
  const parts = options.refers === true ? parseReferences(value) : []
  for (const part of parts) {
    if (part.kind === "unknown") report.error(keys, unknownKindMessage(part.name))
    if (part.kind === "open")
      report.error(keys, `has "\${${part.name}:" without the "}" that ends it.`)
  }
  if (parts.some((part) => part.kind !== "text")) return
  const refusal = options.refuse?.(value)
  if (refusal !== undefined) report.error(keys, refusal)
  else if (options.secret === true) report.warn(keys, LITERAL_SECRET)
}

const LITERAL_SECRET =
  "contains a literal secret. Use a reference such as ${env:NAME}, and keep the secret out of the file."

/** The message for an unknown kind of reference. */
export function unknownKindMessage(kind: string): string {
  const meant = nearest(kind, ["env", "file", "command"])
  const cure = meant === undefined ? "" : ` Did you mean \${${meant}:…}?`
  return `uses \${${kind}:…}, which is not known.${cure} Use \${env:NAME}, \${file:path} or \${command:…}; write $\${ for a literal \${.`
}

export function flag(description: string): Shape {
  return {
    schema: { type: "boolean", description },
    check(value, keys, report) {
      if (typeof value !== "boolean") {
        report.error(keys, `must be true or false, got ${kindOf(value)}.`)
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
    check(value, keys, report) {
      const isOne = typeof value === "number" && value >= least && value <= most
      if (isOne && (!whole || Number.isInteger(value))) return
      const got = typeof value === "number" ? "" : `, got ${kindOf(value)}`
      report.error(keys, `must be a ${whole ? "whole " : ""}number ${range}${got}.`)
    },
  }
}

export function oneOf(description: string, values: readonly string[]): Shape {
  const choice = listed(values.map((value) => `"${value}"`))
  return {
    schema: { enum: [...values], description },
    check(value, keys, report) {
      if (typeof value === "string" && values.includes(value)) return
      const meant = typeof value === "string" ? nearest(value, values) : undefined
      report.error(
        keys,
        `must be ${choice}.${meant === undefined ? "" : ` Did you mean "${meant}"?`}`,
      )
    },
  }
}

export function listOf(description: string, item: Shape): Shape {
  return {
    schema: { type: "array", items: item.schema, description },
    check(value, keys, report) {
      if (!Array.isArray(value)) {
        report.error(keys, `must be a list, got ${kindOf(value)}.`)
        return
      }
      for (const [index, one] of value.entries()) item.check(one, [...keys, String(index)], report)
    },
  }
}

/** A single item, or a list of items. */
export function oneOrMany(description: string, item: Shape): Shape {
  const list = listOf(description, item)
  return {
    schema: { anyOf: [item.schema, list.schema], description },
    check(value, keys, report) {
      ;(Array.isArray(value) ? list : item).check(value, keys, report)
    },
  }
}

/** An object with arbitrary keys and items of one shape. */
export function recordOf(
  description: string,
  item: Shape,
  refuseKey?: (key: string) => string | undefined,
): Shape {
  return {
    schema: { type: "object", additionalProperties: item.schema, description },
    check(value, keys, report) {
      if (!isRecord(value)) {
        report.error(keys, `must be an object, got ${kindOf(value)}.`)
        return
      }
      for (const [key, one] of Object.entries(value)) {
        const refusal = refuseKey?.(key)
        // In YAML, a value in the wrong place is read as a name. It may be a secret, so that it is not shown.
        if (one === null) report.error(keys, "has a name without a value.")
        else if (refusal !== undefined) report.error([...keys, key], refusal)
        else item.check(one, [...keys, key], report)
      }
    },
  }
}

export interface FieldsOptions {
  readonly required?: readonly string[] | undefined
  /** Unknown names are allowed, unless they look like a misspelling of a known one. */
  readonly open?: boolean | undefined
  /** Messages for unknown names that users often try. */
  readonly hints?: Readonly<Record<string, string>> | undefined
}

/** An object with a fixed set of fields. `null`, which is an empty entry in YAML, counts as missing. */
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
    check(value, keys, report) {
      if (!isRecord(value)) {
        report.error(keys, `must be an object, got ${kindOf(value)}.`)
        return
      }
      checkNames(value, keys, report, Object.keys(shapes), options)
      for (const name of required) {
        if (!isGiven(value, name)) report.error(keys, `needs "${name}".`)
      }
      for (const [name, shape] of Object.entries(shapes)) {
        if (isGiven(value, name)) shape.check(value[name], [...keys, name], report)
      }
    },
  }
}

/** Reports the unknown names of an object, and suggests which were meant. */
export function checkNames(
  value: Readonly<Record<string, unknown>>,
  keys: Keys,
  report: IssueReporter,
  allowed: readonly string[],
  options: FieldsOptions = {},
): void {
  for (const name of Object.keys(value)) {
    if (allowed.includes(name)) continue
    const hint =
      options.hints && Object.hasOwn(options.hints, name) ? options.hints[name] : undefined
    const meant = nearest(
      name,
      allowed.filter((other) => !Object.hasOwn(value, other)),
    )
    if (hint === undefined && meant === undefined && options.open === true) continue
    const cure =
      hint ??
      (meant === undefined ? `Known here: ${allowed.join(", ")}.` : `Did you mean "${meant}"?`)
    // In YAML, a value in the wrong place is read as a name. It may be a secret, so that it is not shown.
    const isBare = value[name] === null && hint === undefined && meant === undefined
    if (isBare) report.error(keys, `has an unknown name without a value. ${cure}`)
    else report.error([...keys, name], `is not known. ${cure}`)
  }
}

/** Whether an object has a field that is neither `undefined` nor `null`. */
export function isGiven(value: Readonly<Record<string, unknown>>, name: string): boolean {
  return Object.hasOwn(value, name) && value[name] !== undefined && value[name] !== null
}

/** The kind of a value, for messages. */
export function kindOf(value: unknown): string {
  if (value === null || value === undefined) return "nothing"
  if (Array.isArray(value)) return "a list"
  switch (typeof value) {
    case "string":
      return "a string"
    case "object":
      return "an object"
    case "boolean":
      return String(value)
    default:
      return `a ${typeof value}`
  }
}
