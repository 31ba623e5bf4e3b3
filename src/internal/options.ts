// Validation of the options of public functions: rules as plain data, and the messages for values that break them.

import { listed } from "./describe.ts"
import { reading } from "./brands.ts"
import { nearest } from "./suggest.ts"

/** The allowed values of one option. A member that is `undefined` counts as absent. */
export type OptionRule =
  | OptionKind
  | { readonly oneOf: readonly (string | number | boolean)[] }
  /** A number; without `max` also `Infinity`. */
  | { readonly min: number; readonly max?: number; readonly whole?: boolean }
  | { readonly pattern: RegExp; readonly expected: string }
  /** An object, of whatever class, that has these functions. */
  | { readonly methods: readonly string[]; readonly expected: string }
  | { readonly list: OptionRule }
  | { readonly record: OptionRule }
  /** An object with these members; others are rejected unless it is open. */
  | { readonly members: OptionsSchema; readonly open?: boolean }
  /** Objects that differ by their `type`. */
  | { readonly variants: Readonly<Record<string, OptionsSchema>> }
  | { readonly either: readonly OptionRule[] }
  | { readonly required: OptionRule }
  /** Messages never contain the value. */
  | { readonly secret: OptionRule }

export type OptionKind =
  | "any"
  | "boolean"
  | "clock"
  /** A whole number of at least 1, or `Infinity`. */
  | "count"
  /** Milliseconds above 0, or `Infinity`. */
  | "duration"
  | "function"
  | "logger"
  | "port"
  | "registry"
  | "signal"
  | "string"
  /** A string that is not empty. */
  | "text"
  | "url"

/** The rule of each option of an interface; a missing one does not compile. */
export type OptionsSchema<TOptions extends object = Readonly<Record<string, unknown>>> = {
  readonly [TName in keyof Required<TOptions>]: OptionRule
}

/** Milliseconds for a timer of the platform. */
export const TIMER = { min: 0, max: 2_147_483_647, whole: true } as const

/** The identity of a caller. Further members belong to the application. */
export const IDENTITY: OptionRule = {
  members: {
    id: { required: "text" },
    scopes: { required: { list: "string" } },
    resources: { record: { list: "string" } },
  },
  open: true,
}

type Kind = readonly [expected: string, is: (value: unknown) => boolean]

const KINDS: Readonly<Record<OptionKind, Kind>> = {
  any: ["anything", () => true],
  boolean: ["true or false", (value) => typeof value === "boolean"],
  clock: [
    "a clock with now(), setTimeout() and clearTimeout()",
    (value) => hasMethods(value, ["now", "setTimeout", "clearTimeout"]),
  ],
  count: ["a whole number of at least 1, or Infinity", (value) => isNumber(value, 1, true)],
  duration: [
    "a number of milliseconds above 0, or Infinity",
    (value) => typeof value === "number" && value > 0,
  ],
  function: ["a function", (value) => typeof value === "function"],
  logger: [
    "a logger with debug(), info(), warn() and error()",
    (value) => hasMethods(value, ["debug", "info", "warn", "error"]),
  ],
  port: ["a port from 0 to 65535", (value) => isNumber(value, 0, true, 65_535)],
  registry: ["an OperationRegistry", (value) => hasMethods(value, ["execute"])],
  signal: ["an AbortSignal", (value) => hasMethods(value, ["addEventListener"])],
  string: ["a string", (value) => typeof value === "string"],
  text: ["a string that is not empty", (value) => typeof value === "string" && value !== ""],
  url: [
    "an absolute URL",
    (value) => value instanceof URL || (typeof value === "string" && URL.canParse(value)),
  ],
}

/**
 * Throws a `TypeError` for the first option that is unknown or invalid.
 *
 * The message names the function, the path of the option, what was received and what is expected.
 */
export function validateOptions(caller: string, options: unknown, schema: OptionsSchema): void {
  const fail = (path: string, message: string): Error =>
    new TypeError(`${caller}(): ${path === "" ? "options" : path} ${message}`)
  const place = { path: "", fail }
  reading(`${caller}(): options`, () => check(place, { members: schema }, options))
}

