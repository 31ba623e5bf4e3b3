import { type Keyword, type KeywordForm, KEYWORDS } from "../../../schema/keywords.ts"

/** How a keyword of a schema is converted: by where its subschemas are, by its form, or in a way of its own. */
export type KeywordKind =
  | Exclude<NonNullable<Keyword["holds"]>, "dependencies">
  | KeywordForm
  | OwnKind

type OwnKind =
  | ("properties" | "patternProperties" | "pattern" | "format" | "limit")
  | ("nullable" | "example" | "examples" | "skip")

const OWN_KINDS: Readonly<Record<string, KeywordKind>> = {
  properties: "properties",
  patternProperties: "patternProperties",
  pattern: "pattern",
  format: "format",
  exclusiveMinimum: "limit",
  exclusiveMaximum: "limit",
  nullable: "nullable",
  "x-nullable": "nullable",
  example: "example",
  examples: "examples",
  discriminator: "data",
  // These do not affect values.
  $comment: "skip",
  $vocabulary: "skip",
  $recursiveRef: "skip",
  $recursiveAnchor: "skip",
  id: "skip",
  xml: "skip",
  externalDocs: "skip",
  contentSchema: "skip",
}

const KINDS: ReadonlyMap<string, KeywordKind> = new Map([
  ...Array.from(KEYWORDS, ([keyword, row]) => [keyword, kindOf(row)] as const),
  ...Object.entries(OWN_KINDS),
])

/** How a keyword is converted; `undefined` for unknown ones. */
export function keywordKind(keyword: string): KeywordKind | undefined {
  return KINDS.get(keyword)
}

/** Definitions are reached through references. */
function kindOf({ kind, holds, form = "data" }: Keyword): KeywordKind {
  const isConverted = kind === "assertion" || kind === "annotation"
  return isConverted && holds !== "dependencies" ? (holds ?? form) : "skip"
}
