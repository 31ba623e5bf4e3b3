import { isRecord, isString, isStrings } from "../../../internal/guards.ts"
import { isSchema } from "../../../schema/json.ts"
import { KEYWORDS, type Keyword, type KeywordForm } from "../../../schema/keywords.ts"
import { isNumber } from "./lower.ts"

/** How a keyword of a schema is converted. */
export interface KeywordRule {
  readonly kind:
    | ("schema" | "list" | "map" | "items" | "properties" | "patternProperties")
    | ("type" | "required" | "pattern" | "format" | "limit" | "nullable" | "example" | "examples")
    /** Kept as it is, unless it is nested too deep. */
    | "data"
    | "kept"
    | "skipped"
  /** Whether it may have a value; one that does not fit is left out. */
  readonly fits?: (value: unknown) => boolean
  /** What a value has to be; one that does not fit is noted. */
  readonly expected?: string
}

const SKIPPED: KeywordRule = { kind: "skipped" }
const DATA: KeywordRule = { kind: "data" }
const NULLABLE: KeywordRule = { kind: "nullable" }
const TEXT: KeywordRule = { kind: "kept", fits: isString, expected: "a text" }
const NUMBER: KeywordRule = { kind: "kept", fits: isNumber, expected: "a number" }
const MAP: KeywordRule = { kind: "map", fits: isRecord, expected: "an object of schemas" }
const LIMIT: KeywordRule = {
  kind: "limit",
  fits: (value) => typeof value === "boolean" || isNumber(value),
  expected: "a number or a boolean",
}

/** By where the subschemas of a keyword are. */
const BY_PLACE: Readonly<Record<NonNullable<Keyword["holds"]>, KeywordRule>> = {
  single: { kind: "schema", fits: isSchema, expected: "a schema" },
  list: { kind: "list", fits: isList, expected: "a list of one or more schemas" },
  map: MAP,
  items: {
    kind: "items",
    fits: (value) => isSchema(value) || Array.isArray(value),
    expected: "a schema",
  },
  dependencies: SKIPPED,
}

/** By the form of the value of a keyword. */
const BY_FORM: Readonly<Record<KeywordForm, KeywordRule>> = {
  type: { kind: "type" },
  text: TEXT,
  flag: { kind: "kept", fits: (value) => typeof value === "boolean" },
  number: NUMBER,
  positive: { ...NUMBER, fits: (value) => isNumber(value) && value > 0 },
  count: {
    kind: "kept",
    fits: (value) => Number.isInteger(value) && (value as number) >= 0,
    expected: "a whole number of 0 or more",
  },
  names: {
    kind: "required",
    fits: (value) => Array.isArray(value) || typeof value === "boolean",
    expected: "a list of names",
  },
  namesByName: {
    kind: "kept",
    fits: (value) => isRecord(value) && Object.values(value).every(isStrings),
    expected: "an object of lists of names",
  },
  values: { kind: "data", fits: isList, expected: "a list of one or more values" },
  data: DATA,
}

/** Keywords that are converted in a way of their own. */
const OWN: Readonly<Record<string, KeywordRule>> = {
  properties: { ...MAP, kind: "properties" },
  patternProperties: { ...MAP, kind: "patternProperties" },
  pattern: { kind: "pattern" },
  format: { ...TEXT, kind: "format" },
  exclusiveMinimum: LIMIT,
  exclusiveMaximum: LIMIT,
  nullable: NULLABLE,
  "x-nullable": NULLABLE,
  example: { kind: "example" },
  examples: { kind: "examples" },
  discriminator: DATA,
  // These do not affect values.
  $comment: SKIPPED,
  $vocabulary: SKIPPED,
  $recursiveRef: SKIPPED,
  $recursiveAnchor: SKIPPED,
  id: SKIPPED,
  xml: SKIPPED,
  externalDocs: SKIPPED,
  contentSchema: SKIPPED,
}

const RULES: ReadonlyMap<string, KeywordRule> = new Map([
  ...Array.from(KEYWORDS, ([keyword, row]) => [keyword, ruleOf(row)] as const),
  ...Object.entries(OWN),
])

/** How a keyword is converted; `undefined` for unknown ones. */
export function keywordRule(keyword: string): KeywordRule | undefined {
  return RULES.get(keyword)
}

/** Definitions are reached through references, and older keywords are replaced. */
function ruleOf({ kind, holds, form = "data" }: Keyword): KeywordRule {
  if (kind !== "assertion" && kind !== "annotation") return SKIPPED
  return holds === undefined ? BY_FORM[form] : BY_PLACE[holds]
}

function isList(value: unknown): boolean {
  return Array.isArray(value) && value.length > 0
}
