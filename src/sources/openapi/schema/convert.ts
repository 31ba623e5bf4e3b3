// Converts a schema of a document to the schema that is checked, in one walk.
import { quote } from "../../../internal/message-text.ts"
import { isRecord, isStrings } from "../../../internal/guards.ts"
import { JSON_TYPES, childPointer, isSchema, setOwn } from "../../../schema/json.ts"
import { IN_PLACE } from "../../../schema/keywords.ts"
import { admitPattern, type AdmittedPattern } from "../../../schema/regex/pattern.ts"
import { noteAt, type Note, type Raw, type SourceFile } from "../document.ts"
import { isTooDeepToPrint } from "../size-limits.ts"
import type { Definition, SchemaNode, View } from "./definition.ts"
import { discriminatorOf, selectionOf, type Selection, type Subtypes } from "./discriminator.ts"
import { Draft, exclusive, isBinary, isNullable, loosen, orNull } from "./lower.ts"
import { hiddenBit, hiddenNames, hiddenOf } from "./hidden.ts"
import { keywordRule } from "./keywords.ts"
import { conflictOf } from "./unsatisfiable.ts"

/** The rest of the document, as the walk needs it. */
export interface ConversionContext {
  /** In outputs, integers beyond 2^53 are strings. */
  readonly hasTextIntegers: boolean
  /** Resolves a reference; `undefined` if it has no target. */
  refer(ref: string, walk: Walk, inPlace: boolean): Definition | undefined
  readonly subtypes: Subtypes
}

const READ_ONLY: SchemaNode = Object.freeze({ readOnly: true })
const MAX_DEPTH = 200
const MAX_PATTERN = 4096
// In a regular expression literal a slash is escaped, or in a class.
const LITERAL = /^\/((?:[^/\\[]|\\.|\[(?:[^\]\\]|\\.)*\])+)\/([dgimsuvy]*)$/su

// Shared by all schemas that have none.
export const NO_REFS: readonly Definition[] = Object.freeze([])
export const NO_NOTES: readonly Note[] = Object.freeze([])

/** The state of one walk: its position, its budget, its results. */
export class Walk {
  readonly view: View
  readonly file: SourceFile
  /** The referenced definitions. */
  refs: readonly Definition[] = NO_REFS
  notes: readonly Note[] = NO_NOTES
  /** The input and output views of the schema differ. */
  dependsOnView = false
  /** The current definition; references back to it without a step into the value are cycles. */
  readonly definition: Definition | undefined
  readonly #around: ConversionContext
  readonly #start: string
  /** The keys to the current place; joined to a pointer only for a note. */
  readonly #trail: Array<string | number> = []
  readonly #bit: 1 | 2
  readonly #hides: boolean
  readonly #lenientRefs: boolean
  #budget: number
  /** The next schema is a member of an `allOf`, where a parent does not include its subtypes. */
  #isParent = false

  constructor(
    around: ConversionContext,
    view: View,
    file: SourceFile,
    pointer: string,
    definition: Definition | undefined,
    budget: number,
  ) {
    this.#around = around
    this.view = view
    this.file = file
    this.#start = pointer
    this.definition = definition
    this.#bit = hiddenBit(view)
    this.#hides = file.document.hidesProperties
    this.#lenientRefs = file.document.version === "3.1"
    this.#budget = budget
    this.dependsOnView = around.hasTextIntegers
  }

  /** Notes a difference at the current place. */
  note(message: string, keyword?: string): void {
    const at = this.#trail.reduce<string>(childPointer, this.#start)
    const pointer = keyword === undefined ? at : childPointer(at, keyword)
    const { file } = this
    this.notes = [...this.notes, noteAt({ file, pointer }, message)]
  }

