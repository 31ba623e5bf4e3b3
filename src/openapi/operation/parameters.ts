import { getOwn, isPlainRecord } from "../../schema/json.ts"
import { brokenMessage, isBroken } from "../document.ts"
import type { OpenAPIDocument, Place, SourceFile } from "../document.ts"
import { noteAt } from "../note.ts"
import type { Note } from "../note.ts"
import type { RawOperation } from "./list.ts"
import { withKeys } from "./input-keys.ts"
import { readParameter, undeclared } from "./parameter.ts"
import type { Parameter, Read, SendsHeader } from "./parameter.ts"
import { undeclaredNames } from "./path-variables.ts"

type Raw = Readonly<Record<string, unknown>>

/** What Swagger 2.0 writes among the parameters, and later versions apart. */
export interface LegacyBody {
  readonly body?: Place | undefined
  readonly form: readonly Place[]
  /** Of a `Content-Type` header that is declared as a parameter. */
  readonly contentType?: string | undefined
}

/** The parameters of an operation. */
export interface Parameters {
  readonly list: readonly Parameter[]
  readonly legacy: LegacyBody
  /** What a header `Accept` says by default. */
  readonly accept: string | undefined
  readonly notes: readonly Note[]
}

/** What a list of parameters in the document holds. */
interface Listed {
  readonly parameters: readonly Parameter[]
  readonly body?: Place | undefined
  readonly form: readonly Place[]
  readonly contentType?: string | undefined
  readonly accept?: string | undefined
  readonly notes: readonly Note[]
  /** Some may have to be told apart: they share a name, or one is called like the body. */
  readonly isCrowded: boolean
}

const NOTHING: Listed = { parameters: [], form: [], notes: [], isCrowded: false }

/** Lists within lists of parameters. */
const MAX_LISTS = 8

/** Reads parameters; those that operations share are read once. */
export class ParameterReader {
  readonly #document: OpenAPIDocument
  readonly #byRef = new Map<SourceFile, Map<string, readonly Read[]>>()
  /** The list of the path that was read last: its operations follow each other. */
  #shared: { readonly list: unknown; readonly found: Listed } | undefined
  readonly #undeclared = new Map<string, Parameter>()

  readonly #sends: SendsHeader

  constructor(document: OpenAPIDocument, sends: SendsHeader) {
    this.#document = document
    this.#sends = sends
  }

