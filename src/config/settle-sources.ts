import { isPlainRecord, setOwn } from "../schema/json.ts"
import { isNamespace, suggestedNamespace } from "../mcp/names.ts"
import { mcpEntry, plainEntry } from "./mcp-shape.ts"
import type { AccessRule, MCPSource, SettledSource, SourceConfig, SourceKind } from "./model.ts"
import { sourceName } from "./names.ts"
import { checkNames, type Findings, isGiven, type Keys, kindOf } from "./shape.ts"
import { SOURCE_FIELDS, SOURCE_KINDS, SOURCE_SHAPES } from "./source-shapes.ts"

type Fields = Readonly<Record<string, unknown>>

const WAYS = SOURCE_KINDS.map((kind) => `"${kind}"`).join(", ")

/** Names that people try on a source. */
const HINTS: Readonly<Record<string, string>> = {
  command: `Put it into "mcp": { "command": … }.`,
  args: `Put it into "mcp": { "command": …, "args": … }.`,
  url: `Write "openapi" (a document), "mcp" (an MCP server) or "remote" (a hub, or a broker with workers).`,
  type: `A source is what it names: ${WAYS}.`,
  path: `Write "scan" (a folder) or "openapi" (a document).`,
  dir: `Write "scan".`,
  folder: `Write "scan".`,
  directory: `Write "scan".`,
  spec: `Write "openapi".`,
  swagger: `Write "openapi".`,
  document: `Write "openapi".`,
  hub: `Write "remote".`,
  broker: `Write "remote": "nats://…" or "redis://…".`,
  servers: `Write "remote": "nats://…", several with commas between.`,
  nats: `Write "remote": "nats://…".`,
  redis: `Write "remote": "redis://…".`,
  name: `A source has its name in front: { "sources": { "name": { … } } }; in a list, write "namespace".`,
  enabled: `Write "disabled": true to leave it out.`,
}

/** The sources of a configuration, in the order they are written; MCP servers of editors come last. */
export function settleSources(config: Fields, found: Findings): readonly SettledSource[] {
  const taken = new Map<string, Keys>()
  const settled: SettledSource[] = []
  for (const { keys, name, value } of written(config, found)) {
    const source = settleSource(name, value, keys, found)
    if (source === undefined) continue
    const unique = name === undefined ? numbered(source, taken) : source
    const other = taken.get(unique.name)
    if (other !== undefined) {
      found.fault(keys, `has the name of a source in "${other[0]}". Give one of them another name.`)
    }
    taken.set(unique.name, keys)
    settled.push(Object.freeze(unique))
  }
  return Object.freeze(settled)
}

interface Written {
  readonly keys: Keys
  /** `undefined` in a list. */
  readonly name: string | undefined
  readonly value: unknown
}

function written(config: Fields, found: Findings): readonly Written[] {
  const out: Written[] = []
  const sources = isGiven(config, "sources") ? config["sources"] : {}
  if (Array.isArray(sources)) {
    for (const [index, value] of sources.entries()) {
      out.push({ keys: ["sources", String(index)], name: undefined, value })
    }
  } else if (isPlainRecord(sources)) {
    for (const [name, value] of Object.entries(sources)) {
      out.push({ keys: ["sources", name], name, value })
    }
  } else {
    found.fault(["sources"], `must be an object of sources by name, got ${kindOf(sources)}.`)
  }
  return [...out, ...writtenServers(config, found)]
}

/** Servers of editors, each as a source. */
function writtenServers(config: Fields, found: Findings): readonly Written[] {
  if (!isGiven(config, "mcpServers")) return []
  const servers = config["mcpServers"]
  if (!isPlainRecord(servers)) {
    found.fault(["mcpServers"], `must be an object of servers by name, got ${kindOf(servers)}.`)
    return []
  }
  const out: Written[] = []
  for (const [name, entry] of Object.entries(servers)) {
    const keys = ["mcpServers", name]
    mcpEntry.check(entry, keys, found)
    if (isPlainRecord(entry)) out.push({ keys, name, value: { mcp: entry } })
  }
  return out
}

function settleSource(
  name: string | undefined,
  value: unknown,
  keys: Keys,
  found: Findings,
): SettledSource | undefined {
  if (!isPlainRecord(value)) {
    found.fault(keys, `must be an object with one of ${WAYS}, got ${kindOf(value)}.`)
    return undefined
  }
  if (name === "") found.fault(keys, "needs a name that is not empty.")
  const kind = kindOfSource(value, keys, found)
  if (kind === undefined) return undefined
  // An entry of `mcpServers` was looked at where it stands.
  if (keys[0] === "sources") checkSource(kind, value, keys, found)
  if (typeof value[kind] !== "string" && kind !== "mcp") return undefined
  return settledOf(name, kind, plainSource(kind, value))
}

