import { isRecord, stringsOf } from "../../internal/guards.ts"
import { addToList } from "../../internal/lists.ts"
import { keyPattern, safeRegExp } from "../regex/safe-regexp.ts"
import { cloneJson } from "./data.ts"
import { type Entry, flattenOne, type Member } from "./flatten.ts"
import type { Compilation, DefaultSlot, Plan, RestRule, Shape } from "./model.ts"
import {
  declaresKeys,
  mentionedKeys,
  oneSchema,
  opensObject,
  schemaList,
  schemaMap,
} from "./subschemas.ts"
import type { Links } from "../refs.ts"
import { Report } from "./report.ts"

/** Whether a key has to be stripped. */
export function isExcess(shape: Shape, key: string): boolean {
  if (!shape.strips || shape.named.has(key)) return false
  return !shape.rest.some((rule) => rule.pattern?.test(key) === true)
}

/** Merges schemas that apply to the same value. */
export function shapeOf(
  members: readonly Member[],
  mentioned: readonly string[],
  compilation: Compilation,
  strip: { readonly here: boolean; readonly below: boolean },
): Shape {
  const plan = (entries: readonly Entry[]): Plan => compilation.plan(entries, strip.below)
  const rest = members.flatMap((member) => restRules(member, plan))
  const declared = new Map<string, Entry[]>()
  for (const { schema, fill } of members) {
    for (const [key, property] of schemaMap(schema, "properties")) {
      addToList(declared, key, { schema: property, fill })
    }
  }
  const fields = new Map<string, Plan>()
  const defaults = new Map<string, DefaultSlot>()
  for (const [key, own] of declared) {
    const also = rest.filter((rule) => rule.covers(key)).map((rule) => rule.entry)
    const field = plan([...own, ...also])
    fields.set(key, field)
    const slot = compilation.options.defaults ? defaultFor(own, field, compilation.refs) : undefined
    if (slot !== undefined) defaults.set(key, slot)
  }
  const schemas = members.map((member) => member.schema)
  return {
    fields,
    defaults,
    rest,
    required: new Set(schemas.flatMap((schema) => stringsOf(schema["required"]))),
    named: new Set([...fields.keys(), ...mentioned, ...schemas.flatMap(mentionedKeys)]),
    strips: strip.here && schemas.some(declaresKeys) && !schemas.some(opensObject),
    ...elements(members, plan),
    extra(key) {
      const covering = rest.filter((rule) => rule.covers(key))
      if (covering.length < 2) return covering[0]?.plan
      return plan(covering.map((rule) => rule.entry))
    },
  }
}

function restRules(member: Member, plan: (entries: readonly Entry[]) => Plan): RestRule[] {
  const { schema, fill } = member
  const rules: RestRule[] = []
  const patterns: RegExp[] = []
  for (const [source, described] of schemaMap(schema, "patternProperties")) {
    const pattern = toRegExp(keyPattern(source))
    const entry: Entry = { schema: described, fill }
    patterns.push(pattern)
    rules.push({ covers: (key) => pattern.test(key), pattern, entry, plan: plan([entry]) })
  }
  const others = oneSchema(schema, "additionalProperties")
  if (others !== undefined && others !== true) {
    const own = isRecord(schema["properties"]) ? schema["properties"] : {}
    const entry: Entry = { schema: others, fill }
    const covers = (key: string): boolean =>
      !Object.hasOwn(own, key) && !patterns.some((pattern) => pattern.test(key))
    rules.push({ covers, pattern: undefined, entry, plan: plan([entry]) })
  }
  return rules
}

function elements(
  members: readonly Member[],
  plan: (entries: readonly Entry[]) => Plan,
): Pick<Shape, "prefix" | "items"> {
  const tuples = members.map(({ schema }) => schemaList(schema, "prefixItems"))
  const length = Math.max(0, ...tuples.map((tuple) => tuple.length))
  const at = (index: number): Plan | undefined => {
    const entries = members.flatMap(({ schema, fill }, which) => {
      const element = tuples[which]?.[index] ?? oneSchema(schema, "items")
      return element === undefined ? [] : [{ schema: element, fill }]
    })
    return entries.length === 0 ? undefined : plan(entries)
  }
  return { prefix: Array.from({ length }, (_, index) => at(index)), items: at(length) }
}

/** The engine reads patterns with the `u` flag where it can; throws when neither way works. */
function toRegExp(source: string): RegExp {
  try {
    return safeRegExp(source)
  } catch {
    return new RegExp(source)
  }
}

type State = "new" | "building" | "endless" | "unusable" | "ready"

/** The default of one property. Whether it is usable is decided when the property is first absent. */
export class PropertyDefault implements DefaultSlot {
  readonly #plan: Plan
  #value: unknown
  #state: State = "new"

  constructor(plan: Plan, value: unknown) {
    this.#plan = plan
    this.#value = value
  }

  get isUsable(): boolean {
    if (this.#state === "new") this.#build()
    // Needed while it is being built: it contains itself, and filling it in would never end.
    else if (this.#state === "building") this.#state = "endless"
    return this.#state === "ready"
  }

  make(): unknown {
    return cloneJson(this.#value)
  }

  #build(): void {
    this.#state = "building"
    try {
      const fits = this.#plan.accepts(this.#value)
      const filled = fits ? this.#plan.run(this.#value, new Report()) : undefined
      // `run` may have found that this default contains itself.
      const isEndless = (this.#state as State) === "endless"
      this.#state = fits && !isEndless ? "ready" : "unusable"
      if (this.#state === "ready") this.#value = filled
    } catch (error) {
      this.#state = "unusable"
      // A stack overflow says nothing about the default, but nothing more can be done.
      if (error instanceof RangeError) {
        this.#state = "new"
        throw error
      }
    }
  }
}

/**
 * The default of a property that the `own` schemas describe, normalised by `plan`.
 *
 * `undefined` if there is none, or if two schemas disagree.
 */
export function defaultFor(
  own: readonly Entry[],
  plan: Plan,
  refs: Links,
): DefaultSlot | undefined {
  const values = own.flatMap(({ schema, fill }) => {
    const { members } = flattenOne(schema, refs)
    const nearest = members.find((member) => Object.hasOwn(member.schema, "default"))
    return fill && nearest !== undefined ? [nearest.schema["default"]] : []
  })
  const written = new Set(values.map((value) => JSON.stringify(value)))
  return written.size === 1 ? plan.slot(values[0]) : undefined
}