/** A member of data that is invalid. */
interface DataIssue {
  /** Empty for the data themselves. */
  readonly path: string
  readonly message: string
}

/** Finds the first invalid member of data from a file: unknown members are ignored, and no value is quoted. */
export function findDataIssue(data: unknown, schema: OptionsSchema): DataIssue | undefined {
  return firstIssue({ path: "", isSecret: true, isOpen: true }, { members: schema }, data)
}

/** Finds the first member of a value that is unknown or invalid, as a JSON pointer and a part of a sentence. */
export function findOptionIssue(value: unknown, rule: OptionRule): DataIssue | undefined {
  const issue = firstIssue({ path: "" }, rule, value)
  if (issue === undefined) return undefined
  const path = issue.path === "" ? "" : `/${issue.path.replaceAll(".", "/")}`
  const message = issue.message.replace(/\. Did you mean (.*)\?$/, " (did you mean $1?)")
  return { path, message: message.replace(/\.$/, "") }
}

function firstIssue(
  place: Omit<Place, "fail">,
  rule: OptionRule,
  value: unknown,
): DataIssue | undefined {
  let issue: DataIssue | undefined
  const fail = (path: string, message: string): Error => {
    issue = { path, message }
    return new Error(message)
  }
  try {
    check({ ...place, fail }, rule, value)
  } catch (thrown) {
    if (issue === undefined) throw thrown
  }
  return issue
}

interface Place {
  /** Empty for the options themselves. */
  readonly path: string
  readonly isSecret?: boolean
  /** Unknown members are ignored everywhere. */
  readonly isOpen?: boolean
  /** The error for the first invalid option. */
  readonly fail: (path: string, message: string) => Error
}

function check(place: Place, rule: OptionRule, value: unknown): void {
  if (typeof rule === "object") {
    if ("secret" in rule) return check({ ...place, isSecret: true }, rule.secret, value)
    if ("required" in rule) return check(place, rule.required, value)
    if ("either" in rule) {
      const matching = rule.either.find((one) => matchesRule(one, value))
      if (matching !== undefined) return check(place, matching, value)
      // A value that matches neither may still be the secret, with the wrong type.
      const isSecret = place.isSecret || rule.either.some(isSecretRule)
      throw invalidValue({ ...place, isSecret }, rule, value)
    }
  }
  if (!matchesRule(rule, value)) throw invalidValue(place, rule, value)
  if (typeof rule !== "object") return
  if ("list" in rule) {
    for (const [index, item] of (value as unknown[]).entries()) {
      check({ ...place, path: `${place.path}[${index}]` }, rule.list, item)
    }
  } else if ("record" in rule) {
    for (const [name, item] of Object.entries(value as object)) {
      checkMember(childPlace(place, name), rule.record, item)
    }
  } else if ("members" in rule) checkMembers(place, rule.members, value as object, rule.open)
  else if ("variants" in rule) {
    const { type } = value as { readonly type?: unknown }
    const names = Object.keys(rule.variants)
    const members = names.includes(type as string) ? rule.variants[type as string] : undefined
    checkMembers(place, { ...members, type: { required: { oneOf: names } } }, value as object)
  }
}

function checkMembers(place: Place, members: OptionsSchema, value: object, isOpen = false): void {
  const options = value as Readonly<Record<string, unknown>>
  const names = Object.keys(members)
  for (const [name, rule] of Object.entries(members)) {
    checkMember(childPlace(place, name), rule, options[name])
  }
  if (isOpen || place.isOpen) return
  for (const [name, item] of Object.entries(options)) {
    if (names.includes(name) || item === undefined) continue
    const meant = nearest(name, names)
    const cure =
      meant === undefined ? `Known options: ${names.join(", ")}.` : `Did you mean "${meant}"?`
    throw failure(childPlace(place, name), `is not an option (got ${kindOf(item)}). ${cure}`)
  }
}

function checkMember(place: Place, rule: OptionRule, value: unknown): void {
  if (value !== undefined) return check(place, rule, value)
  if (typeof rule === "object" && "required" in rule) {
    throw failure(place, `is required: ${describeRule(rule)}, got undefined.`)
  }
}