/** Which kind of source it is; says so when it is none or several. */
function kindOfSource(value: Fields, keys: Keys, found: Findings): SourceKind | undefined {
  const kinds = SOURCE_KINDS.filter((kind) => isGiven(value, kind))
  if (kinds.length === 1) return kinds[0]
  if (kinds.length > 1) {
    const both = kinds.map((kind) => `"${kind}"`).join(" and ")
    found.fault(keys, `has ${both}. Make each a source of its own.`)
    return undefined
  }
  // A misspelt or guessed name says more than that one is missing.
  let isTold = false
  const known = [...new Set(SOURCE_KINDS.flatMap((kind) => Object.keys(SOURCE_FIELDS[kind])))]
  const tell = {
    ...found,
    fault: (at: Keys, message: string) => ((isTold = true), found.fault(at, message)),
  }
  checkNames(value, keys, tell, known, { hints: HINTS })
  if (!isTold) found.fault(keys, `must say where its operations come from: give one of ${WAYS}.`)
  return undefined
}

function checkSource(kind: SourceKind, value: Fields, keys: Keys, found: Findings): void {
  const known = Object.keys(SOURCE_FIELDS[kind])
  const strange = Object.keys(value).filter((name) => !known.includes(name))
  const isElsewhere = (name: string): SourceKind | undefined =>
    SOURCE_KINDS.find((other) => Object.hasOwn(SOURCE_FIELDS[other], name))
  const hints: Record<string, string> = {}
  for (const name of strange) {
    const other = isElsewhere(name)
    const hint =
      other === undefined
        ? Object.hasOwn(HINTS, name)
          ? HINTS[name]
          : undefined
        : `It is for "${other}" sources.`
    if (hint !== undefined) setOwn(hints, name, hint)
  }
  checkNames(value, keys, found, known, { hints })
  const sound = Object.fromEntries(Object.entries(value).filter(([name]) => known.includes(name)))
  SOURCE_SHAPES[kind].check(sound, keys, found)
}

/** As it was written, without what was left empty; entries of editors with names of ours. */
function plainSource(kind: SourceKind, value: Fields): SourceConfig {
  const out: Record<string, unknown> = {}
  for (const [key, item] of Object.entries(value)) {
    if (item === null || item === undefined) continue
    setOwn(
      out,
      key,
      kind === "mcp" && key === "mcp" && isPlainRecord(item) ? plainEntry(item) : item,
    )
  }
  return out as unknown as SourceConfig
}

function settledOf(
  given: string | undefined,
  kind: SourceKind,
  config: SourceConfig,
): SettledSource {
  const chosen = typeof config.namespace === "string" ? config.namespace : undefined
  const name = given ?? chosen ?? sourceName(config)
  return {
    name,
    kind,
    namespace: chosen ?? (isNamespace(name) ? name : suggestedNamespace(name)),
    include: config.include === undefined ? undefined : Object.freeze(listOf(config.include)),
    exclude: Object.freeze(listOf(config.exclude)),
    rename: Object.freeze({ ...config.rename }),
    visibility: config.visibility,
    access: Object.freeze(listOf(config.access).map(ruleOf)),
    disabled: config.disabled === true || isDisabledServer(config),
    config: Object.freeze(config),
  }
}

function isDisabledServer(config: SourceConfig): boolean {
  const { mcp } = config as Partial<MCPSource>
  return typeof mcp === "object" && mcp.disabled === true
}

/** A rule that requires nothing is one that lets anyone. */
function ruleOf(rule: AccessRule | null | undefined): AccessRule {
  // One that is no rule has been reported: its configuration is never used.
  return Object.freeze({ ...rule, requiredScopes: rule?.requiredScopes ?? [] })
}

function listOf<TItem>(value: TItem | readonly TItem[] | null | undefined): readonly TItem[] {
  // A name without a value, in YAML, is as good as none.
  if (value === undefined || value === null) return []
  return Array.isArray(value) ? [...(value as readonly TItem[])] : [value as TItem]
}

/** Two of a list that point to the same get numbers. */
function numbered(source: SettledSource, taken: ReadonlyMap<string, Keys>): SettledSource {
  let name = source.name
  for (let count = 2; taken.has(name); count++) name = `${source.name}-${count}`
  if (name === source.name) return source
  const isOwn = source.config.namespace !== undefined
  return { ...source, name, namespace: isOwn ? source.namespace : name }
}
