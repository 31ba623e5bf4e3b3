import { isRecord } from "../internal/guards.ts"
import { setOwn } from "../schema/json.ts"
import { isNamespace, suggestedNamespace } from "../mcp/names.ts"
import { SOURCES, type SourceConfig, type SourceKind } from "./kinds/index.ts"
import type { AccessRule } from "./kinds/kind.ts"
import { mcpEntry } from "./kinds/mcp.ts"
import type { ResolvedSource } from "./model.ts"
import { checkNames, type IssueReporter, isGiven, type Keys, kindOf } from "./field-checks.ts"
import { HINTS, KINDS_TEXT, SOURCE_FIELDS, SOURCE_KINDS, SOURCE_SHAPES } from "./source-shapes.ts"

type Fields = Readonly<Record<string, unknown>>

/** Resolves the sources of a configuration in the order they are written; entries of `mcpServers` come last. */
export function resolveSources(config: Fields, report: IssueReporter): readonly ResolvedSource[] {
  const taken = new Map<string, Keys>()
  const resolved: ResolvedSource[] = []
  for (const { keys, name, value } of listEntries(config, report)) {
    const source = resolveSource(name, value, keys, report)
    if (source === undefined) continue
    const unique = name === undefined ? withUniqueName(source, taken) : source
    const other = taken.get(unique.name)
    if (other !== undefined) {
      report.error(
        keys,
        `has the name of a source in "${other[0]}". Give one of them another name.`,
      )
    }
    taken.set(unique.name, keys)
    resolved.push(Object.freeze(unique))
  }
  return Object.freeze(resolved)
}

interface SourceEntry {
  readonly keys: Keys
  /** `undefined` in a list. */
  readonly name: string | undefined
  readonly value: unknown
}

function listEntries(config: Fields, report: IssueReporter): readonly SourceEntry[] {
  const sources = isGiven(config, "sources") ? config["sources"] : {}
  const named: SourceEntry[] = (isRecord(sources) ? Object.entries(sources) : []).map(
    ([name, value]) => ({ keys: ["sources", name], name, value }),
  )
  const listed: SourceEntry[] = (Array.isArray(sources) ? sources : []).map((value, index) => ({
    keys: ["sources", String(index)],
    name: undefined,
    value: value as unknown,
  }))
  if (!isRecord(sources) && !Array.isArray(sources)) {
    report.error(["sources"], `must be an object of sources by name, got ${kindOf(sources)}.`)
  }
  return [...named, ...listed, ...listServerEntries(config, report)]
}

/** The entries of `mcpServers`, each as a source. */
function listServerEntries(config: Fields, report: IssueReporter): readonly SourceEntry[] {
  if (!isGiven(config, "mcpServers")) return []
  const servers = config["mcpServers"]
  if (!isRecord(servers)) {
    report.error(["mcpServers"], `must be an object of servers by name, got ${kindOf(servers)}.`)
    return []
  }
  return Object.entries(servers).flatMap(([name, entry]) => {
    const keys = ["mcpServers", name]
    mcpEntry.check(entry, keys, report)
    return isRecord(entry) ? [{ keys, name, value: { mcp: entry } }] : []
  })
}

function resolveSource(
  name: string | undefined,
  value: unknown,
  keys: Keys,
  report: IssueReporter,
): ResolvedSource | undefined {
  if (!isRecord(value)) {
    report.error(keys, `must be an object with one of ${KINDS_TEXT}, got ${kindOf(value)}.`)
    return undefined
  }
  if (name === "") report.error(keys, "needs a name that is not empty.")
  const kind = kindOfSource(value, keys, report)
  if (kind === undefined) return undefined
  // Entries of `mcpServers` have already been checked.
  if (keys[0] === "sources") SOURCE_SHAPES.get(kind)?.check(value, keys, report)
  return toResolvedSource(name, kind, withoutEmptyFields(kind, value))
}

/** The kind of a source; reports an error when it has none or several. */
function kindOfSource(value: Fields, keys: Keys, report: IssueReporter): SourceKind | undefined {
  const kinds = SOURCE_KINDS.filter((kind) => isGiven(value, kind))
  if (kinds.length === 1) return kinds[0]
  if (kinds.length > 1) {
    const both = kinds.map((kind) => `"${kind}"`).join(" and ")
    report.error(keys, `has ${both}. Make each a source of its own.`)
    return undefined
  }
  // A misspelt name is the more useful report; only without one is the missing kind reported.
  if (!checkNames(value, keys, report, SOURCE_FIELDS, { hints: HINTS }))
    report.error(keys, `must say where its operations come from: give one of ${KINDS_TEXT}.`)
  return undefined
}

/** The source as written, without empty entries. */
function withoutEmptyFields(kind: SourceKind, value: Fields): SourceConfig {
  const out: Record<string, unknown> = {}
  for (const [key, item] of Object.entries(value)) {
    if (item === null || item === undefined) continue
    setOwn(out, key, key === kind ? (SOURCES[kind].read?.(item) ?? item) : item)
  }
  return out as unknown as SourceConfig
}

function toResolvedSource(
  ownName: string | undefined,
  kind: SourceKind,
  config: SourceConfig,
): ResolvedSource {
  const chosen = typeof config.namespace === "string" ? config.namespace : undefined
  const name = ownName ?? chosen ?? SOURCES[kind].nameOf(config)
  return {
    name,
    kind,
    namespace: chosen ?? (isNamespace(name) ? name : suggestedNamespace(name)),
    include: config.include === undefined ? undefined : Object.freeze(listOf(config.include)),
    exclude: Object.freeze(listOf(config.exclude)),
    rename: Object.freeze({ ...config.rename }),
    visibility: config.visibility,
    access: Object.freeze(listOf(config.access).map(ruleOf)),
    disabled: config.disabled === true || SOURCES[kind].isDisabled?.(config) === true,
    config: Object.freeze(config),
  }
}

/** Fills in `requiredScopes`: a rule that requires nothing allows everyone. */
function ruleOf(rule: AccessRule | null | undefined): AccessRule {
  // An invalid rule has been reported already, and its configuration is never used.
  return Object.freeze({ ...rule, requiredScopes: rule?.requiredScopes ?? [] })
}

function listOf<TItem>(value: TItem | readonly TItem[] | null | undefined): readonly TItem[] {
  // In YAML a key without a value is `null`: the same as leaving it out.
  if (value === undefined || value === null) return []
  return Array.isArray(value) ? [...(value as readonly TItem[])] : [value as TItem]
}

/** Adds a number to the name of a listed source when that name is taken. */
function withUniqueName(source: ResolvedSource, taken: ReadonlyMap<string, Keys>): ResolvedSource {
  let name = source.name
  for (let count = 2; taken.has(name); count++) name = `${source.name}-${count}`
  if (name === source.name) return source
  const isOwn = source.config.namespace !== undefined
  return { ...source, name, namespace: isOwn ? source.namespace : name }
}
