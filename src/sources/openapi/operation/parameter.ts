import { getOwn, textOf } from "../../../schema/json.ts"
import { child, noteAt, objectAt, type Note, type Place, type Raw } from "../document.ts"
import type { ParameterModel, ParameterStyle, Serialization } from "../model.ts"
import type { Converted } from "../schema/definition.ts"
import { refusedName } from "../request/headers.ts"
import { splitQuery } from "../request/path.ts"
import { readContent, type Media } from "./media.ts"
import type { RawOperation } from "./list.ts"

/** A parameter with the place of its schema. */
export interface Parameter extends ParameterModel {
  readonly raw: Raw
  /** The schema and its place; absent if there is none. */
  readonly schema?: Place | undefined
  /** The converted schema, cached since many operations share a parameter. */
  converted?: Converted | undefined
}

/** Headers that 3.x ignores as parameters, because other parts of the document describe them. */
const IGNORED_HEADERS: ReadonlySet<string> = new Set(["accept", "content-type", "authorization"])

/** The locations of parameters; of several with one name, the first location gets the plain name. */
const ORDER = ["path", "query", "querystring", "header", "cookie"] as const

/** The result of reading a member of a parameter list. */
export interface ParameterResult {
  readonly parameter?: Parameter | undefined
  /** A body or form field of Swagger 2.0. */
  readonly place?: Place | undefined
  readonly note?: Note | undefined
  /** The default of an `Accept` header. */
  readonly accept?: string | undefined
}

/** Whether the configuration may send a header, by its name in lower case. */
export type SendsHeader = (name: string) => boolean

/** Reads one parameter; the result is empty if it is not used. */
export function readParameter(place: Place, sends: SendsHeader): ParameterResult {
  const raw = place.value as Raw & { readonly name: string; readonly in: string }
  const { name } = raw
  const location = raw.in as ParameterModel["in"]
  if (!ORDER.includes(location)) {
    const message = `Parameter "${name}" is "in" ${JSON.stringify(raw.in)}, which does not exist; it is left out.`
    return { note: noteAt(place, message) }
  }
  const refusal =
    location === "header" || location === "cookie" ? refusedName(location, name) : undefined
  if (refusal !== undefined) return { note: noteRefused(place, name, refusal) }
  const legacy = place.file.document.version === "2.0"
  const content = legacy ? undefined : contentOf(place)
  const schema = legacy ? place : (content?.schema ?? schemaAt(place))
  const header = location === "header" ? name.toLowerCase() : undefined
  const accept = header === "accept" ? textOf(defaultOf(schema)) : undefined
  if (!legacy && header !== undefined && IGNORED_HEADERS.has(header)) return { accept }
  const isNeeded = location !== "path" && raw["required"] === true && accept === undefined
  const preset = isNeeded ? defaultOf(schema) : undefined
  const isShared = isNeeded && header !== undefined && sends(header)
  const { style, explode } = legacy ? legacyStyle(raw, location) : styleOf(raw, location)
  return {
    accept,
    parameter: {
      raw,
      key: name,
      name,
      in: location,
      required: location === "path" || (isNeeded && preset === undefined && !isShared),
      preset,
      isShared,
      style,
      explode,
      allowReserved: raw["allowReserved"] === true,
      allowEmptyValue: raw["allowEmptyValue"] === true,
      content: content?.type,
      schema,
      converted: undefined,
    },
    note: content?.note,
  }
}

/** The default of a schema; `null` counts as none. */
function defaultOf(schema: Place | undefined): unknown {
  const place = objectAt(schema)
  return place && (getOwn(place.value, "default") ?? undefined)
}

/** Notes a parameter that cannot be an input; headers of the HTTP client are sent nevertheless. */
function noteRefused(place: Place, name: string, refusal: string): Note {
  const { in: location } = place.value as { readonly in: string }
  const isCookie = name.toLowerCase() === "cookie"
  const cure = isCookie ? " Set cookies in `headers` of the configuration." : ""
  const message = `The ${location} parameter "${name}" ${refusal}; it is left out.${cure}`
  return noteAt(place, message, refusal.includes("HTTP client"))
}

/** The schema of a parameter, as declared: `null` is one, and a mistake. */
function schemaAt({ value: raw, file, pointer }: Place): Place | undefined {
  const value = (raw as Raw)["schema"]
  return value === undefined ? undefined : { value, file, pointer: `${pointer}/schema` }
}

function contentOf(
  place: Place,
): (Pick<Media, "type" | "schema"> & { readonly note?: Note | undefined }) | undefined {
  const notes: Note[] = []
  const [media] = readContent(place, notes)
  return media && { type: media.type, schema: media.schema, note: notes[0] }
}

const STYLES: ReadonlySet<unknown> = new Set([
  ...["simple", "label", "matrix", "form", "spaceDelimited", "pipeDelimited", "deepObject"],
  "cookie",
])

type Style = Pick<Serialization, "style" | "explode">

function styleOf(raw: Raw, location: ParameterModel["in"]): Style {
  const declared = raw["style"]
  const fallback = location === "path" || location === "header" ? "simple" : "form"
  const style = (STYLES.has(declared) ? declared : fallback) as ParameterStyle
  const { explode } = raw
  return {
    style,
    explode: typeof explode === "boolean" ? explode : style === "form" || style === "cookie",
  }
}

