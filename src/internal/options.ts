// Options of public functions: what each may be, as plain data, and what is said of one that is not.

import { listed } from "./describe.ts"
import { reading } from "./reading.ts"
import { nearest } from "./suggest.ts"

/** What one option may be. A member that is `undefined` counts as absent. */
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
  /** An object with these names; others are refused unless it is open. */
  | { readonly members: OptionsSchema; readonly open?: boolean }
  /** Objects that differ by their `type`. */
  | { readonly variants: Readonly<Record<string, OptionsSchema>> }
  | { readonly either: readonly OptionRule[] }
  | { readonly required: OptionRule }
  /** The value is never shown. */
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

/** What each option of an interface may be: an option that is not here does not compile. */
export type OptionsSchema<TOptions extends object = Readonly<Record<string, unknown>>> = {
  readonly [TName in keyof Required<TOptions>]: OptionRule
}

/** Milliseconds that are handed to a timer of the platform. */
export const TIMER = { min: 0, max: 2_147_483_647, whole: true } as const

/** Who calls. What else it carries is the application's. */
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
 * Throws a `TypeError` for the first option that is unknown or not what it may be.
 *
 * The message names the function, the path of the option, what was received and what is expected.
 */
export function validateOptions(caller: string, options: unknown, schema: OptionsSchema): void {
  reading(`${caller}(): options`, () =>
    check({ caller, path: "", isSecret: false }, { members: schema }, options),
  )
}

interface Place {
  readonly caller: string
  /** Empty for the options themselves. */
  readonly path: string
  readonly isSecret: boolean
}

function check(place: Place, rule: OptionRule, value: unknown): void {
  if (typeof rule === "object") {
    if ("secret" in rule) return check({ ...place, isSecret: true }, rule.secret, value)
    if ("required" in rule) return check(place, rule.required, value)
    if ("either" in rule) {
      const found = rule.either.find((one) => fits(one, value))
      if (found !== undefined) return check(place, found, value)
      // What is neither may still be the secret, of another type.
      const isSecret = place.isSecret || rule.either.some(isSecretRule)
      throw wrong({ ...place, isSecret }, rule, value)
    }
  }
  if (!fits(rule, value)) throw wrong(place, rule, value)
  if (typeof rule !== "object") return
  if ("list" in rule) {
    for (const [index, item] of (value as unknown[]).entries()) {
      check({ ...place, path: `${place.path}[${index}]` }, rule.list, item)
    }
  } else if ("record" in rule) {
    for (const [name, item] of Object.entries(value as object)) {
      checkMember(below(place, name), rule.record, item)
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
  const given = value as Readonly<Record<string, unknown>>
  const names = Object.keys(members)
  for (const [name, rule] of Object.entries(members)) {
    checkMember(below(place, name), rule, given[name])
  }
  if (isOpen) return
  for (const [name, item] of Object.entries(given)) {
    if (names.includes(name) || item === undefined) continue
    const meant = nearest(name, names)
    const cure =
      meant === undefined ? `Known options: ${names.join(", ")}.` : `Did you mean "${meant}"?`
    throw failure(below(place, name), `is not an option (got ${kindOf(item)}). ${cure}`)
  }
}

function checkMember(place: Place, rule: OptionRule, value: unknown): void {
  if (value !== undefined) return check(place, rule, value)
  if (isRequired(rule)) throw failure(place, `is required: ${expected(rule)}, got undefined.`)
}

/** Whether a value is what a rule asks for, without a look inside. */
function fits(rule: OptionRule, value: unknown): boolean {
  if (typeof rule === "string") return KINDS[rule][1](value)
  if ("secret" in rule) return fits(rule.secret, value)
  if ("required" in rule) return fits(rule.required, value)
  if ("either" in rule) return rule.either.some((one) => fits(one, value))
  if ("oneOf" in rule) return (rule.oneOf as readonly unknown[]).includes(value)
  if ("min" in rule) return isNumber(value, rule.min, rule.whole, rule.max)
  if ("pattern" in rule) return typeof value === "string" && rule.pattern.test(value)
  if ("methods" in rule) return hasMethods(value, rule.methods)
  if ("list" in rule) return Array.isArray(value)
  // A Map, a Headers or a forgotten Promise has no names to look at.
  return Object.prototype.toString.call(value) === "[object Object]"
}

function expected(rule: OptionRule): string {
  if (typeof rule === "string") return KINDS[rule][0]
  if ("secret" in rule) return expected(rule.secret)
  if ("required" in rule) return expected(rule.required)
  if ("either" in rule) return listed(rule.either.map(expected))
  if ("oneOf" in rule) return listed(rule.oneOf.map((value) => JSON.stringify(value)))
  if ("min" in rule) {
    const { min, max, whole = false } = rule
    const range = max === undefined ? `of at least ${min}, or Infinity` : `from ${min} to ${max}`
    return `a ${whole ? "whole " : ""}number ${range}`
  }
  if ("expected" in rule) return rule.expected
  return "list" in rule ? "an array" : "an object"
}

function wrong(place: Place, rule: OptionRule, value: unknown): TypeError {
  const got = place.isSecret ? kindOf(value) : shown(value)
  const meant =
    typeof value === "string" && !place.isSecret ? nearest(value, wordsOf(rule)) : undefined
  const cure = meant === undefined ? "" : ` Did you mean "${meant}"?`
  return failure(place, `must be ${expected(rule)}, got ${got}.${cure}`)
}

function wordsOf(rule: OptionRule): readonly string[] {
  if (typeof rule !== "object") return []
  if ("either" in rule) return rule.either.flatMap(wordsOf)
  return "oneOf" in rule ? rule.oneOf.filter((word) => typeof word === "string") : []
}

function failure({ caller, path }: Place, message: string): TypeError {
  return new TypeError(`${caller}(): ${path === "" ? "options" : path} ${message}`)
}

function below(place: Place, name: string): Place {
  const step = /^[\w$-]+$/.test(name) ? `.${name}` : `[${JSON.stringify(name)}]`
  const path = place.path === "" && step.startsWith(".") ? name : place.path + step
  return { ...place, path }
}

function isRequired(rule: OptionRule): boolean {
  return typeof rule === "object" && "required" in rule
}

function isSecretRule(rule: OptionRule): boolean {
  return typeof rule === "object" && "secret" in rule
}

function hasMethods(value: unknown, names: readonly string[]): boolean {
  const isOne = (typeof value === "object" && value !== null) || typeof value === "function"
  return isOne && names.every((name) => typeof (value as never)[name] === "function")
}

function isNumber(value: unknown, min: number, whole = false, max = Infinity): boolean {
  const isOne = typeof value === "number" && value >= min && value <= max
  return isOne && (!whole || value === Infinity || Number.isInteger(value))
}

const MAX_SHOWN = 40

function shown(value: unknown): string {
  if (typeof value === "string") {
    const text = JSON.stringify(value.slice(0, MAX_SHOWN))
    return value.length > MAX_SHOWN ? `${text.slice(0, -1)}…"` : text
  }
  if (typeof value === "number" || typeof value === "boolean") return String(value)
  return kindOf(value)
}

/** What a value is, without a word of what is in it. */
function kindOf(value: unknown): string {
  if (value === null || value === undefined) return String(value)
  if (Array.isArray(value)) return "an array"
  if (typeof value !== "object") return `a ${typeof value}`
  const name = Object.prototype.toString.call(value).slice(8, -1)
  return name === "Object" ? "an object" : `an object of class ${name}`
}
