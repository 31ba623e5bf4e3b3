// Builds the schemas of an operation from those of its document.
import type { TSchema } from "typebox"
import { adoptSchema } from "../../../schema/trusted-schemas.ts"
import { FILE_MARK } from "../../../schema/files.ts"
import { isRecord } from "../../../internal/guards.ts"
import { NO_VALUE, setOwn, type JsonSchema } from "../../../schema/json.ts"
import type { ErrorDefinition } from "../../../core/types.ts"
import { noteAt, objectAt, type Note, type Place, type Raw } from "../document.ts"
import type { Converted, Definition, SchemaNode, View } from "../schema/definition.ts"
import { closeSchema } from "../schema/closed.ts"
import { NO_NOTES, NO_REFS } from "../schema/convert.ts"
import { onlyRef } from "../schema/lower.ts"
import type { SchemaStore } from "../schema/store.ts"
import type { Body, FlatProperty } from "./body.ts"
import { described, withParameter } from "./annotate-schema.ts"
import { isKnownBinary, isStream, isYaml, type Media } from "./media.ts"
import type { Parameter } from "./parameter.ts"
import type { DeclaredProblem, Problems } from "./problems.ts"
import type { Response } from "./responses.ts"
import { isWatch } from "./stream-plan.ts"
import { isPlainText, scalarTypesOf } from "./text-scalars.ts"

/** A schema that accepts any value. */
export const ANYTHING: JsonSchema = constant({})
const TEXT = constant({ type: "string" })
const ANY_OBJECT = constant({ type: "object" })
const BYTES = constant({ format: "binary" })
/** The schema of a response without content. */
export const NOTHING: JsonSchema = constant({ ...NO_VALUE })
const NONE: readonly string[] = Object.freeze([])

function constant(schema: JsonSchema): JsonSchema {
  adoptSchema(schema)
  return Object.freeze(schema)
}

function isConstant(node: SchemaNode): node is JsonSchema {
  return node === ANYTHING || node === TEXT || node === BYTES || node === NOTHING
}

/** Members of a Swagger 2.0 parameter that do not belong to its schema. */
const NOT_SCHEMA: ReadonlySet<string> = new Set([
  ...["name", "in", "required", "collectionFormat", "allowEmptyValue"],
])

