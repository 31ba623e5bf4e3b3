// Right and wrong values for rules of options. Written without the validator: it is what they test.

import type { OptionKind, OptionRule, OptionsSchema } from "../../src/internal/options.ts"

/** One option, at whatever depth. */
export interface OptionPath {
  /** Empty for the options themselves. */
  readonly path: string
  readonly rule: OptionRule
  readonly isSecret: boolean
  /** Of an object: its names. */
  readonly members: OptionsSchema | undefined
  readonly open: boolean
  /** Valid options that have a value at this path. */
  readonly within: (value: unknown) => never
}

const OBJECT = {}
const ARRAY: readonly unknown[] = []
const FUNCTION = (): undefined => undefined
const MAP = new Map()
const TEXT = "a-wrong-value"

const NO_OBJECT = [null, TEXT, 1, true]
const NO_TEXT = [null, 1, true, OBJECT, ARRAY, FUNCTION]
const NO_NUMBER = [null, TEXT, "1", true, Number.NaN, OBJECT, ARRAY, FUNCTION, -1, -Infinity]

const METHODS: Partial<Record<OptionKind, readonly string[]>> = {
  clock: ["now", "setTimeout", "clearTimeout"],
  logger: ["debug", "info", "warn", "error"],
  registry: ["execute"],
  signal: ["addEventListener"],
}

const WRONG: Record<OptionKind, readonly unknown[]> = {
  any: [],
  boolean: [null, "true", "false", TEXT, 0, 1, OBJECT, ARRAY, FUNCTION],
  clock: [...NO_OBJECT, OBJECT, ARRAY, FUNCTION, ...lacking("clock")],
  count: [...NO_NUMBER, 0, 1.5],
  duration: [...NO_NUMBER, 0],
  function: [...NO_OBJECT, OBJECT, ARRAY],
  logger: [...NO_OBJECT, OBJECT, ARRAY, FUNCTION, ...lacking("logger")],
  port: [...NO_NUMBER, 65_536, 1.5, Infinity],
  registry: [...NO_OBJECT, OBJECT, ARRAY, FUNCTION],
  signal: [...NO_OBJECT, OBJECT, ARRAY, FUNCTION, new AbortController()],
  string: NO_TEXT,
  text: [...NO_TEXT, ""],
  url: [...NO_TEXT, "", TEXT],
}

const RIGHT: Record<OptionKind, unknown> = {
  any: OBJECT,
  boolean: true,
  clock: withMethods(METHODS.clock ?? []),
  count: 7,
  duration: 1000,
  function: FUNCTION,
  logger: withMethods(METHODS.logger ?? []),
  port: 0,
  registry: withMethods(["execute", "onChange", "getAllSpecs"]),
  signal: new AbortController().signal,
  string: "/text",
  text: "text",
  url: "https://a.example/path",
}

const TEXTS = ["/path", "SIGTERM", ".ts", "name", "1.0.0", "0".repeat(64)]

/** Values that a rule must refuse. */
export function wrongValuesOf(rule: OptionRule): readonly unknown[] {
  if (typeof rule === "string") return WRONG[rule]
  if ("secret" in rule) return wrongValuesOf(rule.secret)
  if ("required" in rule) return wrongValuesOf(rule.required)
  if ("either" in rule) {
    const lists = rule.either.map(wrongValuesOf)
    return (lists[0] ?? []).filter((value) => lists.every((list) => list.includes(value)))
  }
  if ("oneOf" in rule) {
    const all = [null, TEXT, "", "TRUE", 0, 99, true, false, OBJECT, ARRAY, FUNCTION]
    return all.filter((value) => !rule.oneOf.includes(value as never))
  }
  if ("min" in rule) {
    const { min, max, whole } = rule
    const low = min - 1
    return [
      ...NO_NUMBER.filter((value) => typeof value !== "number" || !(value >= min)),
      low,
      ...(max === undefined ? [] : [max + 1, Infinity]),
      ...(whole === true ? [min + 0.5] : []),
    ]
  }
  if ("pattern" in rule) {
    return [...NO_TEXT, ...["", " ", TEXT].filter((text) => !rule.pattern.test(text))]
  }
  if ("methods" in rule)
    return rule.methods.length === 0 ? NO_OBJECT : [...NO_OBJECT, OBJECT, ARRAY]
  if ("list" in rule) return [...NO_OBJECT, OBJECT, FUNCTION, MAP, new Set([TEXT])]
  return [...NO_OBJECT, ARRAY, FUNCTION, MAP, new Date()]
}

