import { ErrorCode } from "../../../core/errors.ts"
import { parseMediaType } from "../../../http-client/media-type.ts"
import type { Place } from "../document.ts"
import { onlyRef } from "../schema/lower.ts"
import { kindsOf } from "./problem-kinds.ts"
import type { ProblemKind } from "./problem-kinds.ts"
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