  /** Notes a loss because of a limit, for the operation and for the document. */
  #lose(message: string, loss: string): void {
    this.note(message)
    this.file.document.losses.add(loss)
  }

  /** Converts a schema; `gone` are properties that other members of an `allOf` leave out. */
  schema(raw: unknown, inPlace: boolean, gone?: ReadonlySet<string>): SchemaNode {
    const isParent = this.#isParent
    this.#isParent = false
    if (!isRecord(raw)) {
      if (typeof raw === "boolean") return raw
      this.note(`A schema must be an object, got ${quote(raw)}; anything is accepted here.`)
      return true
    }
    if (this.#trail.length > MAX_DEPTH) {
      this.#lose(
        `Nested deeper than ${MAX_DEPTH} steps; deeper parts accept anything.`,
        `Schemas that are nested deeper than ${MAX_DEPTH} steps accept anything from there on.`,
      )
      return true
    }
    if (--this.#budget < 0) {
      if (this.#budget === -1) {
        this.#lose(
          "The schema is too large; from here on it accepts anything.",
          "Schemas of very many parts accept anything from some part on.",
        )
      }
      return true
    }
    const ref = raw["$ref"] ?? raw["$dynamicRef"]
    if (typeof ref !== "string") return this.#keywords(raw, undefined, inPlace, gone)
    const subtypes = inPlace || isParent ? undefined : this.#around.subtypes.of(ref, this.file)
    if (subtypes !== undefined) {
      this.dependsOnView = true
      if (this.view === "input") {
        const targets = subtypes.refs.map((one) => this.#around.refer(one, this, false))
        const all = targets.map((target) => target?.reference ?? true)
        // The parent accepts what the others accept, so it is also the one for other values.
        const out = { anyOf: selected(all, subtypes, all.length - 1), ...wordsOf(raw) }
        return isNullable(raw) ? orNull(out) : out
      }
    }
    const target = this.#around.refer(ref, this, inPlace)
    if (!this.#lenientRefs) return reference(raw, target)
    return this.#keywords(raw, target, inPlace, gone)
  }

  /** Converts a union: alternatives are checked by their discriminator, and several may match. */
  #union(raw: Raw, keyword: "anyOf" | "oneOf", draft: Draft): void {
    const discriminator = discriminatorOf(raw)
    if (keyword === "oneOf" || discriminator !== undefined) this.dependsOnView = true
    if (discriminator !== undefined && this.view === "input") {
      const selection = selectionOf(discriminator, raw[keyword] as readonly unknown[], this.file)
      draft.set(keyword, selected(draft.get(keyword) as readonly SchemaNode[], selection))
    }
    // A result that has the discriminator of one alternative may match others, too.
    if (keyword === "oneOf" && (this.view === "input" || discriminator !== undefined)) {
      loosen(keyword, raw, draft)
    }
  }

  /**
   * Converts the keywords of a schema.
   *
   * A schema without changes is used as it is, and of others only changed parts are copied: schemas use most
   * of the memory of a large document.
   */
  #keywords(
    raw: Raw,
    target: Definition | undefined,
    inPlace: boolean,
    gone: ReadonlySet<string> | undefined,
  ): SchemaNode {
    const conflict = this.#conflict(raw)
    if (conflict !== undefined) return conflict
    const draft = new Draft(raw)
    const before = this.notes.length
    let nullable = false
    let hidden = gone
    let patterns: Raw | undefined
    const keywords = Object.keys(raw)
    for (let index = 0; index < keywords.length; index++) {
      const keyword = keywords[index] as string
      const value = raw[keyword]
      const rule = keywordRule(keyword)
      if (rule?.fits?.(value) === false) {
        draft.drop(keyword)
        if (rule.expected !== undefined) this.#malformed(keyword, value, rule.expected)
        continue
      }
      switch (rule?.kind) {
        case "kept":
          break
        case "type":
          if (!JSON_TYPES.has(value) || value === "string") this.#type(raw, value, draft)
          if (this.#around.hasTextIntegers) this.#textInteger(raw, draft)
          break
        case "properties":
          hidden = this.#properties(value as Raw, draft, hidden)
          break
        case "required":
          // In old drafts it is a flag of the property.
          if (typeof value === "boolean") draft.drop(keyword)
          break
        case "items":
          this.#items(raw, value, draft)
          break
        case "schema": {
          const noted = this.notes.length
          draft.set(keyword, this.#at(keyword, value, inPlace && IN_PLACE.has(keyword)))
          if (this.notes.length > noted) loosen(keyword, raw, draft)
          break
        }
        case "list": {
          const noted = this.notes.length
          const list = value as readonly unknown[]
          draft.set(keyword, this.#list(raw, keyword, list, inPlace && IN_PLACE.has(keyword)))
          const isWider = this.notes.length > noted || list.some(isBinaryMember)
          // A long integer as text may match two alternatives.
          const isText = this.#around.hasTextIntegers && this.view === "output"
          if (keyword === "oneOf" || keyword === "anyOf") this.#union(raw, keyword, draft)
          if (isWider || isText) loosen(keyword, raw, draft)
          break
        }
        case "map":
          draft.set(keyword, this.#map(keyword, value as Raw, inPlace))
          break
        case "data":
          if (isTooDeepToPrint(value)) draft.drop(this.#malformed(keyword, value, "less deep"))
          break
        case "example":
          draft.drop(keyword)
          if (raw["examples"] === undefined && !isTooDeepToPrint(value))
            draft.set("examples", [value])
          break
        case "examples":
          if (!Array.isArray(value) || isTooDeepToPrint(value)) draft.drop(keyword)
          break
        case "limit":
          if (typeof value === "boolean") exclusive(raw, draft, keyword)
          break
        case "nullable":
          nullable ||= value === true
          draft.drop(keyword)
          break
        case "pattern": {
          const pattern = this.#usable(value, keyword)
          if (pattern === undefined) draft.drop(keyword)
          else draft.set(keyword, pattern)
          break
        }
        case "patternProperties":
          patterns = value as Raw
          break
        case "format":
          if (value === "byte" && raw["contentEncoding"] === undefined) {
            draft.set("contentEncoding", "base64")
          }
          break
        case "skipped":
          draft.drop(keyword)
          break
        case undefined:
          // Extensions and unknown keywords: small values may be useful to readers.
          if (typeof value === "object" && value !== null) draft.drop(keyword)
          break
      }
    }
    const { required } = raw
    if (Array.isArray(required)) this.#required(required, draft, hidden)
    // Last, since an unusable pattern changes `additionalProperties`.
    if (patterns !== undefined) this.#patternProperties(patterns, draft)
    if (this.notes.length > before) {
      // A dropped part may have declared these properties.
      draft.drop("unevaluatedProperties")
      draft.drop("unevaluatedItems")
    }
    if (raw["type"] === undefined && isBinary(raw)) draft.set("format", "binary")
    if (target !== undefined) draft.set("$ref", target.ref)
    const schema = draft.finish()
    return nullable ? orNull({ ...schema }) : schema
  }

  /** The replacement of a schema that no value can match. */
  #conflict(raw: Raw): SchemaNode | undefined {
    if (!Array.isArray(raw["allOf"])) return undefined
    const why = conflictOf(raw, this.file)
    if (why === undefined) return undefined
    this.note(`No value fits all of "allOf": ${why}. Anything is accepted here.`, "allOf")
    return wordsOf(raw)
  }

  /** Converts a schema under a keyword, or under a key or index below it. */
  #at(
    step: string | number,
    value: unknown,
    inPlace: boolean,
    gone?: ReadonlySet<string>,
  ): SchemaNode {
    this.#trail.push(step)
    const schema = this.schema(value, inPlace, gone)
    this.#trail.pop()
    return schema
  }

  #type(raw: Raw, value: unknown, draft: Draft): void {
    if (isBinary(raw)) {
      // Binary values are passed as bytes, not as text.
      draft.drop("type")
      draft.set("format", "binary")
    } else if (!JSON_TYPES.has(value)) {
      const isList = Array.isArray(value) && value.length > 0
      if (isList && value.every((type) => JSON_TYPES.has(type))) {
        if (new Set(value).size < value.length) draft.set("type", [...new Set(value)])
      } else draft.drop(this.#malformed("type", value, "a JSON type or a list of them"))
    }
  }

  /** Allows an integer as text in an output. */
  #textInteger(raw: Raw, draft: Draft): void {
    const type = draft.get("type")
    const types: unknown[] = Array.isArray(type) ? type : [type]
    if (!types.includes("integer") && !types.includes("number")) return
    if (this.view === "input" || !types.every((one) => JSON_TYPES.has(one))) return
    if (types.includes("string") || "enum" in raw || "const" in raw) return
    draft.set("type", [...types, "string"])
    if (raw["pattern"] === undefined) draft.set("pattern", "^-?[0-9]{16,}$")
  }

  #properties(
    value: Raw,
    draft: Draft,
    gone: ReadonlySet<string> | undefined,
  ): ReadonlySet<string> | undefined {
    const properties = new Draft(value)
    let names: Set<string> | undefined
    const isClosed = [
      draft.get("additionalProperties"),
      draft.get("unevaluatedProperties"),
    ].includes(false)
    this.#trail.push("properties")
    const keys = Object.keys(value)
    for (let index = 0; index < keys.length; index++) {
      const name = keys[index] as string
      const property = value[name]
      if (this.#hides) {
        const hidden = hiddenOf(property, this.file)
        if (hidden !== 0) {
          this.dependsOnView = true
          if ((hidden & this.#bit) !== 0) {
            ;(names ??= new Set()).add(name)
            // What an API returned may be sent back, also where no other property is allowed.
            if (this.view === "input" && isClosed) properties.set(name, READ_ONLY)
            else properties.drop(name)
            continue
          }
        }
      }
      properties.set(name, this.#at(name, property, false))
    }
    this.#trail.pop()
    draft.set("properties", properties.finish())
    return names === undefined ? gone : new Set([...names, ...(gone ?? [])])
  }

  #required(names: readonly unknown[], draft: Draft, gone: ReadonlySet<string> | undefined): void {
    const isFine = gone === undefined && names.length > 0 && isStrings(names)
    if (isFine) return
    const kept: string[] = []
    for (const name of names) {
      if (typeof name !== "string") this.#malformed("required", name, "a list of names")
      else if (gone?.has(name) !== true) kept.push(name)
    }
    if (kept.length === 0) draft.drop("required")
    else if (kept.length < names.length) draft.set("required", kept)
  }

  #items(raw: Raw, value: unknown, draft: Draft): void {
    if (isSchema(value)) {
      draft.set("items", this.#at("items", value, false))
      return
    }
    // A tuple in the syntax before 2020-12.
    const tuple = value as readonly unknown[]
    const rest = raw["additionalItems"]
    if (tuple.length > 0) {
      draft.set("prefixItems", this.#list(raw, "items", tuple, false))
    }
    if (isSchema(rest)) draft.set("items", this.#at("additionalItems", rest, false))
    else draft.drop("items")
  }

  #list(
    raw: Raw,
    keyword: string,
    value: readonly unknown[],
    inPlace: boolean,
  ): readonly unknown[] {
    let gone: ReadonlySet<string> | undefined
    if (keyword === "allOf" && this.#hides) {
      const members = [raw["properties"] === undefined ? undefined : raw, ...value]
      const hidden = hiddenNames(members, this.file, this.#bit)
      gone = hidden.names
      this.dependsOnView ||= hidden.dependsOnView
    }
    this.#trail.push(keyword)
    let out: unknown[] | undefined
    for (let index = 0; index < value.length; index++) {
      this.#isParent = keyword === "allOf"
      const schema = this.#at(index, value[index], inPlace, gone)
      if (schema !== value[index]) (out ??= value.slice())[index] = schema
    }
    this.#trail.pop()
    return out ?? value
  }

  #map(keyword: string, value: Raw, inPlace: boolean): Raw {
    const draft = new Draft(value)
    const isSame = inPlace && IN_PLACE.has(keyword)
    this.#trail.push(keyword)
    for (const key of Object.keys(value)) draft.set(key, this.#at(key, value[key], isSame))
    this.#trail.pop()
    return draft.finish()
  }

  #usable(pattern: unknown, ...keys: string[]): string | undefined {
    this.#trail.push(...keys)
    let usable: string | undefined
    if (typeof pattern !== "string") {
      this.note(`"pattern" must be a text, got ${quote(pattern)}; any text is accepted.`)
    } else {
      const admitted = admitWritten(pattern)
      if ("pattern" in admitted) {
        usable = admitted.pattern
        if (admitted.limit !== undefined) {
          this.note(
            `Pattern ${quote(pattern)} may take long, so text of more than ${admitted.limit} characters may go unchecked.`,
          )
        }
      } else {
        const why = admitted.code === "bad-pattern" ? "cannot be used" : "may take exponential time"
        if (pattern.length > MAX_PATTERN) {
          this.file.document.losses.add(
            `Patterns of over ${MAX_PATTERN} characters accept any text.`,
          )
        }
        this.note(
          `Pattern ${quote(pattern)} ${why}: ${admitted.reason}. Any text is accepted here.`,
        )
      }
    }
    this.#trail.length -= keys.length
    return usable
  }

  #patternProperties(value: Raw, draft: Draft): void {
    const properties: Record<string, unknown> = {}
    for (const key of Object.keys(value)) {
      const pattern = this.#usable(key, "patternProperties", key)
      // Without the pattern its properties would count as additional, so allow additional ones.
      if (pattern === undefined) draft.set("additionalProperties", true)
      else {
        this.#trail.push("patternProperties")
        setOwn(properties, pattern, this.#at(key, value[key], false))
        this.#trail.pop()
      }
    }
    draft.set("patternProperties", properties)
  }

  #malformed(keyword: string, value: unknown, expected: string): string {
    this.note(`"${keyword}" must be ${expected}, got ${quote(value)}; it is left out.`, keyword)
    return keyword
  }
}

/** Converts a reference. Before 3.1 other keywords are ignored, but descriptions are kept. */
function reference(raw: Raw, target: Definition | undefined): SchemaNode {
  const { description, title } = raw
  const isBare = description === undefined && title === undefined && !isNullable(raw)
  if (target !== undefined && isBare) return target.reference
  const out = { ...(target && { $ref: target.ref }), ...wordsOf(raw) }
  return isNullable(raw) ? orNull(out) : out
}

/** The description and title of a schema. */
function wordsOf({ description, title }: Raw): { description?: string; title?: string } {
  return {
    ...(typeof description === "string" && { description }),
    ...(typeof title === "string" && { title }),
  }
}

/**
 * Lets the discriminator select among alternatives, if it is present. With a value that selects none, they are
 * checked as without it: by one of them that accepts all that the others accept, else by all.
 */
function selected(
  members: readonly SchemaNode[],
  { property, choices }: Selection,
  widest?: number,
): readonly SchemaNode[] {
  const isOpen = (index: number): boolean =>
    choices[index]?.isClosed === false &&
    choices[index].values.length > 0 &&
    isRecord(members[index])
  const open = [...members.keys()].filter(isOpen)
  const known = [...new Set(choices.flatMap(({ values }) => values))]
  const others = open.length === 1 ? open[0] : widest
  const named = members.map((member, index) => {
    if (!open.includes(index)) return member
    const values = choices[index]?.values ?? []
    if (index !== others) return restricted(member, property, { enum: values })
    const rest = known.filter((value) => !values.includes(value))
    return rest.length === 0 ? member : restricted(member, property, { not: { enum: rest } })
  })
  if (others !== undefined || open.length === 0) return named
  const anyOf = open.map((index) => members[index])
  return [...named, restricted({ anyOf }, property, { not: { enum: known } })]
}

/** Restricts a property of a schema, if it is present. */
function restricted(schema: SchemaNode | undefined, name: string, property: Raw): SchemaNode {
  if (!isRecord(schema)) return true
  const properties: Record<string, unknown> = {}
  setOwn(properties, name, property)
  return "properties" in schema ? { allOf: [schema, { properties }] } : { ...schema, properties }
}

/** Whether a member is binary: it accepts anything, since bytes have many types. */
function isBinaryMember(value: unknown): boolean {
  return isRecord(value) && isBinary(value)
}

/** Admits a pattern; removes the slashes of a JavaScript literal such as `/^a$/`. */
function admitWritten(pattern: string): AdmittedPattern {
  const [, inner, flags = ""] = LITERAL.exec(pattern) ?? []
  if (inner === undefined) return admitPattern(pattern, MAX_PATTERN)
  if (!/[ims]/.test(flags)) return admitPattern(inner, MAX_PATTERN)
  return { code: "bad-pattern", reason: `a schema cannot express its flags, "${flags}"` }
}