/** A value that a rule must accept. */
export function sampleOf(rule: OptionRule): unknown {
  if (typeof rule === "string") return RIGHT[rule]
  if ("secret" in rule) return sampleOf(rule.secret)
  if ("required" in rule) return sampleOf(rule.required)
  if ("either" in rule) return sampleOf(rule.either[0] as OptionRule)
  if ("oneOf" in rule) return rule.oneOf[0]
  if ("min" in rule) return rule.min
  if ("pattern" in rule) return TEXTS.find((text) => rule.pattern.test(text))
  if ("methods" in rule) return withMethods(rule.methods)
  if ("list" in rule) return [sampleOf(rule.list)]
  if ("record" in rule) return { "/name": sampleOf(rule.record) }
  if ("variants" in rule) {
    const [type, members = {}] = Object.entries(rule.variants)[0] ?? []
    return { ...(sampleOf({ members }) as object), type }
  }
  const required = Object.entries(rule.members).filter(([, one]) => isRequired(one))
  return Object.fromEntries(required.map(([name, one]) => [name, sampleOf(one)]))
}

/** Every option of a schema, at every depth. */
export function pathsOf(schema: OptionsSchema): readonly OptionPath[] {
  const root = { path: "", isSecret: false, within: (value: unknown) => value as never }
  return visit({ members: schema }, root)
    .slice(1)
    .concat([{ ...root, rule: { members: schema }, members: schema, open: false }])
    .toReversed()
}

type Place = Pick<OptionPath, "path" | "isSecret" | "within">

function visit(rule: OptionRule, place: Place): OptionPath[] {
  const { path, within } = place
  if (typeof rule === "object") {
    if ("required" in rule) return visit(rule.required, place)
    if ("secret" in rule) return visit(rule.secret, { ...place, isSecret: true })
    if ("either" in rule) {
      const inner = rule.either.flatMap((one) => visit(one, place))
      const isSecret =
        place.isSecret || rule.either.some((one) => typeof one === "object" && "secret" in one)
      const own = { ...place, isSecret, rule, members: undefined, open: false }
      return [
        own,
        ...inner
          .filter((one) => one.path !== path || one.members !== undefined)
          .map((one) => (one.path === path ? { ...one, isSecret, rule } : one)),
      ]
    }
  }
  const own: OptionPath = { ...place, rule, members: undefined, open: false }
  if (typeof rule === "string") return [own]
  if ("list" in rule) {
    return [
      own,
      ...visit(rule.list, { ...place, path: `${path}[0]`, within: (value) => within([value]) }),
    ]
  }
  if ("record" in rule) {
    const name = "/name"
    const inner = {
      ...place,
      path: `${path}["${name}"]`,
      within: (value: unknown) => within({ [name]: value }),
    }
    return [own, ...visit(rule.record, inner)]
  }
  if ("variants" in rule) {
    return [
      own,
      ...Object.entries(rule.variants).flatMap(([type, members]) =>
        below({ ...members, type: { required: { oneOf: [type] } } }, place, false).filter(
          (one) => !one.path.endsWith("type"),
        ),
      ),
    ]
  }
  if ("members" in rule) return below(rule.members, place, rule.open === true)
  return [own]
}

function below(members: OptionsSchema, place: Place, open: boolean): OptionPath[] {
  const { path, within } = place
  const whole = sampleOf({ members }) as object
  const inner = Object.entries(members).flatMap(([name, one]) =>
    visit(one, {
      ...place,
      path: path === "" ? name : `${path}.${name}`,
      within: (value) => within({ ...whole, [name]: value }),
    }),
  )
  return [{ ...place, rule: { members, open }, members, open }, ...inner]
}

/** Whether an option has to be given. */
export function isRequired(rule: OptionRule | undefined): boolean {
  return typeof rule === "object" && "required" in rule
}

function lacking(kind: OptionKind): readonly unknown[] {
  const names = METHODS[kind] ?? []
  return names.map((missing) => withMethods(names.filter((name) => name !== missing)))
}

function withMethods(names: readonly string[]): object {
  return Object.fromEntries(names.map((name) => [name, FUNCTION]))
}
