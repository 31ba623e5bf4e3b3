import { isRecord, isStrings, nonEmpty } from "../../../internal/guards.ts"
import { getOwn } from "../../../schema/json.ts"
import { child, isBroken, itemsAt, lookUp, objectAt } from "../document.ts"
import type { Place } from "../document.ts"
import { PROBLEM_EXTENSION } from "../../../core/openapi-marks.ts"

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
export function kindsOf(schema: Place): readonly ProblemKind[] {
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
