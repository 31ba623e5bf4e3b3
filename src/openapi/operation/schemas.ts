import type { TSchema } from "typebox"
import { adoptSchema } from "../../schema/admit.ts"
import { isPlainRecord, setOwn } from "../../schema/json.ts"
import type { ErrorDefinition } from "../../types.ts"
import { isBroken } from "../document.ts"
import type { OpenAPIDocument, Place } from "../document.ts"
import type { Note, SchemaNode, View } from "../schema/convert.ts"
import type { Converted, Definition } from "../schema/definition.ts"
import type { SchemaStore } from "../schema/store.ts"
import type { Body } from "./body.ts"
import { described, withParameter } from "./describe.ts"
import type { Media } from "./media.ts"
import { isStream } from "./media.ts"
import type { Parameter } from "./parameter.ts"
import type { Response } from "./responses.ts"

type Raw = Readonly<Record<string, unknown>>

/** A schema that stands on its own, and what could not be taken over. */
export interface Sealed {
  readonly schema: TSchema
  readonly notes: () => readonly Note[]
}

/** A property of an input made of one property of a body. */
export interface FlatProperty {
  readonly key: string
  readonly place: Place
  readonly required: boolean
}

const ANYTHING: SchemaNode = Object.freeze({})
const TEXT: SchemaNode = Object.freeze({ type: "string" })
const BYTES: SchemaNode = Object.freeze({ format: "binary" })
const NOTHING: SchemaNode = Object.freeze({ type: "void" })
const NO_REFS: readonly Definition[] = []

/** Words that Swagger 2.0 writes into a parameter beside its schema. */
const NOT_SCHEMA: ReadonlySet<string> = new Set([
  ...["name", "in", "required", "collectionFormat", "allowEmptyValue"],
])

/** Puts the schemas of operations together from those of the document. */
export class SchemaBuilder {
  readonly #document: OpenAPIDocument
  readonly #store: SchemaStore
  readonly #properties = new WeakMap<object, Converted>()

  constructor(document: OpenAPIDocument, store: SchemaStore) {
    this.#document = document
    this.#store = store
  }