/** Whether a value matches a rule; members and items are not checked. */
function matchesRule(rule: OptionRule, value: unknown): boolean {
  if (typeof rule === "string") return KINDS[rule][1](value)
  if ("secret" in rule) return matchesRule(rule.secret, value)
  if ("required" in rule) return matchesRule(rule.required, value)
  if ("either" in rule) return rule.either.some((one) => matchesRule(one, value))
  if ("oneOf" in rule) return (rule.oneOf as readonly unknown[]).includes(value)
  if ("min" in rule) return isNumber(value, rule.min, rule.whole, rule.max)
  if ("pattern" in rule) return typeof value === "string" && rule.pattern.test(value)
  if ("methods" in rule) return hasMethods(value, rule.methods)
  if ("list" in rule) return Array.isArray(value)
  // A Map, a Headers or a forgotten Promise has no names to look at.
  return Object.prototype.toString.call(value) === "[object Object]"
}

function describeRule(rule: OptionRule): string {
  if (typeof rule === "string") return KINDS[rule][0]
  if ("secret" in rule) return describeRule(rule.secret)
  if ("required" in rule) return describeRule(rule.required)
  if ("either" in rule) return listed(rule.either.map(describeRule))
  if ("oneOf" in rule) return listed(rule.oneOf.map((value) => JSON.stringify(value)))
  if ("min" in rule) {
    const { min, max, whole = false } = rule
    const range = max === undefined ? `of at least ${min}, or Infinity` : `from ${min} to ${max}`
    return `a ${whole ? "whole " : ""}number ${range}`
  }
  if ("expected" in rule) return rule.expected
  return "list" in rule ? "an array" : "an object"
}

function invalidValue(place: Place, rule: OptionRule, value: unknown): Error {
  const got = place.isSecret ? kindOf(value) : quoteValue(value)
  const meant =
    typeof value === "string" && !place.isSecret ? nearest(value, allowedStrings(rule)) : undefined
  const cure = meant === undefined ? "" : ` Did you mean "${meant}"?`
  return failure(place, `must be ${describeRule(rule)}, got ${got}.${cure}`)
}

function allowedStrings(rule: OptionRule): readonly string[] {
  if (typeof rule !== "object") return []
  if ("either" in rule) return rule.either.flatMap(allowedStrings)
  return "oneOf" in rule ? rule.oneOf.filter((word) => typeof word === "string") : []
}

function failure({ path, fail }: Place, message: string): Error {
  return fail(path, message)
}

function childPlace(place: Place, name: string): Place {
  const step = /^[\w$-]+$/.test(name) ? `.${name}` : `[${JSON.stringify(name)}]`
  const path = place.path === "" && step.startsWith(".") ? name : place.path + step
  return { ...place, path }
}

function isSecretRule(rule: OptionRule): boolean {
  return typeof rule === "object" && "secret" in rule
}

/** Whether a value has methods of these names. Nothing is known of their signatures. */
export function hasMethods(value: unknown, names: readonly string[]): boolean {
  const isOne = (typeof value === "object" && value !== null) || typeof value === "function"
  return isOne && names.every((name) => typeof (value as never)[name] === "function")
}

function isNumber(value: unknown, min: number, whole = false, max = Infinity): boolean {
  const isOne = typeof value === "number" && value >= min && value <= max
  return isOne && (!whole || value === Infinity || Number.isInteger(value))
}

const MAX_QUOTED_LENGTH = 40

function quoteValue(value: unknown): string {
  if (typeof value === "string") {
    const text = JSON.stringify(value.slice(0, MAX_QUOTED_LENGTH))
    return value.length > MAX_QUOTED_LENGTH ? `${text.slice(0, -1)}…"` : text
  }
  if (typeof value === "number" || typeof value === "boolean") return String(value)
  return kindOf(value)
}

/** The kind of a value, without its content. */
function kindOf(value: unknown): string {
  if (value === null || value === undefined) return String(value)
  if (Array.isArray(value)) return "an array"
  if (typeof value !== "object") return `a ${typeof value}`
  const name = Object.prototype.toString.call(value).slice(8, -1)
  return name === "Object" ? "an object" : `an object of class ${name}`
}
