// One idea: one walk over a schema of a document, which gives the schema that is checked.
import { frozenCopy } from "../../internal/frozen.ts"
import { quote } from "../../schema/describe.ts"
import { escapeToken, isPlainRecord, isSchema, setOwn } from "../../schema/json.ts"
import { admitPattern } from "../../schema/pattern.ts"
import type { OpenAPIDocument, SourceFile } from "../document.ts"
import type { Definition } from "./definition.ts"
import { hiddenBit, hiddenNames, hiddenOf } from "./hidden.ts"
import { IN_PLACE, keywordKind } from "./keywords.ts"

/** Something that could not be taken over as it is written, and what is accepted instead. */
export interface Note {
  readonly pointer: string
  readonly message: string
  /** An input has another key than its name; nothing is accepted that the document refuses. */
  readonly isRename?: true
}

export type SchemaNode = Readonly<Record<string, unknown>> | boolean

/** Inputs leave out what is read-only, outputs what is write-only. */
export type View = "input" | "output"

/** What the walk needs to know about the rest of the document. */
export interface Surroundings {
  readonly document: OpenAPIDocument
  /** The reference to write, or `undefined` when there is nothing it could lead to. */
  refer(ref: string, pointer: string, walk: Walk, inPlace: boolean): string | undefined
}

const MAX_DEPTH = 200
const MAX_PATTERN = 4096

const TYPES: ReadonlySet<unknown> = new Set([
  ...["string", "number", "integer", "boolean", "object", "array", "null"],
])

type Mutable = Record<string, unknown>

/** One walk: where it is, what it may spend, what it found. */
export class Walk {
  readonly view: View
  readonly file: SourceFile
  /** The definitions that are referred to. */
  readonly refs: Definition[] = []
  readonly notes: Note[] = []
  /** The other view of the same schema is not the same. */
  dependsOnView = false
  /** The definition that is walked; references back to it without a step into the value are loops. */
  readonly definition: Definition | undefined
  readonly #around: Surroundings
  readonly #bit: 1 | 2
  readonly #lenientRefs: boolean
  #budget: number

  constructor(
    around: Surroundings,
    view: View,
    file: SourceFile,
    definition: Definition | undefined,
    budget: number,
  ) {
    this.#around = around
    this.view = view
    this.file = file
    this.definition = definition
    this.#bit = hiddenBit(view)
    this.#lenientRefs = around.document.version === "3.1"
    this.#budget = budget
  }

  note(pointer: string, message: string): void {
    this.notes.push({ pointer, message })
  }

  schema(
    raw: unknown,
    pointer: string,
    depth: number,
    inPlace: boolean,
    gone?: ReadonlySet<string>,
  ): SchemaNode {
    if (!isPlainRecord(raw)) {
      if (typeof raw === "boolean") return raw
      this.note(
        pointer,
        `A schema must be an object, got ${quote(raw)}; anything is accepted here.`,
      )
      return true
    }
    if (depth > MAX_DEPTH) {
      this.note(
        pointer,
        `Nested deeper than ${MAX_DEPTH} levels; what lies deeper accepts anything.`,
      )
      return true
    }
    if (--this.#budget < 0) {
      if (this.#budget === -1) {
        this.note(pointer, "The schema is too large; from here on it accepts anything.")
      }
      return true
    }
    const out: Mutable = {}
    const ref = raw["$ref"] ?? raw["$dynamicRef"]
    if (typeof ref === "string") {
      const target = this.#around.refer(ref, pointer, this, inPlace)
      if (target !== undefined) out["$ref"] = target
      if (!this.#lenientRefs) return this.#reference(raw, out)
    }
    return this.#keywords(raw, out, pointer, depth, inPlace, gone)
  }

  /** Before 3.1 nothing counts beside a reference, but what is said about it is worth showing. */
  #reference(raw: Readonly<Mutable>, out: Mutable): SchemaNode {
    if (typeof raw["description"] === "string") out["description"] = raw["description"]
    if (typeof raw["title"] === "string") out["title"] = raw["title"]
    if ((raw["nullable"] ?? raw["x-nullable"]) === true) return orNull(out)
    return Object.freeze(out)
  }

