import type { JsonSchema } from "../json.ts"
import { isPlainRecord } from "../json.ts"
import { safeRegExp } from "../regex/safe-regexp.ts"
import type { Compilation } from "./model.ts"
import { defaultFor } from "./default-slot.ts"
import type { DefaultSlot } from "./model.ts"
import type { Entry, Member } from "./flatten.ts"
import { declaresKeys, mentionedKeys, oneSchema, opensObject } from "./keywords.ts"
import { schemaList, schemaMap, stringsOf } from "./keywords.ts"
import type { Plan } from "./model.ts"
import type { Shape, RestRule } from "./model.ts"

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
      const entries = declared.get(key)
      if (entries === undefined) declared.set(key, [{ schema: property, fill }])
      else entries.push({ schema: property, fill })
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
    const pattern = toRegExp(source)
    const entry: Entry = { schema: described, fill }
    patterns.push(pattern)
    rules.push({ covers: (key) => pattern.test(key), pattern, entry, plan: plan([entry]) })
  }
  const others = oneSchema(schema, "additionalProperties")
  if (others !== undefined && others !== true) {
    const own = isPlainRecord(schema["properties"]) ? schema["properties"] : {}
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
      const element = tuples[which]?.[index] ?? itemsOf(schema)
      return element === undefined ? [] : [{ schema: element, fill }]
    })
    return entries.length === 0 ? undefined : plan(entries)
  }
  return { prefix: Array.from({ length }, (_, index) => at(index)), items: at(length) }
}

function itemsOf(schema: JsonSchema): Entry["schema"] | undefined {
  return oneSchema(schema, "items")
}

/** The engine reads patterns with the `u` flag where it can; throws when neither way works. */
function toRegExp(source: string): RegExp {
  try {
    return safeRegExp(source)
  } catch {
    return new RegExp(source)
  }
}
