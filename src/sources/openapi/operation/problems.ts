import { ErrorCode } from "../../../core/errors.ts"
import { parseMediaType } from "../../../http-client/media-type.ts"
import { isPlainRecord } from "../../../schema/json.ts"
import type { OpenAPIDocument, Place } from "../document.ts"
import { kindsOf } from "./problem-kinds.ts"
import type { ProblemKind } from "./problem-kinds.ts"
import type { Response } from "./responses.ts"

/** The media type of RFC 9457. */
const PROBLEM_TYPE = "application/problem+json"

/** An error that has a code of its own in the problems of an operation. */
export interface DeclaredProblem {
  readonly code: string
  readonly description: string
  /** Of the first response that has it; none for a range or `default`. */
  readonly status: number | undefined
  /** What its details are: the member `details`, or the problem as a whole where it has none. */
  readonly holder: "details" | "problem"
  /** Schemas of what it holds: one of the lists, and all of that list. */
  readonly schemas: ReadonlyArray<readonly Place[]>
  /** A document of this library declares it. */
  readonly isOurs: boolean
}

/** What the failures of an operation say about problems. */
export interface Problems {
  readonly declared: ReadonlyMap<string, DeclaredProblem>
  /** Responses that say nothing else: what the declared codes and this library's own leave over. */
  readonly exhausted: ReadonlySet<Response>
  /** Some failure is a problem as this library writes them. */
  readonly isOurs: boolean
}

/** Finds the errors whose code a document tells, by what it says about `application/problem+json`. */
export function readProblems(document: OpenAPIDocument, failure: readonly Response[]): Problems {
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
      for (const kind of kindsOf(document, schema)) {
        if (kind.isOurs) isOurs = true
        const codes = declaredCodes(kind)
        for (const code of codes) declare(declared, code, kind, response, schema)
        // What every operation of ours may answer is no part of the contract of one.
        if (!kind.isOurs && codes.length !== kind.codes?.length) isExhausted = false
      }
    }
    if (isExhausted) exhausted.add(response)
  }
  return { declared, exhausted, isOurs }
}

/** Whether a content type is that of problems. */
export function isProblem(contentType: string): boolean {
  return parseMediaType(contentType)?.essence === PROBLEM_TYPE
}

/** The codes of a kind that an operation can declare. Documents of ours list only the library's own. */
function declaredCodes({ codes = [], isConst, isOurs }: ProblemKind): readonly string[] {
  if (isOurs) return isConst ? codes.filter(isDeclarable) : []
  // A name that is made of a status would be taken for what is made of one.
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
  const known = declared.get(code)
  if (known === undefined) {
    const status = /^\d{3}$/.test(response.code) ? Number(response.code) : undefined
    const description = kind.description ?? (isOurs ? "" : response.description)
    declared.set(code, { code, description, status, holder, schemas: [own], isOurs })
    return
  }
  const isNew = known.holder === holder && !known.schemas.some((one) => isSame(one, own))
  declared.set(code, {
    ...known,
    schemas: isNew ? [...known.schemas, own] : known.schemas,
    // Where somebody else answers with it too, nothing that only a registry is believed counts.
    isOurs: known.isOurs && isOurs,
  })
}

function isSame(left: readonly Place[], right: readonly Place[]): boolean {
  return (
    left.length === right.length &&
    left.every(({ value, file }, index) => {
      const other = right[index]
      return file === other?.file && (value === other.value || isSameRef(value, other.value))
    })
  )
}

function isSameRef(left: unknown, right: unknown): boolean {
  if (!isPlainRecord(left) || !isPlainRecord(right)) return false
  const isOnlyRef = Object.keys(left).length === 1 && Object.keys(right).length === 1
  return isOnlyRef && typeof left["$ref"] === "string" && left["$ref"] === right["$ref"]
}
