// Shapes of values: each has a JSON Schema and a check that reports what is wrong with a value.

import { mismatch, type OptionRule, type OptionsSchema } from "../internal/options.ts"
import { isSecretName } from "../internal/secret-names.ts"
import { nearest } from "../internal/suggest.ts"
import { isRecord } from "../internal/guards.ts"
import { type JsonSchema } from "../schema/json.ts"
import { parseReferences, type TextPart, withDollars } from "../internal/references.ts"

export type Keys = readonly string[]

/** Receives errors and warnings about a configuration. Messages never contain values. */
export interface IssueReporter {
  error(keys: Keys, message: string): void
  warn(keys: Keys, message: string): void
}

export interface Shape {
  readonly schema: JsonSchema
  /** An object without it is reported. */
  readonly isRequired?: boolean | undefined
  check(value: unknown, keys: Keys, report: IssueReporter): void
}

export interface TextOptions {
  /** Returns what is wrong with a text, or `undefined`. Not called for texts with references. */
  readonly refuse?: ((text: string) => string | undefined) | undefined
  /** It may contain references: `${env:NAME}`; in entries of editors also `${input:id}` and `{env:NAME}`. */
  readonly refers?: boolean | "entry" | undefined
  /** It is a secret: a literal value causes a warning. */
  readonly secret?: boolean | undefined
  /** Names are those of headers; a literal value causes a warning where the name is that of a secret. */
  readonly isHeaders?: boolean | undefined
  /** Numbers and booleans are read as texts. */
  readonly isLoose?: boolean | undefined
  /** Sentences about the members of an object. */
  readonly members?: Readonly<Record<string, string>> | undefined
}

/** What a configuration adds to the rule of an option: a sentence, and what is special about its texts. */
export type FieldAbout = string | (TextOptions & { readonly about: string })

/** A field with the rule of an option, which its members and items follow, too; `options` are for its texts. */
export function field(rule: OptionRule, description?: string, options: TextOptions = {}): Shape {
  if (typeof rule === "object") {
    if ("required" in rule)
      return { ...field(rule.required, description, options), isRequired: true }
    if ("secret" in rule) return field(rule.secret, description, { ...SECRET_TEXT, ...options })
    if ("either" in rule) return either(rule.either, description, options)
    if ("variants" in rule) return variants(rule.variants, description, options)
    if ("list" in rule) return listOf(description, field(rule.list, undefined, options))
    if ("record" in rule) {
      const itemOf = (secret?: boolean): Shape =>
        field(rule.record, undefined, { ...options, secret })
      if (options.isHeaders !== true) return recordOf(description, itemOf(options.secret))
      const [plain, secret] = [itemOf(false), itemOf(true)]
      return recordOf(description, plain, (name) => {
        if (!HEADER_NAME.test(name)) return "is not a valid header name."
        return isSecretName(name, "header") ? secret : plain
      })
    }
    if ("members" in rule) return fields(description, membersOf(rule.members, options), rule)
  }
  return {
    schema: described(
      options.isLoose === true && isTextual(rule)
        ? { type: ["string", "number", "boolean"] }
        : schemaOf(rule),
      description,
    ),
    check(value, keys, report) {
      const parts = referencesIn(value, rule, options)
      const issue =
        value === "" && rule === "text"
          ? "must not be empty."
          : parts.length === 0
            ? mismatch(rule, value, kindOf(value))
            : undefined
      if (issue !== undefined) report.error(keys, issue)
      else if (typeof value === "string") checkText(value, parts, keys, report, options)
    },
  }
}

const HEADER_NAME = /^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/

/** Secrets are sent in headers and forms, unless their field says otherwise. */
const SECRET_TEXT: TextOptions = {
  refers: true,
  secret: true,
  refuse: (value) =>
    /[\r\n]/.test(value)
      ? "must be one line. Check for a line break at the end of the file or variable."
      : undefined,
}

/** A non-empty string. */
export function text(description: string, options: TextOptions = {}): Shape {
  return field("text", description, options)
}

