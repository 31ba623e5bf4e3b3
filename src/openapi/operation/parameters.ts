import { getOwn, isPlainRecord } from "../../schema/json.ts"
import { brokenMessage, isBroken } from "../document.ts"
import type { OpenAPIDocument, Place, SourceFile } from "../document.ts"
import { noteAt } from "../note.ts"
import type { Note } from "../note.ts"
import type { RawOperation } from "./list.ts"
import { ORDER, readParameter, undeclared } from "./parameter.ts"
import type { Parameter, Read, SendsHeader } from "./parameter.ts"

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
}

const NOTHING: Listed = { parameters: [], form: [], notes: [] }

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
    const notes = joined.notes.slice()
    const list = joined.parameters.slice()
    this.#addUndeclared(operation, list, notes)
    const { body, form, contentType } = joined
    const isBody = hasBody || body !== undefined || form.length > 0
    return {
      list: withKeys(this.#document, list, isBody, operation, notes),
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
    for (const { parameter, place, note, accept: type } of this.#members(
      members,
      file,
      pointer,
      0,
    )) {
      if (note !== undefined) notes.push(note)
      accept ??= type
      if (parameter !== undefined) {
        if (hasSame(parameters, parameter)) continue
        if (isLegacy && isHeader(parameter, "content-type")) {
          contentType ??= contentTypeOf(parameter.raw)
        }
        parameters.push(parameter)
      } else if (place !== undefined) {
        if ((place.value as Raw)["in"] === "body") body ??= place
        else form.push(place)
      }
    }
    const found = { parameters, body, form, contentType, accept, notes }
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

  #addUndeclared(operation: RawOperation, list: Parameter[], notes: Note[]): void {
    const { path } = operation
    if (!path.includes("{")) return
    for (const name of templateNames(path)) {
      if (list.some((parameter) => parameter.in === "path" && parameter.name === name)) continue
      const message = `The path has {${name}}, which no parameter declares; it is taken for a required text.`
      notes.push(noteAt(this.#document, operation, message))
      let parameter = this.#undeclared.get(name)
      if (parameter === undefined) this.#undeclared.set(name, (parameter = undeclared(name)))
      list.push(parameter)
    }
  }
}

/** An operation's own parameters, and those of its path that it does not override. */
function joinLists(own: Listed, shared: Listed): Listed {
  const parameters = own.parameters.slice()
  for (const parameter of shared.parameters) {
    if (!hasSame(own.parameters, parameter)) parameters.push(parameter)
  }
  const ownForm = new Set(own.form.map(nameOf))
  return {
    parameters,
    body: own.body ?? shared.body,
    form: [...own.form, ...shared.form.filter((place) => !ownForm.has(nameOf(place)))],
    contentType: own.contentType ?? shared.contentType,
    accept: own.accept ?? shared.accept,
    notes: [...own.notes, ...shared.notes],
  }
}

function hasSame(parameters: readonly Parameter[], wanted: Parameter): boolean {
  for (const parameter of parameters) {
    if (parameter.name === wanted.name && parameter.in === wanted.in) return true
  }
  return false
}

function nameOf(place: Place): unknown {
  return (place.value as Raw)["name"]
}

/** The variables of a path template. */
function templateNames(path: string): string[] {
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

function isHeader(parameter: Parameter, name: string): boolean {
  return parameter.in === "header" && parameter.name.toLowerCase() === name
}

function contentTypeOf(raw: Raw): string | undefined {
  const preset = getOwn(raw, "default") ?? (Array.isArray(raw["enum"]) ? raw["enum"][0] : undefined)
  return typeof preset === "string" ? preset : undefined
}

function withKeys(
  document: OpenAPIDocument,
  parameters: readonly Parameter[],
  hasBody: boolean,
  operation: RawOperation,
  notes: Note[],
): readonly Parameter[] {
  const taken = new Set<string>(hasBody ? ["body"] : [])
  const before = taken.size
  for (const { name } of parameters) taken.add(name)
  if (taken.size === before + parameters.length) return parameters
  // Plain names first, wherever the parameters stand in the document.
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
    const message = `Another input is called "${name}" as well; the ${parameter.in} parameter is given as "${key}".`
    notes.push(noteAt(document, operation, message, true))
  }
  return parameters.map((parameter) => {
    const key = keys.get(parameter)
    return key === undefined ? parameter : { ...parameter, key }
  })
}
