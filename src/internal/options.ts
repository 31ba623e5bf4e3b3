// Validation of the options of public functions: rules as plain data, and the messages for values that break them.
// It is part of every web page with a client: check its size when you change it.

import { listed } from "./message-text.ts"
import { reading } from "./brands.ts"
import { didYouMean } from "./suggest.ts"

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

/** Options that have a value once the defaults are filled in. */
export type Filled<TOptions, TName extends keyof TOptions> = {
  readonly [TKey in TName]-?: Exclude<TOptions[TKey], undefined>
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

/** What is expected, and how to check it: the type of the value, its methods, or a test. */
type Kind = readonly [
  expected: string,
  test: "boolean" | "function" | "string" | readonly string[] | ((value: unknown) => boolean),
]

const KINDS: Readonly<Record<OptionKind, Kind>> = {
  any: ["anything", () => true],
  boolean: ["true or false", "boolean"],
  clock: [
    "a clock with now(), setTimeout() and clearTimeout()",
    ["now", "setTimeout", "clearTimeout"],
  ],
  count: ["a whole number of at least 1, or Infinity", (value) => isNumber(value, 1, true)],
  duration: [
    "a number of milliseconds above 0, or Infinity",
    (value) => typeof value === "number" && value > 0,
  ],
  function: ["a function", "function"],
  logger: ["a logger with debug(), info(), warn() and error()", ["debug", "info", "warn", "error"]],
  port: ["a port from 0 to 65535", (value) => isNumber(value, 0, true, 65_535)],
  registry: ["an OperationRegistry", ["execute"]],
  signal: ["an AbortSignal", ["addEventListener"]],
  string: ["a string", "string"],
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
    new TypeError(`${caller}(): ${path || "options"} ${message}`)
  reading(`${caller}(): options`, () =>
    checkOption({ path: "", fail }, { members: schema }, options),
  )
}

/** Where a value was found. */
export interface OptionPlace {
  /** Empty for the options themselves. */
  readonly path: string
  readonly isSecret?: boolean
  /** Unknown members are ignored everywhere. */
  readonly isOpen?: boolean
  /** The error for the first invalid option. */
  readonly fail: (path: string, message: string) => Error
}

/** Throws the error of the place for the first value that violates a rule. */
export function checkOption(place: OptionPlace, rule: OptionRule, value: unknown): void {
  const { path, fail } = place
  let { isSecret } = place
  let members: OptionsSchema | undefined
  if (typeof rule === "object") {
    if ("secret" in rule) return checkOption({ ...place, isSecret: true }, rule.secret, value)
    if ("required" in rule) return checkOption(place, rule.required, value)
    if ("either" in rule) {
      const matching = rule.either.find((one) => matches(kindFor(one), value))
      if (matching !== undefined) return checkOption(place, matching, value)
      // A value that matches neither may still be the secret, with the wrong type.
      isSecret ||= rule.either.some((one) => typeof one === "object" && "secret" in one)
    }
  }
  const issue = mismatch(rule, value, isSecret ? typeOf(value) : quoteValue(value))
  if (issue !== undefined) throw fail(path, issue)
  if (typeof rule !== "object") return
  const options = value as Readonly<Record<string, unknown>>
  if ("list" in rule) {
    for (const [index, item] of (value as unknown[]).entries()) {
      checkOption({ ...place, path: `${path}[${index}]` }, rule.list, item)
    }
  } else if ("record" in rule) {
    for (const name of Object.keys(options)) checkMember(place, name, rule.record, options)
  } else if ("members" in rule) ({ members } = rule)
  else if ("variants" in rule) {
    const { variants } = rule
    const oneOf = Object.keys(variants)
    const type = options["type"] as string
    members = {
      ...(oneOf.includes(type) ? variants[type] : undefined),
      type: { required: { oneOf } },
    }
  }
  if (members === undefined) return
  for (const name in members) checkMember(place, name, members[name] as OptionRule, options)
  if (place.isOpen || ("open" in rule && rule.open)) return
  const names = Object.keys(members)
  for (const [name, item] of Object.entries(options)) {
    if (names.includes(name) || item === undefined) continue
    const hint = didYouMean(name, names) || ` Known options: ${names.join(", ")}.`
    throw fail(pathTo(place, name), `is not an option (got ${typeOf(item)}).${hint}`)
  }
}

/** What is wrong with a value itself, without its members and items; `got` describes it. */
export function mismatch(rule: OptionRule, value: unknown, got: string): string | undefined {
  const kind = kindFor(rule)
  if (matches(kind, value)) return undefined
  const hint = typeof value === "string" ? didYouMean(value, wordsOf(rule)) : ""
  return `must be ${kind[0]}, got ${got}.${hint}`
}

function checkMember(
  place: OptionPlace,
  name: string,
  rule: OptionRule,
  options: Readonly<Record<string, unknown>>,
): void {
  const path = pathTo(place, name)
  const value = options[name]
  if (value !== undefined) checkOption({ ...place, path }, rule, value)
  else if (typeof rule === "object" && "required" in rule) {
    throw place.fail(path, `is required: ${kindFor(rule)[0]}, got undefined.`)
  }
}

/** The kind of values that match a rule, without its members and items. */
function kindFor(rule: OptionRule): Kind {
  if (typeof rule === "string") return KINDS[rule]
  if ("secret" in rule) return kindFor(rule.secret)
  if ("required" in rule) return kindFor(rule.required)
  if ("either" in rule) {
    const kinds = rule.either.map(kindFor)
    return [
      listed(kinds.map(([expected]) => expected)),
      (value) => kinds.some((kind) => matches(kind, value)),
    ]
  }
  if ("oneOf" in rule) {
    const words: readonly unknown[] = rule.oneOf
    return [listed(words.map((word) => JSON.stringify(word))), (value) => words.includes(value)]
  }
  if ("min" in rule) {
    const { min, max, whole = false } = rule
    const range = max === undefined ? `of at least ${min}, or Infinity` : `from ${min} to ${max}`
    return [
      `a ${whole ? "whole " : ""}number ${range}`,
      (value) => isNumber(value, min, whole, max),
    ]
  }
  if ("pattern" in rule) {
    return [rule.expected, (value) => typeof value === "string" && rule.pattern.test(value)]
  }
  if ("methods" in rule) return [rule.expected, rule.methods]
  if ("list" in rule) return ["an array", Array.isArray]
  // A Map, a Headers or a Promise that was not awaited has no option names.
  return ["an object", (value) => classOf(value) === "Object"]
}

function wordsOf(rule: OptionRule): readonly string[] {
  if (typeof rule !== "object") return []
  if ("either" in rule) return rule.either.flatMap(wordsOf)
  return "oneOf" in rule ? rule.oneOf.filter((word) => typeof word === "string") : []
}

function pathTo({ path }: OptionPlace, name: string): string {
  if (!/^[\w$-]+$/.test(name)) return `${path}[${JSON.stringify(name)}]`
  return path === "" ? name : `${path}.${name}`
}

function matches([, test]: Kind, value: unknown): boolean {
  if (typeof test === "function") return test(value)
  return typeof test === "string" ? typeof value === test : hasMethods(value, test)
}

/** Whether a value has methods with these names, whatever their signatures. */
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
  return typeof value === "number" || typeof value === "boolean" ? String(value) : typeOf(value)
}

/** The kind of a value, without its content. */
function typeOf(value: unknown): string {
  if (value === null || value === undefined) return String(value)
  if (Array.isArray(value)) return "an array"
  if (typeof value !== "object") return `a ${typeof value}`
  const name = classOf(value)
  return name === "Object" ? "an object" : `an object of class ${name}`
}

function classOf(value: unknown): string {
  return Object.prototype.toString.call(value).slice(8, -1)
}