/** Fields with the rules of options, and what is known about each; `options` are for the texts of all of them. */
export function describe<TOptions extends object, TName extends keyof TOptions & string>(
  rules: OptionsSchema<TOptions>,
  about: Readonly<Record<TName, FieldAbout>>,
  options: TextOptions = {},
): Readonly<Record<TName, Shape>> {
  const entries = Object.entries<FieldAbout>(about).map(([name, one]) => {
    const own = typeof one === "string" ? { about: one } : one
    return [name, field(rules[name as TName], own.about, { ...options, ...own })] as const
  })
  return Object.fromEntries(entries) as Record<TName, Shape>
}

/** The members of an object. Among them, what is secret has the name of a secret: a user name has not. */
export function membersOf(
  rules: OptionsSchema,
  { members = {}, refers }: TextOptions = {},
): Readonly<Record<string, Shape>> {
  const entries = Object.entries(rules).map(([name, rule]) => {
    const plain = isSecretName(name, "setting") ? {} : { secret: false }
    return [name, field(rule, members[name], { refers, ...plain })] as const
  })
  return Object.fromEntries(entries)
}

/** Objects that differ by their `type`. */
function variants(
  kinds: Readonly<Record<string, OptionsSchema>>,
  description: string | undefined,
  options: TextOptions,
): Shape {
  const shapes = new Map(
    Object.entries(kinds).map(([type, members]) => [
      type,
      fields(undefined, {
        type: field({ required: { oneOf: [type] } }),
        ...membersOf(members, options),
      }),
    ]),
  )
  const anyType = field({ oneOf: [...shapes.keys()] })
  return {
    schema: described({ anyOf: Array.from(shapes.values(), ({ schema }) => schema) }, description),
    check(value, keys, report) {
      const type = isRecord(value) ? value["type"] : undefined
      const shape = shapes.get(type as string)
      if (shape === undefined) anyType.check(type, [...keys, "type"], report)
      else shape.check(value, keys, report)
    },
  }
}

function either(
  rules: readonly OptionRule[],
  description: string | undefined,
  options: TextOptions,
): Shape {
  const shapes = rules.map((rule) => field(rule, undefined, options))
  const schemas = shapes.map(({ schema }) => schema).filter((schema) => schema !== CODE)
  const schema = schemas.length > 1 ? { anyOf: schemas } : (schemas[0] ?? CODE)
  return {
    schema: described(schema, description),
    check(value, keys, report) {
      const at = rules.findIndex((rule) => mismatch(rule, value, "") === undefined)
      const issue = mismatch({ either: rules }, value, kindOf(value))
      if (issue === undefined) shapes[at]?.check(value, keys, report)
      else report.error(keys, value === "" ? "must not be empty." : issue)
    },
  }
}

/** The schema of what only a script can contain, such as a function. */
const CODE: JsonSchema = { not: {} }

const KINDS: Readonly<Partial<Record<string, JsonSchema>>> = {
  any: {},
  boolean: { type: "boolean" },
  count: { type: "integer", minimum: 1 },
  duration: { type: "number", exclusiveMinimum: 0 },
  port: { type: "integer", minimum: 0, maximum: 65_535 },
  string: { type: "string" },
  text: { type: "string", minLength: 1 },
  url: { type: "string", minLength: 1 },
}

function schemaOf(rule: OptionRule): JsonSchema {
  if (typeof rule === "string") return KINDS[rule] ?? CODE
  if ("oneOf" in rule) return { enum: [...rule.oneOf] }
  if ("pattern" in rule) return { type: "string" }
  if (!("min" in rule)) return CODE
  const { min, max, whole } = rule
  const type = whole === true ? "integer" : "number"
  return { type, minimum: min, ...(max !== undefined && { maximum: max }) }
}

function described(schema: JsonSchema, description: string | undefined): JsonSchema {
  return schema === CODE || description === undefined ? schema : { ...schema, description }
}

/** The parts of a text with references; empty without any, and where none are allowed. */
function referencesIn(
  value: unknown,
  rule: OptionRule,
  { refers }: TextOptions,
): readonly TextPart[] {
  if (typeof value !== "string" || !refers || !isTextual(rule)) return []
  const parts = parseReferences(refers === "entry" ? withDollars(value) : value)
  return parts.some((part) => part.kind !== "text") ? parts : []
}