/** Builds the schemas of operations from those of the document. */
export class SchemaBuilder {
  readonly #store: SchemaStore
  readonly #references: Record<View, Map<string, JsonSchema>> = {
    input: new Map(),
    output: new Map(),
  }

  constructor(store: SchemaStore) {
    this.#store = store
  }

  /** Builds the input schema: an object with a property for each parameter, and the body. */
  input(
    parameters: readonly Parameter[],
    body: Body | undefined,
    flat: readonly FlatProperty[] | undefined,
    notes?: Note[],
  ): TSchema {
    const parts = new Parts()
    const properties: Record<string, SchemaNode> = {}
    const required: string[] = []
    for (let index = 0; index < parameters.length; index++) {
      const parameter = parameters[index] as Parameter
      setOwn(properties, parameter.key, parts.take(this.#property(parameter)))
      if (parameter.required) required.push(parameter.key)
    }
    if (flat !== undefined) {
      for (const { key, place, required: needed } of flat) {
        setOwn(properties, key, parts.take(this.#convert(place, "input")))
        if (needed) required.push(key)
      }
    }
    if (body !== undefined && flat === undefined) {
      const schema = this.#body(body, parts)
      setOwn(properties, "body", described(schema, body.description))
      if (body.required) required.push("body")
    }
    const schema = {
      type: "object",
      properties,
      // Copied to its exact length, to save memory.
      required: required.length === 0 ? NONE : required.slice(),
      additionalProperties: false,
    }
    return this.#seal(schema, parts, "input", notes, true)
  }

  /** Builds the output schema of the successes; a union if they differ. */
  output(success: readonly Response[], method: string, notes?: Note[]): TSchema {
    if (method === "HEAD") return NOTHING
    const parts = new Parts()
    const distinct = new Map<unknown, SchemaNode>()
    const hasContent = success.some((response) => !response.isEmpty)
    for (const response of success) {
      // Beside a response with content, one without it means no data.
      const isSilent = response.isEmpty && hasContent
      const schema = isSilent ? NOTHING : this.#answer(response, parts)
      distinct.set(onlyRef(schema) ?? schema, schema)
    }
    const schemas = [...distinct.values()]
    const [first] = schemas
    const isOpen = first === undefined || schemas.includes(ANYTHING)
    const union = isOpen ? ANYTHING : schemas.length === 1 ? first : { anyOf: schemas }
    return this.#seal(union, parts, "output", notes)
  }

  /** Builds an output schema that is only a reference; `undefined` if it cannot be resolved. */
  referred(schema: Raw): TSchema | undefined {
    const { entry } = this.#store.document
    const converted = this.#store.convert(schema, entry, "", "output")
    if (onlyRef(converted.schema) === undefined) return undefined
    return this.#seal(converted.schema, converted, "output", undefined)
  }

  /** Builds the schema of a stream's items. */
  item(media: Media, notes?: Note[]): TSchema {
    const schema = media.itemSchema ?? media.schema
    if (schema === undefined) return ANYTHING
    if (isWatch(media)) return ANYTHING
    const parts = new Parts()
    return this.#seal(parts.take(this.#convert(schema, "output")), parts, "output", notes)
  }

  /** Builds the declared errors, with the schemas of their `details`. */
  errors(failure: readonly Response[], problems: Problems, notes?: Note[]): ErrorDefinition[] {
    const definitions = Array.from(problems.declared.values(), (one) => this.#problem(one, notes))
    const codes = new Set(problems.declared.keys())
    for (const response of failure) {
      const code = `HTTP_${response.code.toUpperCase()}`
      if (problems.exhausted.has(response) || codes.has(code)) continue
      codes.add(code)
      definitions.push(this.#failure(code, response, notes))
    }
    return definitions
  }

  /** Builds the error of a response: its status, headers and body. */
  #failure(code: string, response: Response, notes: Note[] | undefined): ErrorDefinition {
    const parts = new Parts()
    const body = response.media.length === 0 ? ANYTHING : this.#answer(response, parts)
    const status = /^\d{3}$/.test(response.code) ? Number(response.code) : undefined
    const schema = {
      type: "object",
      properties: Object.freeze({
        statusCode: Object.freeze(status === undefined ? { type: "integer" } : { const: status }),
        headers: Object.freeze({ type: "object" }),
        body,
      }),
      required: Object.freeze(["statusCode"]),
    }
    return Object.freeze({
      code,
      description: response.description,
      schema: this.#seal(schema, parts, "output", notes),
      ...(status !== undefined && { httpStatus: status }),
    })
  }

  /** Builds the error of a problem, with its own code. */
  #problem(problem: DeclaredProblem, notes: Note[] | undefined): ErrorDefinition {
    const { code, description, status, schemas } = problem
    const parts = new Parts()
    const all = (places: readonly Place[]): SchemaNode =>
      merged(
        "allOf",
        places.map((place) => parts.take(this.#convert(place, "output"))),
      )
    const schema = this.#seal(merged("anyOf", schemas.map(all)), parts, "output", notes)
    return Object.freeze({
      code,
      description,
      schema,
      ...(status !== undefined && { httpStatus: status }),
    })
  }

  #answer(response: Response, parts: Parts): SchemaNode {
    if (response.isEmpty) return ["204", "205"].includes(response.code) ? NOTHING : ANYTHING
    const media =
      response.media.find((one) => one.class === "json") ??
      response.media.find((one) => !isStream(one.class)) ??
      response.media[0]
    // A broken reference accepts anything.
    return media === undefined ? ANYTHING : this.#value(media, parts, "output")
  }

  #value(media: Media, parts: Parts, view: View): SchemaNode {
    if (media.class === "binary" || media.class === "text") {
      const isBytes = media.class === "binary"
      const plain = isBytes ? BYTES : TEXT
      if (media.schema === undefined) return plain
      if (objectAt(media.schema)?.value[FILE_MARK] !== undefined) {
        return parts.take(this.#convert(media.schema, view))
      }
      if (!isBytes && isScalarText(media)) {
        const scalar = parts.take(this.#convert(media.schema, view))
        return view === "output" ? scalar : Object.freeze({ anyOf: [scalar, TEXT] })
      }
      if (this.#isText(media.schema)) return plain
      // JSON is valid YAML, so data can be sent as JSON.
      if (view === "input" && isYaml(media.type)) {
        return Object.freeze({ anyOf: [parts.take(this.#convert(media.schema, view)), TEXT] })
      }
      const how = isBytes ? "bytes" : "text"
      const message = `${media.type} is passed as ${how}; its schema is not used.`
      // For known binary types this is expected.
      parts.notes.push(noteAt(media.place, message, isBytes && isKnownBinary(media.type)))
      return plain
    }
    if (media.schema === undefined) return ANYTHING
    const isForm = media.class === "form" || media.class === "multipart"
    if (view === "input" && isForm && !this.#isObject(media.schema)) {
      const message = `${media.type} is made from an object; its schema is not used.`
      parts.notes.push(noteAt(media.place, message))
      return ANY_OBJECT
    }
    return parts.take(this.#convert(media.schema, view))
  }

  /** Whether a schema may describe an object. */
  #isObject(schema: Place): boolean {
    const place = objectAt(schema)
    if (place === undefined) return true
    const { type, format } = place.value
    if (type === undefined || format === "binary" || type === "file") return true
    return Array.isArray(type) ? type.includes("object") : type === "object"
  }

  #isText(schema: Place): boolean {
    const place = objectAt(schema)
    if (place === undefined) return true
    const { type, properties } = place.value
    if (Array.isArray(type)) return type.includes("string")
    return type === "string" || type === "file" || (type === undefined && properties === undefined)
  }

  #body(body: Body, parts: Parts): SchemaNode {
    if (body.form !== undefined) return this.#form(body.form, parts)
    const { media } = body
    const structured = media.filter((one) => one.class !== "text" && one.class !== "binary")
    // Text and bytes beside a structured type are alternative notations of it.
    const chosen = structured.length > 0 ? structured : media
    const distinct = new Map<unknown, SchemaNode>()
    for (const one of chosen) {
      const raw = one.schema?.value
      const ref = isRecord(raw) && typeof raw["$ref"] === "string" ? raw["$ref"] : raw
      const isPlain = (one.class === "text" && !isYaml(one.type)) || one.class === "binary"
      const key = isPlain ? one.class : ref
      if (!distinct.has(key)) distinct.set(key, this.#value(one, parts, "input"))
    }
    const schemas = [...distinct.values()]
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
    const { schema, raw } = parameter
    if (parameter.converted !== undefined) return parameter.converted
    const converted =
      schema === undefined
        ? { schema: parameter.in === "path" ? TEXT : ANYTHING, refs: NO_REFS, notes: NO_NOTES }
        : schema.value === raw
          ? this.#legacy(schema)
          : this.#convert(schema, "input")
    const whole = withParameter(parameterSchema(converted.schema), raw)
    parameter.converted = whole === converted.schema ? converted : { ...converted, schema: whole }
    return parameter.converted
  }

  #legacy(place: Place): Converted {
    const raw = place.value as Raw
    const schema: Record<string, unknown> = {}
    const keys = Object.keys(raw)
    for (let index = 0; index < keys.length; index++) {
      const key = keys[index] as string
      if (!NOT_SCHEMA.has(key)) setOwn(schema, key, raw[key])
    }
    return this.#convert({ ...place, value: schema }, "input")
  }

  #convert(place: Place, view: View): Converted {
    return this.#store.convert(place.value, place.file, place.pointer, view)
  }

  /** Makes a schema self-contained. A schema that is only a reference is cached. */
  #seal(
    node: SchemaNode,
    parts: Omit<Converted, "schema">,
    view: View,
    notes: Note[] | undefined,
    isOwned = false,
  ): JsonSchema {
    const { refs } = parts
    if (notes !== undefined) {
      notes.push(...parts.notes)
      if (refs.length > 0)
        notes.push(...this.#store.notes(this.#store.closure(refs, view).members, view))
    }
    if (isOwned) return closeSchema(node, refs, this.#store, view, true)
    if (isConstant(node)) return node
    const ref = onlyRef(node)
    if (ref === undefined) return closeSchema(node, refs, this.#store, view)
    let schema = this.#references[view].get(ref)
    if (schema === undefined) {
      schema = closeSchema(node, refs, this.#store, view)
      this.#references[view].set(ref, schema)
    }
    return schema
  }
}

/** Whether a body of this content type is a number, a boolean or null as text. */
function isScalarText({ type, schema }: Media): boolean {
  return isPlainText(type) && scalarTypesOf(schema).length > 0
}

/** The schema of a parameter: binary ones are strings, since parameters cannot carry bytes. */
function parameterSchema(schema: SchemaNode): SchemaNode {
  if (typeof schema === "boolean" || schema["format"] !== "binary") return schema
  return schema["type"] === undefined ? { ...schema, type: "string" } : schema
}

/** Combines several schemas; accepts anything if there are none. */
function merged(keyword: "allOf" | "anyOf", schemas: readonly SchemaNode[]): SchemaNode {
  const [only = ANYTHING] = schemas
  return schemas.length < 2 ? only : Object.freeze({ [keyword]: Object.freeze(schemas) })
}

/** Collects the references and notes of the parts of a schema. */
class Parts {
  readonly refs: Definition[] = []
  readonly notes: Note[] = []

  take({ schema, refs, notes }: Converted): SchemaNode {
    for (let index = 0; index < refs.length; index++) this.refs.push(refs[index] as Definition)
    if (notes.length > 0) this.notes.push(...notes)
    return schema
  }
}
