// Reads the parameters of operations, once for all operations that declare the same ones.
import { jsonText } from "../../../internal/message-text.ts"
import type { TSchema } from "typebox"
import { isRecord } from "../../../internal/guards.ts"
import { getOwn } from "../../../schema/json.ts"
import { brokenRefMessage, follow, isBroken, noteAt } from "../document.ts"
import type { Note, OpenAPIDocument, Place, Raw, SourceFile } from "../document.ts"
import type { RawOperation } from "./list.ts"
import {
  matchVariables,
  readParameter,
  undeclaredNames,
  undeclaredParameter,
  withKeys,
} from "./parameter.ts"
import type { Parameter, ParameterResult, SendsHeader } from "./parameter.ts"

/** The parameters of an operation. */
export interface Parameters extends LegacyBody, Pick<ParameterList, "accept" | "notes"> {
  readonly list: readonly Parameter[]
  /** The input schema without a body, cached since many operations share their parameters. */
  input?: TSchema | undefined
}

/** The body, which Swagger 2.0 declares among the parameters. */
export type LegacyBody = Readonly<Pick<ParameterList, "body" | "form" | "contentType">>

const NO_FORM: readonly Place[] = []
const NO_NOTES: readonly Note[] = []
const NO_NAMES: readonly string[] = []

/** A parsed list of parameters; its arrays are created on first use, since most stay empty. */
class ParameterList {
  readonly list: Parameter[] = []
  body: Place | undefined = undefined
  form: readonly Place[] = NO_FORM
  /** The value of a `Content-Type` header that is declared as a parameter. */
  contentType: string | undefined = undefined
  /** The default of an `Accept` header. */
  accept: string | undefined = undefined
  notes: readonly Note[] = NO_NOTES
  /** Names of the path parameters. */
  variables: readonly string[] = NO_NAMES
  /** Some need unique keys: they share a name, or one is called "body". */
  isCrowded = false
  input: TSchema | undefined = undefined
  /** This list joined with lists of paths, cached. */
  joined: Map<ParameterList, ParameterList> | undefined = undefined

  addAll(reads: readonly ParameterResult[]): void {
    for (let index = 0; index < reads.length; index++) this.add(reads[index] as ParameterResult)
  }

  add({ parameter, place, note, accept }: ParameterResult): void {
    if (note !== undefined) this.note(note)
    this.accept ??= accept
    if (parameter !== undefined) this.addParameter(parameter)
    else if (place === undefined) return
    else if ((place.value as Raw)["in"] === "body") this.body ??= place
    else this.form = [...this.form, place]
  }

  note(note: Note): void {
    this.notes = [...this.notes, note]
  }

  addParameter(parameter: Parameter): void {
    const same = findNamed(this.list, parameter)
    if (same === "same") return
    this.isCrowded ||= same === "named" || parameter.name === "body"
    this.list.push(parameter)
    if (parameter.in === "path") this.variables = [...this.variables, parameter.name]
  }
}

/** Maximum nesting of lists of parameters. */
const MAX_LISTS = 8

/** Reads parameters; shared ones are read once. */
export class ParameterReader {
  readonly #document: OpenAPIDocument
  readonly #byRef = new Map<SourceFile, Map<string, readonly ParameterResult[]>>()
  /** Lists of the document itself by their JSON: many are identical. */
  readonly #byText = new Map<string, ParameterList>()
  /** The list of the last path: its operations are read in sequence. */
  #shared:
    | { readonly list: unknown; readonly isKept: boolean; readonly parameters: ParameterList }
    | undefined
  readonly #undeclared = new Map<string, Parameter>()
  readonly #nothing = new ParameterList()
  readonly #sends: SendsHeader

  constructor(document: OpenAPIDocument, sends: SendsHeader) {
    this.#document = document
    this.#sends = sends
  }

  /**
   * The parameters of an operation: its own, then those of its path that it does not override.
   *
   * Each gets a key in the input. Of several that share a name, the first (path before query before
   * header before cookie) has the plain name and the others get a prefix: `query_id`.
   *
   * For notes they are read at their own place; otherwise an identical list may be reused.
   */
  read(operation: RawOperation, hasBody: boolean, isNoted: boolean): Parameters {
    const isKept = !isNoted && this.#document.isTree && operation.isDirect
    const joined = this.#joined(operation, isKept)
    const undeclared = undeclaredNames(operation.path, joined.variables)
    if (undeclared.length === 0 && !joined.isCrowded) return joined
    const { body, form, contentType, accept } = joined
    const notes = joined.notes.slice()
    const { list, missing } = matchVariables(operation.path, joined.list, undeclared)
    const declared = [...list, ...this.#undeclaredOf(missing, operation, notes)]
    const isBody = hasBody || body !== undefined || form.length > 0
    const keyed = withKeys(declared, isBody, operation, notes)
    return { list: keyed, body, form, contentType, accept, notes }
  }

  /** The list of an operation joined with that of its path. */
  #joined(operation: RawOperation, isKept: boolean): ParameterList {
    const own = this.#listOf(operation, operation.raw["parameters"], false, isKept)
    const list = isKept ? operation.pathRaw["parameters"] : operation.shared("parameters")?.value
    if (list === undefined || list === null) return own
    if (this.#shared?.list !== list || this.#shared.isKept !== isKept) {
      const parameters = this.#listOf(operation, list, true, isKept)
      this.#shared = { list, isKept, parameters }
    }
    const { parameters } = this.#shared
    if (own === this.#nothing) return parameters
    let joined = isKept ? own.joined?.get(parameters) : undefined
    if (joined === undefined) {
      joined = joinLists(own, parameters)
      if (isKept) (own.joined ??= new Map()).set(parameters, joined)
    }
    return joined
  }

  /** Reads a list; with `isKept`, only if it is the first with this text. */
  #listOf(
    operation: RawOperation,
    list: unknown,
    isShared: boolean,
    isKept: boolean,
  ): ParameterList {
    if (isKept && (list === undefined || list === null)) return this.#nothing
    const text = isKept ? (jsonText(list) ?? "") : ""
    const cached = text === "" ? undefined : this.#byText.get(text)
    if (cached !== undefined) return cached
    const place = isShared ? operation.shared("parameters") : operation.member("parameters")
    const parameters = this.#list(place)
    if (text !== "") this.#byText.set(text, parameters)
    return parameters
  }