  #keywords(
    raw: Readonly<Mutable>,
    out: Mutable,
    pointer: string,
    depth: number,
    inPlace: boolean,
    gone: ReadonlySet<string> | undefined,
  ): SchemaNode {
    let nullable = false
    let names: readonly unknown[] | undefined
    let hiddenNames = gone
    for (const keyword of Object.keys(raw)) {
      const value = raw[keyword]
      if (value === undefined) continue
      const kind = keywordKind(keyword)
      switch (kind) {
        case "text":
          if (typeof value === "string") out[keyword] = value
          else this.#malformed(pointer, keyword, value, "a text")
          break
        case "type":
          this.#type(raw, value, out, pointer)
          break
        case "properties":
          if (!isPlainRecord(value)) {
            this.#malformed(pointer, keyword, value, "an object of schemas")
            break
          }
          hiddenNames = this.#properties(
            value,
            out,
            `${pointer}/properties`,
            depth + 1,
            hiddenNames,
          )
          break
        case "required":
          if (Array.isArray(value)) names = value
          else if (typeof value !== "boolean") {
            this.#malformed(pointer, keyword, value, "a list of names")
          }
          break
        case "items":
          this.#items(raw, value, out, pointer, depth + 1)
          break
        case "schema":
          if (isSchema(value)) {
            const same = inPlace && IN_PLACE.has(keyword)
            out[keyword] = this.schema(value, `${pointer}/${keyword}`, depth + 1, same)
          } else this.#malformed(pointer, keyword, value, "a schema")
          break
        case "list":
          this.#list(raw, keyword, value, out, pointer, depth + 1, inPlace && IN_PLACE.has(keyword))
          break
        case "map":
          if (isPlainRecord(value)) {
            out[keyword] = this.#map(value, `${pointer}/${keyword}`, depth + 1)
          } else this.#malformed(pointer, keyword, value, "an object of schemas")
          break
        case "enum":
          this.#enum(value, out, pointer)
          break
        case "data":
          this.#data(keyword, value, out, pointer)
          break
        case "example":
          this.#data("examples", [value], out, pointer)
          break
        case "examples":
          if (Array.isArray(value)) this.#data(keyword, value, out, pointer)
          break
        case "number":
          if (isNumber(value) && (keyword !== "multipleOf" || value > 0)) out[keyword] = value
          else this.#malformed(pointer, keyword, value, "a number")
          break
        case "count":
          if (Number.isInteger(value) && (value as number) >= 0) out[keyword] = value
          else this.#malformed(pointer, keyword, value, "a whole number of 0 or more")
          break
        case "limit":
          if (isNumber(value)) out[keyword] = value
          else if (typeof value !== "boolean") {
            this.#malformed(pointer, keyword, value, "a number or a boolean")
          }
          break
        case "flag":
          if (typeof value === "boolean") out[keyword] = value
          break
        case "nullable":
          nullable ||= value === true
          break
        case "pattern":
          this.#pattern(value, out, pointer)
          break
        case "patternProperties":
          this.#patternProperties(value, out, pointer, depth + 1)
          break
        case "dependentRequired":
          if (isPlainRecord(value) && Object.values(value).every(isNames)) {
            this.#data(keyword, value, out, pointer)
          } else this.#malformed(pointer, keyword, value, "an object of lists of names")
          break
        case "skip":
          break
        case undefined:
          // Extensions and unknown words: what is small may tell a reader something.
          if (typeof value !== "object") setOwn(out, keyword, value)
          break
      }
    }
    if (names !== undefined) this.#required(names, out, pointer, hiddenNames)
    if (typeof raw["exclusiveMinimum"] === "boolean") exclusive(raw, out, "Minimum")
    if (typeof raw["exclusiveMaximum"] === "boolean") exclusive(raw, out, "Maximum")
    if (out["format"] === "byte") out["contentEncoding"] ??= "base64"
    return nullable ? orNull(out) : Object.freeze(out)
  }

  #type(raw: Readonly<Mutable>, value: unknown, out: Mutable, pointer: string): void {
    if (isBinary(raw)) {
      // Bytes are handed over as bytes, not as text.
      out["format"] = "binary"
      return
    }
    if (TYPES.has(value)) {
      out["type"] = value
      return
    }
    if (Array.isArray(value)) {
      const types = value.filter((type) => TYPES.has(type))
      if (types.length < value.length || types.length === 0) {
        this.#malformed(pointer, "type", value, "a JSON type or a list of them")
        return
      }
      out["type"] = types.length === 1 ? types[0] : Object.freeze([...new Set(types)])
      return
    }
    this.#malformed(pointer, "type", value, "a JSON type or a list of them")
  }

  #properties(
    value: Readonly<Mutable>,
    out: Mutable,
    pointer: string,
    depth: number,
    gone: ReadonlySet<string> | undefined,
  ): ReadonlySet<string> | undefined {
    const properties: Mutable = {}
    let names: Set<string> | undefined
    for (const name of Object.keys(value)) {
      const property = value[name]
      const hidden = hiddenOf(this.#around.document, property, this.file)
      if (hidden !== 0) {
        this.dependsOnView = true
        if ((hidden & this.#bit) !== 0) {
          names ??= new Set(gone)
          names.add(name)
          continue
        }
      }
      const at = `${pointer}/${escapeToken(name)}`
      setOwn(properties, name, this.schema(property, at, depth, false))
    }
    out["properties"] = Object.freeze(properties)
    return names ?? gone
  }

  #required(
    names: readonly unknown[],
    out: Mutable,
    pointer: string,
    gone: ReadonlySet<string> | undefined,
  ): void {
    const kept = new Set<string>()
    for (const name of names) {
      if (typeof name !== "string") this.#malformed(pointer, "required", name, "a list of names")
      else if (gone?.has(name) !== true) kept.add(name)
    }
    if (kept.size > 0) out["required"] = Object.freeze([...kept])
  }

  #items(
    raw: Readonly<Mutable>,
    value: unknown,
    out: Mutable,
    pointer: string,
    depth: number,
  ): void {
    const at = `${pointer}/items`
    if (isSchema(value)) {
      out["items"] = this.schema(value, at, depth, false)
      return
    }
    if (!Array.isArray(value)) {
      this.#malformed(pointer, "items", value, "a schema")
      return
    }
    // A tuple, as it was written before 2020-12.
    const rest = raw["additionalItems"]
    if (value.length > 0) {
      out["prefixItems"] = Object.freeze(
        value.map((item, index) => this.schema(item, `${at}/${index}`, depth, false)),
      )
    }
    if (isSchema(rest)) {
      out["items"] = this.schema(rest, `${pointer}/additionalItems`, depth, false)
    }
  }

  #list(
    raw: Readonly<Mutable>,
    keyword: string,
    value: unknown,
    out: Mutable,
    pointer: string,
    depth: number,
    inPlace: boolean,
  ): void {
    if (!Array.isArray(value) || value.length === 0) {
      this.#malformed(pointer, keyword, value, "a list of one or more schemas")
      return
    }
    let gone: ReadonlySet<string> | undefined
    if (keyword === "allOf") {
      const hidden = hiddenNames(
        this.#around.document,
        [raw["properties"] === undefined ? undefined : raw, ...value],
        this.file,
        this.#bit,
      )
      gone = hidden.names
      this.dependsOnView ||= hidden.dependsOnView
    }
    const at = `${pointer}/${keyword}`
    out[keyword] = Object.freeze(
      value.map((member, index) => this.schema(member, `${at}/${index}`, depth, inPlace, gone)),
    )
  }

  #map(value: Readonly<Mutable>, pointer: string, depth: number): Readonly<Mutable> {
    const out: Mutable = {}
    for (const key of Object.keys(value)) {
      setOwn(out, key, this.schema(value[key], `${pointer}/${escapeToken(key)}`, depth, false))
    }
    return Object.freeze(out)
  }

  #enum(value: unknown, out: Mutable, pointer: string): void {
    if (!Array.isArray(value) || value.length === 0) {
      this.#malformed(pointer, "enum", value, "a list of one or more values")
      return
    }
    this.#data("enum", value, out, pointer)
  }

  #data(keyword: string, value: unknown, out: Mutable, pointer: string): void {
    if (typeof value !== "object" || value === null) {
      out[keyword] = value
      return
    }
    try {
      out[keyword] = frozenCopy(value)
    } catch {
      this.note(`${pointer}/${keyword}`, `"${keyword}" is nested too deeply and is left out.`)
    }
  }

  #pattern(value: unknown, out: Mutable, pointer: string): void {
    const pattern = this.#usable(value, `${pointer}/pattern`)
    if (pattern !== undefined) out["pattern"] = pattern
  }

  #usable(pattern: unknown, pointer: string): string | undefined {
    if (typeof pattern !== "string") {
      this.note(pointer, `"pattern" must be a text, got ${quote(pattern)}; any text is accepted.`)
      return undefined
    }
    const admitted = admitPattern(pattern, MAX_PATTERN)
    if ("pattern" in admitted) return admitted.pattern
    const why = admitted.code === "bad-pattern" ? "cannot be used" : "may take for ever"
    this.note(
      pointer,
      `Pattern ${quote(pattern)} ${why}: ${admitted.reason}. Any text is accepted here.`,
    )
    return undefined
  }

  #patternProperties(value: unknown, out: Mutable, pointer: string, depth: number): void {
    if (!isPlainRecord(value)) {
      this.#malformed(pointer, "patternProperties", value, "an object of schemas")
      return
    }
    const at = `${pointer}/patternProperties`
    const properties: Mutable = {}
    for (const key of Object.keys(value)) {
      const pattern = this.#usable(key, `${at}/${escapeToken(key)}`)
      // Without the pattern its properties would count as additional ones; so nothing is additional.
      if (pattern === undefined) out["additionalProperties"] = true
      else
        setOwn(
          properties,
          pattern,
          this.schema(value[key], `${at}/${escapeToken(key)}`, depth, false),
        )
    }
    out["patternProperties"] = Object.freeze(properties)
  }

  #malformed(pointer: string, keyword: string, value: unknown, expected: string): void {
    this.note(
      `${pointer}/${escapeToken(keyword)}`,
      `"${keyword}" must be ${expected}, got ${quote(value)}; it is left out.`,
    )
  }
}

