import { listed, quote, typeName } from "../internal/message-text.ts"

/** One reason why a value does not match its schema. */
export interface SchemaIssue {
  /** JSON pointer to the value; "" for the whole. */
  readonly path: string
  readonly keyword: string
  /** Reads on from the path: "/title is required". */
  readonly message: string
}

/** An issue while it is being worked on. */
export interface RawIssue extends SchemaIssue {
  /** Types that would have been accepted. */
  readonly types?: readonly string[]
  /** Values that would have been accepted. */
  readonly values?: readonly unknown[]
  /** Some values are excluded, and this is one of them. */
  readonly isExcluded?: true
}

export function typeIssue(path: string, types: readonly string[], value: unknown): RawIssue {
  const names = [...new Set(types)]
  // "must be integer, got number" would leave the reader of 1.5 wondering
  const isFraction = typeof value === "number" && !Number.isInteger(value) && Number.isFinite(value)
  const actual = isFraction && names.includes("integer") ? quote(value) : typeName(value)
  return { path, keyword: "type", message: `must be ${listed(names)}, got ${actual}`, types: names }
}

export function valueIssue(path: string, keyword: string, all: readonly unknown[]): RawIssue {
  const values = [...new Set(all)]
  const shown = values.slice(0, 10).map(quote)
  if (values.length > shown.length) shown.push(`… (${values.length} in all)`)
  const message =
    values.length === 0
      ? "has no allowed value"
      : values.length === 1
        ? `must be ${shown[0]}`
        : `must be one of ${shown.join(", ")}`
  return { path, keyword, message, values }
}

const LIMITS: Readonly<Record<string, (limit: unknown) => string>> = {
  minLength: (limit) => `must be at least ${count(limit, "character")}`,
  maxLength: (limit) => `must be at most ${count(limit, "character")}`,
  minItems: (limit) => `must have at least ${count(limit, "item")}`,
  maxItems: (limit) => `must have at most ${count(limit, "item")}`,
  minProperties: (limit) => `must have at least ${count(limit, "property", "properties")}`,
  maxProperties: (limit) => `must have at most ${count(limit, "property", "properties")}`,
  minimum: (limit) => `must be >= ${quote(limit)}`,
  maximum: (limit) => `must be <= ${quote(limit)}`,
  exclusiveMinimum: (limit) => `must be > ${quote(limit)}`,
  exclusiveMaximum: (limit) => `must be < ${quote(limit)}`,
  multipleOf: (limit) => `must be a multiple of ${quote(limit)}`,
  uniqueItems: () => "must not have duplicate items",
  pattern: (limit) => `must match the pattern ${quote(limit)}`,
  format: (limit) => `must be a valid ${String(limit)}`,
}

/** The message for a keyword with a limit. */
export function limitMessage(keyword: string, limit: unknown): string {
  return (LIMITS[keyword] as (limit: unknown) => string)(limit)
}

export function containsMessage(min: number, max: number, actual: number): string {
  if (actual < min) return `must contain at least ${count(min, "matching item")}, has ${actual}`
  return `must contain at most ${count(max, "matching item")}, has ${actual}`
}

/**
 * Folds the issues of the branches of a failed union into those of the branch that was meant.
 *
 * That is the branch whose type fits and whose constant properties (a discriminator) agree; failing that, the
 * one that came closest. Where none stands out, one sentence names the alternatives.
 */
export function foldUnion(
  path: string,
  keyword: string,
  branches: ReadonlyArray<readonly RawIssue[]>,
  value: unknown,
): readonly RawIssue[] {
  const fitting = branches.filter((issues) => !issues.some((issue) => isKind(issue, path)))
  if (fitting.length === 0) return [mismatch(path, keyword, branches, value)]
  const meant = fitting.filter((issues) => !issues.some((issue) => isDiscriminator(issue, path)))
  if (meant.length === 1) return meant[0] as readonly RawIssue[]
  if (meant.length === 0) {
    const unknown = unknownDiscriminator(fitting, path)
    if (unknown !== undefined) return [unknown]
  }
  const ranked = (meant.length > 0 ? meant : fitting).toSorted(closest)
  const [best, second] = ranked
  if (best === undefined || (second !== undefined && closest(best, second) === 0)) {
    return [alternatives(path, keyword, branches.length, ranked)]
  }
  return best
}

function isKind(issue: RawIssue, path: string): boolean {
  return issue.path === path && (issue.types !== undefined || issue.values !== undefined)
}

function isDiscriminator(issue: RawIssue, path: string): boolean {
  const isValue = issue.values !== undefined || issue.isExcluded === true
  return isValue && issue.path.lastIndexOf("/") === path.length
}

/** All branches want another kind of value: name the kinds, if they can be named together. */
function mismatch(
  path: string,
  keyword: string,
  branches: ReadonlyArray<readonly RawIssue[]>,
  value: unknown,
): RawIssue {
  const kinds = branches.map((issues) => issues.find((issue) => isKind(issue, path)) as RawIssue)
  if (kinds.every((kind) => kind.types !== undefined)) {
    return {
      ...typeIssue(
        path,
        kinds.flatMap((kind) => kind.types ?? []),
        value,
      ),
      keyword,
    }
  }
  if (kinds.every((kind) => kind.values !== undefined)) {
    return valueIssue(
      path,
      keyword,
      kinds.flatMap((kind) => kind.values ?? []),
    )
  }
  return alternatives(path, keyword, branches.length, branches)
}

/** All branches are distinguished by the same property, and it has none of their values. */
function unknownDiscriminator(
  branches: ReadonlyArray<readonly RawIssue[]>,
  path: string,
): RawIssue | undefined {
  const actual = branches.map((issues) => issues.filter((issue) => isDiscriminator(issue, path)))
  const [first] = actual[0] ?? []
  if (first === undefined || actual.some((list) => list.length !== 1)) return undefined
  if (actual.some(([issue]) => issue?.path !== first.path)) return undefined
  return valueIssue(
    first.path,
    "enum",
    actual.flatMap(([issue]) => issue?.values ?? []),
  )
}

function closest(a: readonly RawIssue[], b: readonly RawIssue[]): number {
  return a.length - b.length || depth(b) - depth(a)
}

function depth(issues: readonly RawIssue[]): number {
  return Math.max(...issues.map((issue) => issue.path.split("/").length))
}

function alternatives(
  path: string,
  keyword: string,
  total: number,
  branches: ReadonlyArray<readonly RawIssue[]>,
): RawIssue {
  const hints = branches.slice(0, 3).flatMap((issues) => issues.slice(0, 1).map(sentence))
  const more = branches.length > hints.length ? ", …" : ""
  const shown = new Set(hints)
  const why = ` (${[...shown].join(", or ")}${more})`
  return { path, keyword, message: `must match one of the ${total} alternatives${why}` }
}

function sentence({ path, message }: RawIssue): string {
  return path === "" ? message : `${path} ${message}`
}

function count(limit: unknown, one: string, many = `${one}s`): string {
  return `${quote(limit)} ${limit === 1 ? one : many}`
}