  #list(declared: Place | undefined): ParameterList {
    if (declared === undefined) return this.#nothing
    const parameters = new ParameterList()
    const followed = follow(declared)
    if (isBroken(followed)) {
      const message = `${brokenRefMessage(followed)} The parameters are left out.`
      parameters.note(noteAt(declared, message))
    } else if (!Array.isArray(followed.value)) {
      const message = `"parameters" must be a list; it is left out.`
      parameters.note(noteAt(followed, message))
    } else this.#addMembers(followed.value, followed, parameters)
    if (this.#document.version === "2.0") parameters.contentType = declaredType(parameters.list)
    return parameters
  }

  #addMembers(members: readonly unknown[], { file, pointer }: Place, list: ParameterList): void {
    for (let index = 0; index < members.length; index++) {
      const value = members[index]
      const at = `${pointer}/${index}`
      if (isRecord(value) && value["$ref"] === undefined) {
        list.add(this.#read({ value, file, pointer: at }))
      } else list.addAll(this.#readsAt(value, file, at, 0))
    }
  }

  /** Reads a member of a list; the target of a reference is read once. */
  #readsAt(
    raw: unknown,
    file: SourceFile,
    pointer: string,
    depth: number,
  ): readonly ParameterResult[] {
    const ref = isRecord(raw) ? raw["$ref"] : undefined
    if (typeof ref !== "string") return this.#readAt(raw, file, pointer, depth)
    let byRef = this.#byRef.get(file)
    if (byRef === undefined) this.#byRef.set(file, (byRef = new Map()))
    let reads = byRef.get(ref)
    if (reads === undefined) {
      // A list may contain itself.
      byRef.set(ref, [])
      reads = this.#readAt(raw, file, pointer, depth)
      byRef.set(ref, reads)
    }
    return reads
  }

  /** Reads one parameter, or a list in its place. */
  #readAt(
    raw: unknown,
    file: SourceFile,
    pointer: string,
    depth: number,
  ): readonly ParameterResult[] {
    const place = follow({ value: raw, file, pointer })
    if (isBroken(place)) {
      const message = `${brokenRefMessage(place)} The parameter is left out.`
      return [{ note: noteAt({ file, pointer }, message) }]
    }
    if (!Array.isArray(place.value) || depth >= MAX_LISTS) return [this.#read(place)]
    return place.value.flatMap((member: unknown, index) =>
      this.#readsAt(member, place.file, `${place.pointer}/${index}`, depth + 1),
    )
  }

  #read(place: Place): ParameterResult {
    const { value } = place
    if (!isRecord(value) || typeof value["name"] !== "string" || typeof value["in"] !== "string") {
      const message = `A parameter needs a "name" and "in"; it is left out.`
      return { note: noteAt(place, message) }
    }
    const location = value["in"]
    if (this.#document.version === "2.0" && (location === "body" || location === "formData")) {
      return { place }
    }
    return readParameter(place, this.#sends)
  }

  #undeclaredOf(names: readonly string[], operation: RawOperation, notes: Note[]): Parameter[] {
    return names.map((name) => {
      const message = `The path has {${name}}, which no parameter declares; it is treated as a required string.`
      notes.push(noteAt(operation, message))
      let parameter = this.#undeclared.get(name)
      if (parameter === undefined)
        this.#undeclared.set(name, (parameter = undeclaredParameter(name)))
      return parameter
    })
  }
}

/** Joins an operation's own parameters with those of its path that it does not override. */
function joinLists(own: ParameterList, shared: ParameterList): ParameterList {
  const joined = new ParameterList()
  for (let index = 0; index < own.list.length; index++) {
    joined.list.push(own.list[index] as Parameter)
  }
  joined.variables = own.variables
  joined.isCrowded = own.isCrowded || shared.isCrowded
  for (let index = 0; index < shared.list.length; index++) {
    joined.addParameter(shared.list[index] as Parameter)
  }
  joined.body = own.body ?? shared.body
  joined.form = joinForms(own.form, shared.form)
  joined.contentType = own.contentType ?? shared.contentType
  joined.accept = own.accept ?? shared.accept
  joined.notes = shared.notes.length === 0 ? own.notes : [...own.notes, ...shared.notes]
  return joined
}

function joinForms(own: readonly Place[], shared: readonly Place[]): readonly Place[] {
  if (shared.length === 0) return own
  const names = new Set(own.map(nameOf))
  return [...own, ...shared.filter((place) => !names.has(nameOf(place)))]
}

/** Whether a list has the same parameter, or one of that name in another location. */
function findNamed(
  parameters: readonly Parameter[],
  { name, in: location }: Parameter,
): "same" | "named" | undefined {
  let match: "named" | undefined
  for (let index = 0; index < parameters.length; index++) {
    const parameter = parameters[index] as Parameter
    if (parameter.name !== name) continue
    if (parameter.in === location) return "same"
    match = "named"
  }
  return match
}

function nameOf(place: Place): unknown {
  return (place.value as Raw)["name"]
}

/** The value of a `Content-Type` header that is declared as a parameter. */
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
