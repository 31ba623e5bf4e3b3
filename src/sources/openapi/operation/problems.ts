import { isRecord, isStrings, nonEmpty } from "../../../internal/guards.ts"
import { getOwn } from "../../../schema/json.ts"
import { child, isBroken, itemsAt, lookUp, objectAt, type Place } from "../document.ts"
import { PROBLEM_EXTENSION } from "../../../core/openapi-marks.ts"
import { ErrorCode } from "../../../core/errors.ts"
import { parseMediaType } from "../../../http-client/media-type.ts"
import { onlyRef } from "../schema/lower.ts"
import type { Response } from "./responses.ts"

/** The media type of RFC 9457. */
const PROBLEM_TYPE = "application/problem+json"

/** An error with its own code in the problems of an operation. */
export interface DeclaredProblem {
  readonly code: string
  readonly description: string
  /** The status of the first response that has it; none for a range or `default`. */
  readonly status: number | undefined
  /** Where its details are: in the member `details`, or the whole problem if it has none. */
  readonly holder: "details" | "problem"
  /** The schemas of its details: one of the lists applies, with all its members. */
  readonly schemas: ReadonlyArray<readonly Place[]>
  /** A document of this library declares it. */
  readonly isOurs: boolean
}

/** The problems in the failures of an operation. */
export interface Problems {
  readonly declared: ReadonlyMap<string, DeclaredProblem>
  /** Responses that contain nothing but declared codes and those of this library. */
  readonly exhausted: ReadonlySet<Response>
  /** Some failure uses the problem format of this library. */
  readonly isOurs: boolean
}

/** Finds the declared error codes in the schemas of `application/problem+json`. */
export function readProblems(failure: readonly Response[]): Problems {
  const declared = new Map<string, DeclaredProblem>()
  const exhausted = new Set<Response>()
  let isOurs = false
  for (const response of failure) {
    let isExhausted = response.media.length > 0
    for (const { type, schema } of response.media) {
      if (!isProblem(type) || schema === undefined) {
        isExhausted = false
        continue
      }
      for (const kind of kindsOf(schema)) {
        if (kind.isOurs) isOurs = true
        const codes = declaredCodes(kind)
        for (const code of codes) declare(declared, code, kind, response, schema)
        // Codes that every operation of this library may return are not specific to one.
        if (!kind.isOurs && codes.length !== kind.codes?.length) isExhausted = false
      }
    }
    if (isExhausted) exhausted.add(response)
  }
  return { declared, exhausted, isOurs }
}

/** Whether a content type is `application/problem+json`. */
export function isProblem(contentType: string): boolean {
  return parseMediaType(contentType)?.essence === PROBLEM_TYPE
}

/** The codes of a kind that an operation can declare. In our documents, lists contain only the library's codes. */
function declaredCodes({ codes = [], isConst, isOurs }: ProblemKind): readonly string[] {
  if (isOurs) return isConst ? codes.filter(isDeclarable) : []
  // Names in the form of generated ones would be ambiguous.
  return codes.filter((code) => isDeclarable(code) && !/^HTTP_(?:\d\d\d|\dXX|DEFAULT)$/.test(code))
}

function isDeclarable(code: string): boolean {
  return code !== "" && code.length <= 128 && !Object.hasOwn(ErrorCode, code)
}

function declare(
  declared: Map<string, DeclaredProblem>,
  code: string,
  kind: ProblemKind,
  response: Response,
  schema: Place,
): void {
  const { details, isOurs } = kind
  const holder = isOurs || details.length > 0 ? "details" : "problem"
  const own = holder === "details" ? details : [schema]
  const existing = declared.get(code)
  if (existing === undefined) {
    const status = /^\d{3}$/.test(response.code) ? Number(response.code) : undefined
    const description = kind.description ?? (isOurs ? "" : response.description)
    declared.set(code, { code, description, status, holder, schemas: [own], isOurs })
    return
  }
  const isNew = existing.holder === holder && !existing.schemas.some((one) => isSame(one, own))
  declared.set(code, {
    ...existing,
    schemas: isNew ? [...existing.schemas, own] : existing.schemas,
    // If other responses use the code too, it is not trusted like a registry's error.
    isOurs: existing.isOurs && isOurs,
  })
}

