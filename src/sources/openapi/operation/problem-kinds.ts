import { childPointer, getOwn, isPlainRecord } from "../../../schema/json.ts"
import { isBroken } from "../document.ts"
import type { OpenAPIDocument, Place } from "../document.ts"
import { PROBLEM_EXTENSION } from "../../../core/openapi-marks.ts"
import { child } from "./media.ts"

/** One kind of problem that a schema allows. */
export interface ProblemKind {
  /** What `code` can be; `undefined` when it can be anything. */
  readonly codes: readonly string[] | undefined
  /** A `const` says so, and not a list. */
  readonly isConst: boolean
  readonly description: string | undefined
  /** What is said about `details`; all of it holds. */
  readonly details: readonly Place[]
  /** It is made of the problem of this library. */
  readonly isOurs: boolean
}

/** Schemas of which one holds. */
interface Part {
  readonly branches: readonly Place[]
  /** Whose description is the problem's: theirs, or that of the schema they are part of, or only that. */
  readonly describes: "first" | "second" | "never"
}

const ANY: ProblemKind = {
  codes: undefined,
  isConst: false,
  description: undefined,
  details: [],
  isOurs: false,
}

/** Schemas that are looked at for one response, and kinds that they may give: no API has so many. */
const MAX_SCHEMAS = 1000
const MAX_KINDS = 500
const MAX_DEPTH = 32

/** The kinds of problems that a schema allows: one for each way through its alternatives. */
export function kindsOf(document: OpenAPIDocument, schema: Place): readonly ProblemKind[] {
  const kinds = new Reader(document).read(schema, 0)
  if (kinds === undefined) {
    document.losses.add(
      "Some responses have more kinds of problems than are looked at; their errors are declared by status only.",
    )
  }
  // Where nothing more is known, what is known is not all of it.
  return kinds ?? [ANY]
}

/** Reads schemas until it has seen too many. */
class Reader {
  readonly #document: OpenAPIDocument
  #seen = 0

  constructor(document: OpenAPIDocument) {
    this.#document = document
  }

  /** `undefined` when there is too much of it. */
  read(place: Place, depth: number): readonly ProblemKind[] | undefined {
    if (++this.#seen > MAX_SCHEMAS || depth > MAX_DEPTH) return undefined
    if (!isPlainRecord(place.value)) return [ANY]
    let kinds: readonly ProblemKind[] = [this.#isReference(place) ? ANY : this.#own(place)]
    for (const { branches, describes } of this.#parts(place)) {
      const found: ProblemKind[] = []
      for (const branch of branches) {
        const more = this.read(branch, depth + 1)
        if (more === undefined) return undefined
        found.push(...more)
      }
      if (found.length * kinds.length > MAX_KINDS) return undefined
      kinds = found.flatMap((one) => kinds.map((other) => both(one, other, describes)))
    }
    return kinds
  }

  /** Before 3.1 what stands beside a reference means nothing. */
  #isReference({ value }: Place): boolean {
    return this.#document.version !== "3.1" && typeof getOwn(value as object, "$ref") === "string"
  }

  /** What has to hold beside a schema's own words: of each part one of its branches. */
  *#parts(place: Place): Generator<Part> {
    const ref = getOwn(place.value as object, "$ref")
    if (typeof ref === "string") {
      const target = this.#document.lookUp(ref, place.file)
      if (!isBroken(target)) yield { branches: [target], describes: "second" }
    }
    if (this.#isReference(place)) return
    // A part that many have describes none of them.
    for (const member of members(place, "allOf")) yield { branches: [member], describes: "never" }
    for (const keyword of ["anyOf", "oneOf"]) {
      const branches = members(place, keyword)
      if (branches.length > 0) yield { branches, describes: "first" }
    }
  }

  /** What a schema says by itself. */
  #own(place: Place): ProblemKind {
    const properties = child(place, "properties")
    const code = properties && child(properties, "code")
    const isOurs = getOwn(place.value as object, PROBLEM_EXTENSION) === true
    // The problem that all have says that details are anything.
    if (isOurs) return { ...ANY, isOurs }
    const details = properties && child(properties, "details")
    const description = getOwn(place.value as object, "description")
    return {
      ...ANY,
      ...(code !== undefined && this.#codes(code)),
      details: details === undefined ? [] : [details],
      description: typeof description === "string" && description !== "" ? description : undefined,
    }
  }

  #codes({ value, file, pointer }: Place): Pick<ProblemKind, "codes" | "isConst"> {
    const place = this.#document.follow(value, file, pointer)
    const schema = isBroken(place) || !isPlainRecord(place.value) ? {} : place.value
    const { const: only, enum: list } = schema
    if (typeof only === "string") return { codes: [only], isConst: true }
    if (!Array.isArray(list) || list.length === 0 || list.length > MAX_KINDS) return ANY
    if (!list.every((one) => typeof one === "string")) return ANY
    return { codes: [...new Set(list)], isConst: false }
  }
}

/** What holds when both do. */
function both(one: ProblemKind, other: ProblemKind, describes: Part["describes"]): ProblemKind {
  const { codes, description } = one
  const allowed = other.codes
  return {
    codes:
      codes === undefined || allowed === undefined
        ? (codes ?? allowed)
        : codes.filter((code) => allowed.includes(code)),
    isConst: one.isConst || other.isConst,
    description:
      describes === "first"
        ? (description ?? other.description)
        : (other.description ?? (describes === "second" ? description : undefined)),
    details: [...other.details, ...one.details],
    isOurs: one.isOurs || other.isOurs,
  }
}

function members(place: Place, keyword: string): Place[] {
  const list = child(place, keyword)
  if (list === undefined || !Array.isArray(list.value)) return []
  const { file, pointer } = list
  return list.value.map((value: unknown, index) => ({
    value,
    file,
    pointer: childPointer(pointer, index),
  }))
}
