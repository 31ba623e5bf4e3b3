import { getOwn, textOf } from "../../../schema/json.ts"
import type { OpenAPIDocument, Place, Raw } from "../document.ts"
import { noteAt } from "../note.ts"
import type { ParameterModel, ParameterStyle, Serialization } from "../model.ts"
import type { Note } from "../note.ts"
import type { Converted } from "../schema/definition.ts"
import { refusedName } from "../request/headers.ts"
import { child, readContent } from "./media.ts"

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
export const ORDER = ["path", "query", "querystring", "header", "cookie"] as const

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
export function readParameter(
  document: OpenAPIDocument,
  place: Place,
  sends: SendsHeader,
): ParameterResult {
  const raw = place.value as Raw & { readonly name: string; readonly in: string }
  const { name } = raw
  const location = raw.in as ParameterModel["in"]
  if (!ORDER.includes(location)) {
    const message = `Parameter "${name}" is "in" ${JSON.stringify(raw.in)}, which does not exist; it is left out.`
    return { note: noteAt(document, place, message) }
  }
  const refusal =
    location === "header" || location === "cookie" ? refusedName(location, name) : undefined
  if (refusal !== undefined) return { note: noteRefused(document, place, name, refusal) }
  const legacy = document.version === "2.0"
  const content = legacy ? undefined : contentOf(document, place)
  const schema = legacy ? place : (content?.schema ?? schemaAt(raw, place))
  const header = location === "header" ? name.toLowerCase() : undefined
  const accept = header === "accept" ? textOf(defaultOf(document, schema)) : undefined
  if (!legacy && header !== undefined && IGNORED_HEADERS.has(header)) return { accept }
  const isNeeded = location !== "path" && raw["required"] === true && accept === undefined
  const preset = isNeeded ? defaultOf(document, schema) : undefined
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
function defaultOf(document: OpenAPIDocument, schema: Place | undefined): unknown {
  const place = document.objectAt(schema)
  return place && (getOwn(place.value, "default") ?? undefined)
}

/** Notes a parameter that cannot be an input; headers of the HTTP client are sent nevertheless. */
function noteRefused(document: OpenAPIDocument, place: Place, name: string, refusal: string): Note {
  const { in: location } = place.value as { readonly in: string }
  const isCookie = name.toLowerCase() === "cookie"
  const cure = isCookie ? " Set cookies in `headers` of the configuration." : ""
  const message = `The ${location} parameter "${name}" ${refusal}; it is left out.${cure}`
  return noteAt(document, place, message, refusal.includes("HTTP client"))
}

function schemaAt(raw: Raw, place: Place): Place | undefined {
  const value = raw["schema"]
  if (value === undefined) return undefined
  return { value, file: place.file, pointer: `${place.pointer}/schema` }
}

function contentOf(
  document: OpenAPIDocument,
  place: Place,
): { type: string; schema?: Place | undefined; note?: Note | undefined } | undefined {
  const notes: Note[] = []
  const [media] = readContent(document, place, notes)
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
export function legacyStyle(raw: Raw, location: ParameterModel["in"]): Style {
  const format = raw["collectionFormat"]
  if (format === "multi") return { style: "form", explode: true }
  if (format === "ssv") return { style: "spaceDelimited", explode: false }
  if (format === "pipes") return { style: "pipeDelimited", explode: false }
  if (format === "tsv") return { style: "tabDelimited", explode: false }
  const style = location === "path" || location === "header" ? "simple" : "form"
  return { style, explode: false }
}

/** Keys of the parameters that are a date, or a list of dates; `undefined` if there are none. */
export function dateKeys(
  document: OpenAPIDocument,
  parameters: readonly Parameter[],
): ReadonlySet<string> | undefined {
  const days = parameters.filter(({ schema }) => isDay(document, schema, 0))
  return days.length === 0 ? undefined : new Set(days.map(({ key }) => key))
}

function isDay(document: OpenAPIDocument, schema: Place | undefined, depth: number): boolean {
  const place = document.objectAt(schema)
  if (place === undefined) return false
  if (place.value["format"] === "date") return true
  return depth === 0 && isDay(document, child(place, "items"), 1)
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