  /** The input: an object with a property for each parameter, and the body. */
  input(
    parameters: readonly Parameter[],
    body: Body | undefined,
    flat: readonly FlatProperty[] | undefined,
  ): Sealed {
    const parts = new Parts()
    const properties: Record<string, SchemaNode> = {}
    const required: string[] = []
    for (const parameter of parameters) {
      setOwn(properties, parameter.key, parts.take(this.#property(parameter)))
      if (parameter.required) required.push(parameter.key)
    }
    for (const { key, place, required: needed } of flat ?? []) {
      setOwn(properties, key, parts.take(this.#convert(place, "input")))
      if (needed) required.push(key)
    }
    if (body !== undefined && flat === undefined) {
      const schema = this.#body(body, parts)
      setOwn(properties, "body", described(schema, body.description))
      if (body.required) required.push("body")
    }
    const schema: Record<string, unknown> = {
      type: "object",
      properties: Object.freeze(properties),
      additionalProperties: false,
    }
    if (required.length > 0) schema["required"] = Object.freeze(required)
    return this.#seal(schema, parts, "input")
  }

  /** The output: what a success gives; a union where several give different things. */
  output(success: readonly Response[], method: string): Sealed {
    const parts = new Parts()
    if (method === "HEAD") return this.#seal(NOTHING, parts, "output")
    const found = new Map<unknown, SchemaNode>()
    for (const response of success) {
      const schema = this.#answer(response, parts)
      const key =
        isPlainRecord(schema) && typeof schema["$ref"] === "string" ? schema["$ref"] : schema
      found.set(key, schema)
    }
    const schemas = [...found.values()]
    if (schemas.length === 0 || schemas.includes(ANYTHING))
      return this.#seal(ANYTHING, parts, "output")
    if (schemas.length === 1) return this.#seal(schemas[0] as SchemaNode, parts, "output")
    return this.#seal({ anyOf: Object.freeze(schemas) }, parts, "output")
  }

  /** One item of a stream. */
  item(media: Media): Sealed {
    const parts = new Parts()
    const schema = media.itemSchema ?? media.schema
    if (schema === undefined)
      return this.#seal(media.class === "sse" ? TEXT : ANYTHING, parts, "output")
    // Kubernetes describes the list there, and sends the changes to it.
    if (media.class === "ndjson" && /json\s*;\s*stream=watch/i.test(media.type)) {
      return this.#seal(ANYTHING, parts, "output")
    }
    return this.#seal(parts.take(this.#convert(schema, "output")), parts, "output")
  }

  /** The errors that the document declares: what `details` of such an error is. */
  errors(failure: readonly Response[]): { errors: ErrorDefinition[]; notes: Note[] } {
    const errors: ErrorDefinition[] = []
    const notes: Note[] = []
    for (const response of failure) {
      const parts = new Parts()
      const body = response.media.length === 0 ? ANYTHING : this.#answer(response, parts)
      const status = /^\d{3}$/.test(response.code) ? Number(response.code) : undefined
      const sealed = this.#seal(
        {
          type: "object",
          properties: Object.freeze({
            statusCode: Object.freeze(
              status === undefined ? { type: "integer" } : { const: status },
            ),
            headers: Object.freeze({ type: "object" }),
            body,
          }),
          required: Object.freeze(["statusCode"]),
        },
        parts,
        "output",
      )
      notes.push(...sealed.notes())
      errors.push(
        Object.freeze({
          code: `HTTP_${response.code.toUpperCase()}`,
          description: response.description,
          schema: sealed.schema,
          ...(status !== undefined && { httpStatus: status }),
        }),
      )
    }
    return { errors, notes }
  }

  #answer(response: Response, parts: Parts): SchemaNode {
    if (response.isEmpty)
      return response.code.startsWith("20") && response.code >= "204" ? NOTHING : ANYTHING
    const media =
      response.media.find((one) => one.class === "json") ??
      response.media.find((one) => !isStream(one.class)) ??
      (response.media[0] as Media)
    return this.#value(media, parts, "output")
  }

  #value(media: Media, parts: Parts, view: View): SchemaNode {
    if (media.class === "binary") return BYTES
    if (media.class === "text") {
      if (media.schema !== undefined && !this.#isText(media.schema)) {
        parts.note(
          media.place.pointer,
          `A ${media.type} body is given as text; its schema is not used.`,
        )
      }
      return TEXT
    }
    if (media.schema === undefined) return ANYTHING
    return parts.take(this.#convert(media.schema, view))
  }

  #isText(schema: Place): boolean {
    const place = this.#document.follow(schema.value, schema.file, schema.pointer)
    if (isBroken(place) || !isPlainRecord(place.value)) return true
    const { type } = place.value
    return type === "string" || type === undefined
  }

  #body(body: Body, parts: Parts): SchemaNode {
    if (body.form !== undefined) return this.#form(body.form, parts)
    const { media } = body
    const structured = media.filter((one) => one.class !== "text" && one.class !== "binary")
    // Text and bytes beside a structured type stand for the same thing in another notation.
    const chosen = structured.length > 0 ? structured : media
    const found = new Map<unknown, SchemaNode>()
    for (const one of chosen) {
      const raw = one.schema?.value
      const ref = isPlainRecord(raw) && typeof raw["$ref"] === "string" ? raw["$ref"] : raw
      const key = one.class === "text" || one.class === "binary" ? one.class : ref
      if (!found.has(key)) found.set(key, this.#value(one, parts, "input"))
    }
    const schemas = [...found.values()]
    if (schemas.includes(ANYTHING)) return ANYTHING
    return schemas.length === 1
      ? (schemas[0] as SchemaNode)
      : Object.freeze({ anyOf: Object.freeze(schemas) })
  }

  #form(fields: readonly Place[], parts: Parts): SchemaNode {
    const properties: Record<string, SchemaNode> = {}
    const required: string[] = []
    for (const field of fields) {
      const raw = field.value as Raw
      const name = String(raw["name"])
      setOwn(properties, name, parts.take(this.#legacy(field)))
      if (raw["required"] === true) required.push(name)
    }
    return Object.freeze({
      type: "object",
      properties: Object.freeze(properties),
      ...(required.length > 0 && { required: Object.freeze(required) }),
    })
  }

  #property(parameter: Parameter): Converted {
    const known = this.#properties.get(parameter.raw)
    if (known !== undefined) return known
    const { schema, raw } = parameter
    const converted =
      schema === undefined
        ? { schema: parameter.in === "path" ? TEXT : ANYTHING, refs: NO_REFS, notes: [] }
        : schema.value === raw
          ? this.#legacy(schema)
          : this.#convert(schema, "input")
    const whole = { ...converted, schema: withParameter(converted.schema, raw) }
    this.#properties.set(raw, whole)
    return whole
  }

  #legacy(place: Place): Converted {
    const raw = place.value as Raw
    const schema: Record<string, unknown> = {}
    for (const key of Object.keys(raw)) {
      if (!NOT_SCHEMA.has(key)) setOwn(schema, key, raw[key])
    }
    return this.#convert({ ...place, value: schema }, "input")
  }

  #convert(place: Place, view: View): Converted {
    return this.#store.convert(place.value, place.file, place.pointer, view)
  }

  #seal(node: SchemaNode, parts: Parts, view: View): Sealed {
    const closure = this.#store.closure(parts.refs, view)
    const object: Raw = node === true ? {} : node === false ? { not: {} } : node
    const schema = Object.freeze(
      closure === undefined ? { ...object } : { ...object, $defs: closure.$defs },
    )
    const notes = (): readonly Note[] =>
      closure === undefined
        ? parts.notes
        : [...parts.notes, ...this.#store.notes(closure.members, view)]
    adoptSchema(schema, [])
    return { schema, notes }
  }
}

/** What the parts of a schema need together. */
class Parts {
  readonly refs: Definition[] = []
  readonly notes: Note[] = []

  take({ schema, refs, notes }: Converted): SchemaNode {
    for (const ref of refs) this.refs.push(ref)
    if (notes.length > 0) this.notes.push(...notes)
    return schema
  }

  note(pointer: string, message: string): void {
    this.notes.push({ pointer, message })
  }
}