/** Whether any text is of the right type. */
function isTextual(rule: OptionRule): boolean {
  return schemaOf(rule)["type"] === "string"
}

function checkText(
  value: string,
  parts: readonly TextPart[],
  keys: Keys,
  report: IssueReporter,
  options: TextOptions,
): void {
  if (value.includes("\0")) return report.error(keys, "must not contain the character NUL.")
  for (const part of parts) {
    // `${input:…}` is a prompt of editors: that server cannot be used, but the others can.
    const isPrompt = options.refers === "entry" && part.kind === "unknown" && part.name === "input"
    if (part.kind === "unknown" && !isPrompt) report.error(keys, unknownKindMessage(part.name))
    if (part.kind === "open")
      report.error(keys, `has "\${${part.name}:" without the "}" that ends it.`)
  }
  if (parts.length > 0) return
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

export function listOf(description: string | undefined, item: Shape): Shape {
  return {
    schema: described({ type: "array", items: item.schema }, description),
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

/** An object with arbitrary keys and items of one shape. `itemOf` may refuse a key, or choose a stricter shape. */
export function recordOf(
  description: string | undefined,
  item: Shape,
  itemOf: (key: string) => Shape | string = () => item,
): Shape {
  return {
    schema: described({ type: "object", additionalProperties: item.schema }, description),
    check(value, keys, report) {
      if (!isRecord(value)) {
        report.error(keys, `must be an object, got ${kindOf(value)}.`)
        return
      }
      for (const [key, one] of Object.entries(value)) {
        const shape = itemOf(key)
        // In YAML, a value in the wrong place is read as a name. It may be a secret, so that it is not shown.
        if (one === null) report.error(keys, "has a name without a value.")
        else if (typeof shape === "string") report.error([...keys, key], shape)
        else shape.check(one, [...keys, key], report)
      }
    },
  }
}

export interface FieldsOptions {
  /** Unknown names are allowed, unless they look like a misspelling of a known one. */
  readonly open?: boolean | undefined
  /** Messages for unknown names that users often try. */
  readonly hints?: Readonly<Record<string, string>> | undefined
  /** Reports fields that do not go together. */
  readonly check?:
    | ((value: Readonly<Record<string, unknown>>, keys: Keys, report: IssueReporter) => void)
    | undefined
}

/** An object with a fixed set of fields. `null`, which is an empty entry in YAML, counts as missing. */
export function fields(
  description: string | undefined,
  shapes: Readonly<Record<string, Shape>>,
  options: FieldsOptions = {},
): Shape {
  const entries = Object.entries(shapes)
  const required = entries.flatMap(([name, shape]) => (shape.isRequired === true ? [name] : []))
  const properties = entries.flatMap(([name, { schema }]) =>
    schema === CODE ? [] : [[name, schema] as const],
  )
  const schema = {
    type: "object",
    properties: Object.fromEntries(properties),
    ...(required.length > 0 && { required }),
    ...(options.open !== true && { additionalProperties: false }),
  }
  return {
    schema: described(schema, description),
    check(value, keys, report) {
      if (!isRecord(value)) {
        report.error(keys, `must be an object, got ${kindOf(value)}.`)
        return
      }
      checkNames(value, keys, report, Object.keys(shapes), options)
      for (const [name, shape] of entries) {
        if (isGiven(value, name)) shape.check(value[name], [...keys, name], report)
        else if (shape.isRequired === true) report.error(keys, `needs "${name}".`)
      }
      options.check?.(value, keys, report)
    },
  }
}

/** Reports the unknown names of an object, and suggests which were meant. Returns whether there are any. */
export function checkNames(
  value: Readonly<Record<string, unknown>>,
  keys: Keys,
  report: IssueReporter,
  allowed: readonly string[],
  options: FieldsOptions = {},
): boolean {
  let hasReported = false
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
    hasReported = true
  }
  return hasReported
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