/** Raw bytes, in any of the ways in which documents say so. */
export function isBinary(raw: Readonly<Record<string, unknown>>): boolean {
  const { type, format, contentMediaType, contentEncoding } = raw
  if (type === "file") return true
  const text = type === "string" || (Array.isArray(type) && type.includes("string"))
  if (!text && type !== undefined) return false
  if (format === "binary") return true
  return contentMediaType === "application/octet-stream" && contentEncoding === undefined
}

/** `minimum: 3, exclusiveMinimum: true` of old is `exclusiveMinimum: 3` today. */
function exclusive(raw: Readonly<Mutable>, out: Mutable, side: "Minimum" | "Maximum"): void {
  const limit = side === "Minimum" ? "minimum" : "maximum"
  if (raw[`exclusive${side}`] !== true || !isNumber(raw[limit])) return
  out[`exclusive${side}`] = raw[limit]
  delete out[limit]
}

const UNIONS = ["allOf", "anyOf", "oneOf", "not", "const", "$ref"] as const
const ANNOTATIONS: ReadonlySet<string> = new Set([
  ...["title", "description", "default", "deprecated", "readOnly", "writeOnly", "examples"],
])

/** `nullable: true`: also beside `enum`, `allOf` or a reference, where documents mean it too. */
function orNull(out: Mutable): SchemaNode {
  const { type } = out
  if (type !== undefined && !UNIONS.some((keyword) => keyword in out)) {
    const types = Array.isArray(type) ? (type as unknown[]) : [type]
    if (!types.includes("null")) out["type"] = Object.freeze([...types, "null"])
    const values = out["enum"]
    if (Array.isArray(values) && !values.includes(null))
      out["enum"] = Object.freeze([...values, null])
    return Object.freeze(out)
  }
  const inner: Mutable = {}
  const outer: Mutable = {}
  let decides = false
  for (const key of Object.keys(out)) {
    if (ANNOTATIONS.has(key)) outer[key] = out[key]
    else {
      setOwn(inner, key, out[key])
      decides = true
    }
  }
  if (!decides) return Object.freeze(out)
  outer["anyOf"] = Object.freeze([Object.freeze(inner), NULL])
  return Object.freeze(outer)
}

const NULL: SchemaNode = Object.freeze({ type: "null" })

function isNumber(value: unknown): value is number {
  return typeof value === "number" && Number.isFinite(value)
}

function isNames(value: unknown): boolean {
  return Array.isArray(value) && value.every((name) => typeof name === "string")
}