function isSame(left: readonly Place[], right: readonly Place[]): boolean {
  return (
    left.length === right.length &&
    left.every(({ value, file }, index) => {
      const other = right[index]
      if (file !== other?.file) return false
      const ref = onlyRef(value)
      return value === other.value || (ref !== undefined && ref === onlyRef(other.value))
    })
  )
}

/** One kind of problem that a schema allows. */
export interface ProblemKind {
  /** The values of `code`; `undefined` if it can be anything. */
  readonly codes: readonly string[] | undefined
  /** The code is declared by `const` instead of a list. */
  readonly isConst: boolean
  readonly description: string | undefined
  /** The schemas of `details`; all of them apply. */
  readonly details: readonly Place[]
  /** It extends the problem schema of this library. */
  readonly isOurs: boolean
}

/** Alternative schemas. */
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

/** Maximum number of schemas and of kinds per response; no real API has so many. */
const MAX_SCHEMAS = 1000
const MAX_KINDS = 500
const MAX_DEPTH = 32

/** The kinds of problems that a schema allows: one for each way through its alternatives. */
function kindsOf(schema: Place): readonly ProblemKind[] {
  const kinds = readKinds(schema, 0, { schemas: 0 })
  if (kinds === undefined) {
    schema.file.document.losses.add(
      "Some responses have too many kinds of problems; their errors are declared by status only.",
    )
  }
  // The rest is unknown, so anything is possible.
  return kinds ?? [ANY]
}

/** Reads the kinds of a schema; `undefined` when a limit is exceeded. */
function readKinds(
  place: Place,
  depth: number,
  seen: { schemas: number },
): readonly ProblemKind[] | undefined {
  if (++seen.schemas > MAX_SCHEMAS || depth > MAX_DEPTH) return undefined
  if (!isRecord(place.value)) return [ANY]
  let kinds: readonly ProblemKind[] = [isReference(place) ? ANY : ownKind(place)]
  for (const { branches, describes } of schemaParts(place)) {
    const alternatives: ProblemKind[] = []
    for (const branch of branches) {
      const more = readKinds(branch, depth + 1, seen)
      if (more === undefined) return undefined
      alternatives.push(...more)
    }
    if (alternatives.length * kinds.length > MAX_KINDS) return undefined
    kinds = alternatives.flatMap((one) => kinds.map((other) => both(one, other, describes)))
  }
  return kinds
}

/** Before 3.1 members beside a reference are ignored. */
function isReference({ value, file }: Place): boolean {
  return file.document.version !== "3.1" && typeof getOwn(value as object, "$ref") === "string"
}

/** The parts of a schema besides its own keywords: one branch of each must apply. */
function* schemaParts(place: Place): Generator<Part> {
  const ref = getOwn(place.value as object, "$ref")
  if (typeof ref === "string") {
    const target = lookUp(ref, place.file)
    if (!isBroken(target)) yield { branches: [target], describes: "second" }
  }
  if (isReference(place)) return
  // The description of a shared part does not describe this problem.
  for (const member of itemsAt(place, "allOf")) yield { branches: [member], describes: "never" }
  for (const keyword of ["anyOf", "oneOf"]) {
    const branches = itemsAt(place, keyword)
    if (branches.length > 0) yield { branches, describes: "first" }
  }
}

/** The problem kind of a schema's own keywords. */
function ownKind(place: Place): ProblemKind {
  const properties = child(place, "properties")
  const code = properties && child(properties, "code")
  const isOurs = getOwn(place.value as object, PROBLEM_EXTENSION) === true
  // In the base problem schema details are unrestricted.
  if (isOurs) return { ...ANY, isOurs }
  const details = properties && child(properties, "details")
  return {
    ...ANY,
    ...(code !== undefined && codesOf(code)),
    details: details === undefined ? [] : [details],
    description: nonEmpty(getOwn(place.value as object, "description")),
  }
}

function codesOf(code: Place): Pick<ProblemKind, "codes" | "isConst"> {
  const { const: only, enum: list } = objectAt(code)?.value ?? {}
  if (typeof only === "string") return { codes: [only], isConst: true }
  if (!Array.isArray(list) || list.length === 0 || list.length > MAX_KINDS) return ANY
  if (!isStrings(list)) return ANY
  return { codes: [...new Set(list)], isConst: false }
}

/** Combines two kinds that both apply. */
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
