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
interface Listed extends LegacyBody {
  readonly parameters: readonly Parameter[]
  readonly accept: string | undefined
  readonly notes: readonly Note[]
  /** Some may have to be told apart: they share a name, or one is called like the body. */
  readonly isCrowded: boolean
}

const NO_PARAMETERS: readonly Parameter[] = []
const NO_FORM: readonly Place[] = []
const NO_NOTES: readonly Note[] = []

const NOTHING: Listed = {
  parameters: NO_PARAMETERS,
  body: undefined,
  form: NO_FORM,
  contentType: undefined,
  accept: undefined,
  notes: NO_NOTES,
  isCrowded: false,
}

/** A list that is being read; lists of which most stay empty are made when something comes. */
class Listing implements Listed {
  readonly parameters: Parameter[] = []
  body: Place | undefined = undefined
  form: readonly Place[] = NO_FORM
  contentType: string | undefined = undefined
  accept: string | undefined = undefined
  notes: readonly Note[] = NO_NOTES
  isCrowded = false

  addAll(reads: readonly Read[]): void {
    for (let index = 0; index < reads.length; index++) this.add(reads[index] as Read)
  }

  add({ parameter, place, note, accept }: Read): void {
    if (note !== undefined) this.note(note)
    this.accept ??= accept
    if (parameter !== undefined) this.#addParameter(parameter)
    else if (place === undefined) return
    else if ((place.value as Raw)["in"] === "body") this.body ??= place
    else this.form = [...this.form, place]
  }

  note(note: Note): void {
    this.notes = [...this.notes, note]
  }

  #addParameter(parameter: Parameter): void {
    const { parameters } = this
    const same = findNamed(parameters, parameter)
    if (same === "same") return
    this.isCrowded ||= same === "named" || parameter.name === "body"
    parameters.push(parameter)
  }
}

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
    const found = new Listing()
    const followed = this.#document.follow(declared.value, declared.file, declared.pointer)
    if (isBroken(followed)) {
      const message = `${brokenMessage(followed)} The parameters are left out.`
      found.note(noteAt(this.#document, declared, message))
    } else if (!Array.isArray(followed.value)) {
      const message = `"parameters" must be a list; it is left out.`
      found.note(noteAt(this.#document, followed, message))
    } else this.#addMembers(followed.value, followed, found)
    if (this.#document.version === "2.0") found.contentType = declaredType(found.parameters)
    if (isShared) this.#shared = { list: declared.value, found }
    return found
  }

  #addMembers(members: readonly unknown[], { file, pointer }: Place, found: Listing): void {
    for (let index = 0; index < members.length; index++) {
      const value = members[index]
      const at = `${pointer}/${index}`
      if (isPlainRecord(value) && value["$ref"] === undefined) {
        found.add(this.#read({ value, file, pointer: at }))
      } else found.addAll(this.#readsAt(value, file, at, 0))
    }
  }

  /** What a member of a list refers to is read once, however many lists have it. */
  #readsAt(raw: unknown, file: SourceFile, pointer: string, depth: number): readonly Read[] {
    const ref = isPlainRecord(raw) ? raw["$ref"] : undefined
    if (typeof ref !== "string") return this.#readAt(raw, file, pointer, depth)
    let known = this.#byRef.get(file)
    if (known === undefined) this.#byRef.set(file, (known = new Map()))
    let reads = known.get(ref)
    if (reads === undefined) {
      // Until it has been read: a list may have itself among its members.
      known.set(ref, [])
      reads = this.#readAt(raw, file, pointer, depth)
      known.set(ref, reads)
    }
    return reads
  }

  /** One parameter, or those of a list that stands where one should be. */
  #readAt(raw: unknown, file: SourceFile, pointer: string, depth: number): readonly Read[] {
    const place = this.#document.follow(raw, file, pointer)
    if (isBroken(place)) {
      const message = `${brokenMessage(place)} The parameter is left out.`
      return [{ note: noteAt(this.#document, { file, pointer }, message) }]
    }
    if (!Array.isArray(place.value) || depth >= MAX_LISTS) return [this.#read(place)]
    return place.value.flatMap((member: unknown, index) =>
      this.#readsAt(member, place.file, `${place.pointer}/${index}`, depth + 1),
    )
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

/** What a `Content-Type` header says that is declared as a parameter. */
function declaredType(parameters: readonly Parameter[]): string | undefined {
  for (let index = 0; index < parameters.length; index++) {
    const { in: location, name, raw } = parameters[index] as Parameter
    if (location !== "header" || name.toLowerCase() !== "content-type") continue
    const choices = raw["enum"]
    const preset = getOwn(raw, "default") ?? (Array.isArray(choices) ? choices[0] : undefined)
    if (typeof preset === "string") return preset
  }
  return undefined
}