  /**
   * The parameters of an operation: its own, then those of its path that it does not override.
   *
   * Each gets a key in the input. Of several that share a name, the first (path before query before
   * header before cookie) has the plain name and the others say where they go: `query_id`.
   */
  read(operation: RawOperation, hasBody: boolean): Parameters {
    const own = this.#list(operation.member("parameters"), false)
    const shared = this.#list(operation.shared("parameters"), true)
    const joined = shared === NOTHING ? own : joinLists(own, shared)
    const missing = undeclaredNames(operation.path, joined.parameters)
    const isCopied = missing.length > 0 || joined.isCrowded
    const notes = isCopied ? joined.notes.slice() : joined.notes
    const { body, form, contentType } = joined
    let list = joined.parameters
    if (isCopied) {
      const declared = [...list, ...this.#undeclaredOf(missing, operation, notes as Note[])]
      const isBody = hasBody || body !== undefined || form.length > 0
      list = withKeys(this.#document, declared, isBody, operation, notes as Note[])
    }
    return {
      list,
      legacy: { body, form, contentType },
      accept: joined.accept,
      notes,
    }
  }

  #list(declared: Place | undefined, isShared: boolean): Listed {
    if (declared === undefined) return NOTHING
    const known = isShared ? this.#shared : undefined
    if (known !== undefined && known.list === declared.value) return known.found
    const notes: Note[] = []
    const parameters: Parameter[] = []
    const form: Place[] = []
    let body: Place | undefined
    let contentType: string | undefined
    let accept: string | undefined
    let isCrowded = false
    const isLegacy = this.#document.version === "2.0"
    const followed = this.#document.follow(declared.value, declared.file, declared.pointer)
    const { value: list, file, pointer } = isBroken(followed) ? declared : followed
    const members: readonly unknown[] = Array.isArray(list) ? list : []
    if (isBroken(followed)) {
      const message = `${brokenMessage(followed)} The parameters are left out.`
      notes.push(noteAt(this.#document, declared, message))
    } else if (!Array.isArray(list)) {
      const message = `"parameters" must be a list; it is left out.`
      notes.push(noteAt(this.#document, followed, message))
    }
    const reads = this.#members(members, file, pointer, 0)
    for (let index = 0; index < reads.length; index++) {
      const { parameter, place, note, accept: type } = reads[index] as Read
      if (note !== undefined) notes.push(note)
      accept ??= type
      if (parameter !== undefined) {
        const same = findNamed(parameters, parameter)
        if (same === "same") continue
        isCrowded ||= same === "named" || parameter.name === "body"
        if (isLegacy && isHeader(parameter, "content-type")) {
          contentType ??= contentTypeOf(parameter.raw)
        }
        parameters.push(parameter)
      } else if (place !== undefined) {
        if ((place.value as Raw)["in"] === "body") body ??= place
        else form.push(place)
      }
    }
    const found = { parameters, body, form, contentType, accept, notes, isCrowded }
    if (isShared) this.#shared = { list: declared.value, found }
    return found
  }

  /** What a list holds; what a member refers to is read once, however many lists have it. */
  #members(
    members: readonly unknown[],
    file: SourceFile,
    pointer: string,
    depth: number,
  ): readonly Read[] {
    const found: Read[] = []
    for (let index = 0; index < members.length; index++) {
      const raw = members[index]
      const at = `${pointer}/${index}`
      const ref = isPlainRecord(raw) ? raw["$ref"] : undefined
      if (ref === undefined && isPlainRecord(raw)) {
        found.push(this.#read({ value: raw, file, pointer: at }))
        continue
      }
      if (typeof ref !== "string") {
        found.push(...this.#readAt(raw, file, at, depth))
        continue
      }
      let known = this.#byRef.get(file)
      if (known === undefined) this.#byRef.set(file, (known = new Map()))
      let reads = known.get(ref)
      if (reads === undefined) {
        // Until it has been read: a list may have itself among its members.
        known.set(ref, [])
        reads = this.#readAt(raw, file, at, depth)
        known.set(ref, reads)
      }
      found.push(...reads)
    }
    return found
  }

  /** One parameter, or those of a list that stands where one should be. */
  #readAt(raw: unknown, file: SourceFile, pointer: string, depth: number): readonly Read[] {
    const place = this.#document.follow(raw, file, pointer)
    if (isBroken(place)) {
      const message = `${brokenMessage(place)} The parameter is left out.`
      return [{ note: noteAt(this.#document, { file, pointer }, message) }]
    }
    if (Array.isArray(place.value) && depth < MAX_LISTS) {
      return this.#members(place.value, place.file, place.pointer, depth + 1)
    }
    return [this.#read(place)]
  }

  #read(place: Place): Read {
    const { value } = place
    if (
      !isPlainRecord(value) ||
      typeof value["name"] !== "string" ||
      typeof value["in"] !== "string"
    ) {
      const message = `A parameter needs a "name" and "in"; it is left out.`
      return { note: noteAt(this.#document, place, message) }
    }
    const location = value["in"]
    if (this.#document.version === "2.0" && (location === "body" || location === "formData")) {
      return { place }
    }
    return readParameter(this.#document, place, this.#sends)
  }

  #undeclaredOf(names: readonly string[], operation: RawOperation, notes: Note[]): Parameter[] {
    return names.map((name) => {
      const message = `The path has {${name}}, which no parameter declares; it is taken for a required text.`
      notes.push(noteAt(this.#document, operation, message))
      let parameter = this.#undeclared.get(name)
      if (parameter === undefined) this.#undeclared.set(name, (parameter = undeclared(name)))
      return parameter
    })
  }
}

/** An operation's own parameters, and those of its path that it does not override. */
function joinLists(own: Listed, shared: Listed): Listed {
  const parameters = own.parameters.slice()
  let isCrowded = own.isCrowded || shared.isCrowded
  for (let index = 0; index < shared.parameters.length; index++) {
    const parameter = shared.parameters[index] as Parameter
    const same = findNamed(own.parameters, parameter)
    if (same !== "same") parameters.push(parameter)
    isCrowded ||= same === "named"
  }
  return {
    parameters,
    body: own.body ?? shared.body,
    form: joinForms(own.form, shared.form),
    contentType: own.contentType ?? shared.contentType,
    accept: own.accept ?? shared.accept,
    notes: shared.notes.length === 0 ? own.notes : [...own.notes, ...shared.notes],
    isCrowded,
  }
}

function joinForms(own: readonly Place[], shared: readonly Place[]): readonly Place[] {
  if (shared.length === 0) return own
  const names = new Set(own.map(nameOf))
  return [...own, ...shared.filter((place) => !names.has(nameOf(place)))]
}

/** Whether a list has the same parameter, or one of that name in another place. */
function findNamed(
  parameters: readonly Parameter[],
  { name, in: location }: Parameter,
): "same" | "named" | undefined {
  let found: "named" | undefined
  for (let index = 0; index < parameters.length; index++) {
    const parameter = parameters[index] as Parameter
    if (parameter.name !== name) continue
    if (parameter.in === location) return "same"
    found = "named"
  }
  return found
}

function nameOf(place: Place): unknown {
  return (place.value as Raw)["name"]
}

function isHeader(parameter: Parameter, name: string): boolean {
  return parameter.in === "header" && parameter.name.toLowerCase() === name
}

function contentTypeOf(raw: Raw): string | undefined {
  const preset = getOwn(raw, "default") ?? (Array.isArray(raw["enum"]) ? raw["enum"][0] : undefined)
  return typeof preset === "string" ? preset : undefined
}