/** `collectionFormat` of Swagger 2.0. */
const LEGACY_STYLES = new Map<unknown, Style>([
  ["multi", { style: "form", explode: true }],
  ["ssv", { style: "spaceDelimited", explode: false }],
  ["pipes", { style: "pipeDelimited", explode: false }],
  ["tsv", { style: "tabDelimited", explode: false }],
])

/** The style of a parameter or a form field of Swagger 2.0. */
export function legacyStyle(raw: Raw, location: ParameterModel["in"]): Style {
  const style = location === "path" || location === "header" ? "simple" : "form"
  return LEGACY_STYLES.get(raw["collectionFormat"]) ?? { style, explode: false }
}

/** Keys of the parameters that are a date, or a list of dates; `undefined` if there are none. */
export function dateKeys(parameters: readonly Parameter[]): ReadonlySet<string> | undefined {
  const days = parameters.filter(({ schema }) => isDay(schema, 0))
  return days.length === 0 ? undefined : new Set(days.map(({ key }) => key))
}

function isDay(schema: Place | undefined, depth: number): boolean {
  const place = objectAt(schema)
  if (place === undefined) return false
  if (place.value["format"] === "date") return true
  return depth === 0 && isDay(child(place, "items"), 1)
}

/** Creates the parameter for an undeclared variable of a path. */
export function undeclaredParameter(name: string): Parameter {
  return {
    raw: {},
    key: name,
    name,
    in: "path",
    required: true,
    style: "simple",
    explode: false,
    allowReserved: false,
    allowEmptyValue: false,
  }
}

/** Makes the input keys of parameters unique, if some share a name or one is called "body". */
export function withKeys(
  parameters: readonly Parameter[],
  hasBody: boolean,
  operation: RawOperation,
  notes: Note[],
): readonly Parameter[] {
  const taken = new Set<string>(hasBody ? ["body"] : [])
  const before = taken.size
  for (const { name } of parameters) taken.add(name)
  if (taken.size === before + parameters.length) return parameters
  // Plain names first, independent of the order in the document.
  const byPlace = parameters.toSorted((a, b) => ORDER.indexOf(a.in) - ORDER.indexOf(b.in))
  const plain = new Set<string>(hasBody ? ["body"] : [])
  const keys = new Map<Parameter, string>()
  for (const parameter of byPlace) {
    const { name } = parameter
    if (!plain.has(name)) {
      plain.add(name)
      continue
    }
    const wanted = `${parameter.in}_${name}`
    let key = wanted
    for (let count = 2; taken.has(key); count++) key = `${wanted}_${count}`
    taken.add(key)
    keys.set(parameter, key)
    const message = `Another input is called "${name}" as well; the ${parameter.in} parameter is passed as "${key}".`
    notes.push(noteAt(operation, message, true))
  }
  return parameters.map((parameter) => {
    const key = keys.get(parameter)
    return key === undefined ? parameter : { ...parameter, key }
  })
}

const NONE: readonly string[] = []

/** The variables of a path that no parameter declares. */
export function undeclaredNames(path: string, declared: readonly string[]): readonly string[] {
  const names = templateNames(path)
  let missing: string[] | undefined
  for (let index = 0; index < names.length; index++) {
    const name = names[index] as string
    if (!declared.includes(name)) (missing ??= []).push(name)
  }
  return missing ?? NONE
}

/**
 * Finds the parameters that undeclared variables of a path mean: a query parameter of the same name, if the variable is
 * in the query of the path, or a path parameter whose name differs only in case. The others are missing.
 */
export function matchVariables(
  path: string,
  parameters: readonly Parameter[],
  undeclared: readonly string[],
): { readonly list: readonly Parameter[]; readonly missing: readonly string[] } {
  const list = parameters.slice()
  const inPath = variablesIn(splitQuery(path)[0] ?? "")
  const missing = undeclared.filter((name) => {
    const isQuery = list.some((one) => one.in === "query" && one.name === name)
    if (isQuery && !inPath.includes(name)) return false
    const index = list.findIndex(
      (one) =>
        one.in === "path" &&
        one.name.toLowerCase() === name.toLowerCase() &&
        !path.includes(`{${one.name}}`),
    )
    const similar = list[index]
    if (similar !== undefined) list[index] = { ...similar, name }
    return similar === undefined
  })
  return { list, missing }
}

// A cache for the operations of one path, which are read in sequence.
let last: { readonly path: string; readonly names: readonly string[] } = { path: "", names: NONE }

/** The variables of a path template. */
function templateNames(path: string): readonly string[] {
  if (last.path !== path) last = { path, names: path.includes("{") ? variablesIn(path) : NONE }
  return last.names
}

function variablesIn(path: string): string[] {
  const names: string[] = []
  for (let open = path.indexOf("{"); open >= 0;) {
    const close = path.indexOf("}", open)
    if (close < 0) break
    const inner = path.lastIndexOf("{", close)
    const name = path.slice(inner + 1, close)
    if (name !== "" && !names.includes(name)) names.push(name)
    open = path.indexOf("{", close)
  }
  return names
}
