// The shape of each kind of source: its own fields, and those that all have.

import { APPROVAL_RULES } from "../core/approvals.ts"
import { RESILIENCE_OR_PRESET } from "../core/resilience.ts"
import { isNamespace, suggestedNamespace } from "../mcp/names.ts"
import { field, fields, listOf, oneOrMany, recordOf, type Shape, text } from "./field-checks.ts"
import { SOURCES, type SourceConfig, type SourceKind } from "./kinds/index.ts"
import type { ResolvedSource } from "./model.ts"

const patterns = (description: string): Shape =>
  oneOrMany(description, text("A name or id; * stands for any part."))

const accessRule = fields("Who may call; without requirements, everyone.", {
  match: patterns("The ids or names it applies to; default: every operation of the source."),
  requiredScopes: listOf("Every one of these.", text("A scope.")),
  requiredScopesAny: listOf("At least one of these.", text("A scope.")),
  resourceType: text("The type of resource that a caller needs access to."),
  resourceAction: text("The action that the caller must be allowed to perform."),
  resourceIdPath: text("JSON pointer to the resource id in the input."),
})

/** The fields of every source. They can change without reopening it. */
export const COMMON_FIELDS: Readonly<Record<string, Shape>> = {
  namespace: text("The prefix of its operation ids; default: the source's name.", {
    refuse: (value) =>
      isNamespace(value)
        ? undefined
        : `must be letters, digits, "_" and "-", at most 128: "${suggestedNamespace(value)}", for example.`,
  }),
  include: patterns("Only these operations."),
  exclude: patterns("Without these operations."),
  rename: recordOf("New operation names by old name.", text("The new name.")),
  visibility: field(
    { oneOf: ["external", "internal"] },
    "Internal operations can be called by other operations only and are never served.",
  ),
  access: oneOrMany("Who may call which operations; the first matching rule applies.", accessRule),
  resilience: field(
    RESILIENCE_OR_PRESET,
    "What happens when its calls fail, are slow or are made too often.",
  ),
  approvals: field(
    APPROVAL_RULES,
    "What a person has to approve first, for its operations; of these rules and those of the hub, the strictest decision counts.",
  ),
  required: field(
    "boolean",
    "While it is missing, the hub is not ready; default: true for brokers only.",
  ),
  disabled: field("boolean", "Leaves the source out."),
}

export const SOURCE_KINDS = Object.keys(SOURCES) as readonly SourceKind[]

export const KINDS_TEXT: string = SOURCE_KINDS.map((kind) => `"${kind}"`).join(", ")

/** The first kind that has a field, by the name of the field. */
const OWNERS = new Map<string, SourceKind>()
for (const kind of SOURCE_KINDS) {
  for (const name of Object.keys({ ...SOURCES[kind].fields, ...COMMON_FIELDS })) {
    if (!OWNERS.has(name)) OWNERS.set(name, kind)
  }
}

/** The names of the fields of all sources. */
export const SOURCE_FIELDS: readonly string[] = [...OWNERS.keys()]

/** Hints for field names that users often try on a source. */
export const HINTS: Readonly<Record<string, string>> = {
  ...Object.assign({}, ...SOURCE_KINDS.map((kind) => SOURCES[kind].hints)),
  url: `Write "openapi" (a document), "mcp" (an MCP server) or "remote" (a hub, or a broker with workers).`,
  type: `A source is what it names: ${KINDS_TEXT}.`,
  path: `Write "scan" (a folder) or "openapi" (a document).`,
  name: `A source has its name in front: { "sources": { "name": { … } } }; in a list, write "namespace".`,
  enabled: `Write "disabled": true to leave it out.`,
}

/** One shape for each kind of source. */
export const SOURCE_SHAPES: ReadonlyMap<SourceKind, Shape> = new Map(
  SOURCE_KINDS.map((kind) => [kind, shapeOf(kind)] as const),
)

function shapeOf(kind: SourceKind): Shape {
  const description = SOURCES[kind]
  const elsewhere = Array.from(OWNERS, ([name, owner]) => [name, `It is for "${owner}" sources.`])
  const hints = { ...HINTS, ...Object.fromEntries(elsewhere) }
  return fields(
    description.about,
    { ...description.fields, ...COMMON_FIELDS },
    { hints, check: (value, keys, report) => description.check?.(value, keys, report) },
  )
}

/** A source whose file or folder is at another path; others stay as they are. */
export function withPath(
  { kind, config }: Pick<ResolvedSource, "kind" | "config">,
  move: (path: string) => string,
): SourceConfig {
  const place: unknown = (config as unknown as Readonly<Record<string, unknown>>)[kind]
  const isPath = typeof place === "string" && SOURCES[kind].isPath?.(place) === true
  return isPath ? { ...config, [kind]: move(place) } : config
}
