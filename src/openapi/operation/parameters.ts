import { getOwn, isPlainRecord } from "../../schema/json.ts"
import { brokenMessage, isBroken } from "../document.ts"
import type { OpenAPIDocument, Place, SourceFile } from "../document.ts"
import type { Note } from "../schema/convert.ts"
import type { RawOperation } from "./list.ts"
import { ORDER, readParameter, undeclared } from "./parameter.ts"
import type { Parameter } from "./parameter.ts"

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
  readonly notes: readonly Note[]
}

/** What a list of parameters in the document holds. */
interface Listed {
  readonly parameters: readonly Parameter[]
  readonly body?: Place | undefined
  readonly form: readonly Place[]
  readonly contentType?: string | undefined
  readonly notes: readonly Note[]
}

const NOTHING: Listed = { parameters: [], form: [], notes: [] }

/** Reads parameters; those that operations share are read once. */
export class ParameterReader {
  readonly #document: OpenAPIDocument
  readonly #read = new Map<unknown, Parameter | null>()
  readonly #lists = new Map<unknown, Listed>()
  readonly #undeclared = new Map<string, Parameter>()

  constructor(document: OpenAPIDocument) {
    this.#document = document
  }

  /**
   * The parameters of an operation: its own, then those of its path that it does not override.
   *
   * Each gets a key in the input. Of several that share a name, the first (path before query before
   * header before cookie) has the plain name and the others say where they go: `query_id`.
   */
  read(operation: RawOperation, hasBody: boolean): Parameters {
    const { raw, file, pointer, item, itemFile, itemPointer } = operation
    const own = this.#list(raw["parameters"], file, `${pointer}/parameters`, false)
    const shared = this.#list(item["parameters"], itemFile, `${itemPointer}/parameters`, true)
    const notes: Note[] = [...own.notes, ...shared.notes]
    const list = [...own.parameters]
    for (const parameter of shared.parameters) {
      if (!own.parameters.some((one) => isSame(one, parameter))) list.push(parameter)
    }
    this.#addUndeclared(operation, list, notes)
    const ownForm = new Set(own.form.map(nameOf))
    const legacy: LegacyBody = {
      body: own.body ?? shared.body,
      form: [...own.form, ...shared.form.filter((place) => !ownForm.has(nameOf(place)))],
      contentType: own.contentType ?? shared.contentType,
    }
    const isBody = hasBody || legacy.body !== undefined || legacy.form.length > 0
    return { list: withKeys(list, isBody, operation, notes), legacy, notes }
  }

  #list(list: unknown, file: SourceFile, pointer: string, isShared: boolean): Listed {
    if (list === undefined || list === null) return NOTHING
    const known = isShared ? this.#lists.get(list) : undefined
    if (known !== undefined) return known
    const notes: Note[] = []
    const parameters: Parameter[] = []
    const form: Place[] = []
    let body: Place | undefined
    let contentType: string | undefined
    const isLegacy = this.#document.version === "2.0"
    for (const place of listed(this.#document, list, file, pointer, notes)) {
      const value = place.value as Raw
      const location = value["in"]
      if (isLegacy && location === "body") body ??= place
      else if (isLegacy && location === "formData") form.push(place)
      else {
        const parameter = this.#parameter(place, notes)
        if (parameter === null || parameters.some((one) => isSame(one, parameter))) continue
        if (isLegacy && isHeader(parameter, "content-type")) contentType ??= contentTypeOf(value)
        parameters.push(parameter)
      }
    }
    const found = { parameters, body, form, contentType, notes }
    if (isShared) this.#lists.set(list, found)
    return found
  }

  #parameter(place: Place, notes: Note[]): Parameter | null {
    let found = this.#read.get(place.value)
    if (found === undefined) {
      found = readParameter(this.#document, place, notes) ?? null
      this.#read.set(place.value, found)
    }
    return found
  }

  #addUndeclared(operation: RawOperation, list: Parameter[], notes: Note[]): void {
    const { path, pointer } = operation
    if (!path.includes("{")) return
    for (const name of templateNames(path)) {
      if (list.some((parameter) => parameter.in === "path" && parameter.name === name)) continue
      notes.push({
        pointer,
        message: `The path has {${name}}, which no parameter declares; it is taken for a required text.`,
      })
      let parameter = this.#undeclared.get(name)
      if (parameter === undefined) this.#undeclared.set(name, (parameter = undeclared(name)))
      list.push(parameter)
    }
  }
}

function isSame(one: Parameter, other: Parameter): boolean {
  return one.name === other.name && one.in === other.in
}

function nameOf(place: Place): unknown {
  return (place.value as Raw)["name"]
}

/** The variables of a path template. */
export function templateNames(path: string): string[] {
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

function listed(
  document: OpenAPIDocument,
  list: unknown,
  file: SourceFile,
  pointer: string,
  notes: Note[],
): Place[] {
  const found: Place[] = []
  if (!Array.isArray(list)) {
    notes.push({ pointer, message: `"parameters" must be a list; it is left out.` })
    return found
  }
  for (let index = 0; index < list.length; index++) {
    const at = `${pointer}/${index}`
    const place = document.follow(list[index], file, at)
    if (isBroken(place)) {
      notes.push({ pointer: at, message: `${brokenMessage(place)} The parameter is left out.` })
    } else if (
      !isPlainRecord(place.value) ||
      typeof place.value["name"] !== "string" ||
      typeof place.value["in"] !== "string"
    ) {
      notes.push({ pointer: at, message: `A parameter needs a "name" and "in"; it is left out.` })
    } else found.push(place)
  }
  return found
}

function isHeader(parameter: Parameter, name: string): boolean {
  return parameter.in === "header" && parameter.name.toLowerCase() === name
}

function contentTypeOf(raw: Raw): string | undefined {
  const preset = getOwn(raw, "default") ?? (Array.isArray(raw["enum"]) ? raw["enum"][0] : undefined)
  return typeof preset === "string" ? preset : undefined
}

function withKeys(
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
    notes.push({
      pointer: operation.pointer,
      message: `Another input is called "${name}" as well; the ${parameter.in} parameter is given as "${key}".`,
      isRename: true,
    })
  }
  return parameters.map((parameter) => {
    const key = keys.get(parameter)
    return key === undefined ? parameter : { ...parameter, key }
  })
}
