import { SOURCES } from "../config/kinds/index.ts"
import { COMMON_FIELDS } from "../config/source-shapes.ts"
import type { AccessRule } from "../config/kinds/kind.ts"
import type { ResolvedSource } from "../config/model.ts"
import { changedOperation, lazyPartsOf, type LazyChanges } from "../core/lazy-operation.ts"
import type { AccessControl } from "../core/types.ts"
import { idOf, type AnyOperation } from "../core/define.ts"
import { compilePattern, type Matcher } from "../internal/pattern.ts"
import { sameData } from "../internal/same-data.ts"
import type { RawReport, ReportItem, SourceReport } from "./model.ts"
import type { Unregistered } from "./source-ownership.ts"
import { withoutUndefined } from "../internal/own.ts"

/** Operations of a source after its configuration was applied. */
export interface Shaped {
  readonly operations: readonly AnyOperation[]
  /** Ids in the hub by ids in the source. */
  readonly ids: ReadonlyMap<string, string>
  /** Ids in the source that `include` and `exclude` removed. */
  readonly filtered: ReadonlySet<string>
  /** Settings without effect, and what to do about them. */
  readonly warnings: readonly string[]
}

/** Wraps handlers of operations, to count running calls. */
export type WrapHandler = (
  handler: (...args: never[]) => unknown,
  isStream: boolean,
) => (...args: never[]) => unknown

const NAME = /^[A-Za-z0-9_-]+(?:\.[A-Za-z0-9_-]+)*$/

/**
 * Applies the names and rules of a configuration to the operations of one source.
 *
 * No schema is read, and the same operation always gives the same shaped object.
 */
export class Shaper {
  readonly #source: ResolvedSource
  readonly #openedAs: string
  readonly #wrap: WrapHandler | undefined
  readonly #include: readonly Pattern[] | undefined
  readonly #exclude: readonly Pattern[]
  readonly #rules: readonly CompiledRule[]
  readonly #renames: ReadonlyMap<string, string>
  readonly #shapedBefore = new WeakMap<AnyOperation, AnyOperation>()

  /** `openedAs` is the namespace that the source was opened with. */
  constructor(source: ResolvedSource, openedAs: string, wrap?: WrapHandler) {
    this.#source = source
    this.#openedAs = openedAs
    this.#wrap = wrap
    this.#include = source.include?.map(patternOf)
    this.#exclude = source.exclude.map(patternOf)
    this.#rules = source.access.map(compileRule)
    this.#renames = new Map(Object.entries(source.rename))
  }

  shape(sourceOperations: readonly AnyOperation[]): Shaped {
    const operations: AnyOperation[] = []
    const ids = new Map<string, string>()
    const filtered = new Set<string>()
    const used = new Set<unknown>()
    const taken = new Map<string, string>()
    const warnings: string[] = []
    for (const operation of sourceOperations) {
      const named = this.#nameOf(operation)
      if (!this.#isWanted(named.words, used)) {
        filtered.add(idOf(operation))
        continue
      }
      const name = this.#rename(named, used, warnings)
      const shaped = this.#shaped(operation, named, name)
      const id = idOf(shaped)
      ids.set(idOf(operation), id)
      const other = taken.get(id)
      taken.set(id, other ?? idOf(operation))
      if (other === undefined) operations.push(shaped)
      else {
        warnings.push(
          `"${other}" and "${idOf(operation)}" of source "${this.#source.name}" would both be "${id}": the first counts. Rename one of them.`,
        )
      }
    }
    return { operations, ids, filtered, warnings: [...warnings, ...this.#unused(used)] }
  }

  #nameOf(operation: Pick<AnyOperation, "namespace" | "name">): Named {
    const { namespace, name } = place(operation, this.#source, this.#openedAs)
    const words = new Set([name, `${namespace}.${name}`, operation.name, idOf(operation)])
    return { namespace, name, words: [...words] }
  }

  #isWanted(words: readonly string[], used: Set<unknown>): boolean {
    const fits = (pattern: Pattern): boolean => {
      if (!words.some(pattern.matches)) return false
      used.add(pattern)
      return true
    }
    if (this.#include !== undefined && this.#include.filter(fits).length === 0) return false
    return this.#exclude.filter(fits).length === 0
  }

  #rename({ name, words, namespace }: Named, used: Set<unknown>, warnings: string[]): string {
    const old = words.find((word) => this.#renames.has(word))
    if (old === undefined) return name
    used.add(old)
    const alias = this.#renames.get(old) ?? name
    const renamed = alias.startsWith(`${namespace}.`) ? alias.slice(namespace.length + 1) : alias
    if (NAME.test(renamed) && renamed.length <= 256) return renamed
    warnings.push(
      `rename: "${old}" cannot be called "${alias}". Names are letters, digits, "_" and "-", with dots inside.`,
    )
    return name
  }

  #shaped(operation: AnyOperation, named: Named, name: string): AnyOperation {
    const before = this.#shapedBefore.get(operation)
    if (before !== undefined) return before
    const changes = this.#changes(operation, named, name)
    const shaped =
      changes === undefined ? operation : change(operation, changes, (id) => this.#idInHub(id))
    this.#shapedBefore.set(operation, shaped)
    return shaped
  }

  #changes(operation: AnyOperation, named: Named, name: string): LazyChanges | undefined {
    const words = [...named.words, name, `${named.namespace}.${name}`]
    const access = this.#rules.find(({ matches }) => words.some(matches))?.access
    const { visibility } = this.#source
    const isStream = operation.type === "subscription"
    const wrap = this.#wrap
    const isSame = operation.namespace === named.namespace && operation.name === name
    if (isSame && access === undefined && visibility === undefined && wrap === undefined) {
      return undefined
    }
    return {
      namespace: named.namespace,
      name,
      accessControl: access,
      visibility,
      ...(wrap !== undefined && {
        wrap: (handler) => wrap(handler as never, isStream) as typeof handler,
      }),
    }
  }

  #idInHub(id: string): string {
    const dot = id.indexOf(".")
    const named = this.#nameOf({ namespace: id.slice(0, dot), name: id.slice(dot + 1) })
    return `${named.namespace}.${this.#rename(named, new Set(), [])}`
  }

  #unused(used: ReadonlySet<unknown>): string[] {
    const nothing = (what: string, text: string): string =>
      `${what}: nothing of source "${this.#source.name}" is called "${text}". See what there is: npx @alkdev/operations list --source ${this.#source.name}`
    return [
      ...(this.#include ?? [])
        .filter((one) => !used.has(one))
        .map(({ text }) => nothing("include", text)),
      ...this.#exclude.filter((one) => !used.has(one)).map(({ text }) => nothing("exclude", text)),
      ...[...this.#renames.keys()]
        .filter((old) => !used.has(old))
        .map((old) => nothing("rename", old)),
    ]
  }
}

interface Named {
  readonly namespace: string
  readonly name: string
  /** All names by which a configuration can refer to the operation. */
  readonly words: readonly string[]
}

interface Pattern {
  readonly text: string
  readonly matches: Matcher
}

interface CompiledRule {
  readonly matches: Matcher
  readonly access: AccessControl
}

/** Namespace and name of an operation in the hub. */
function place(
  { namespace, name }: Pick<AnyOperation, "namespace" | "name">,
  source: ResolvedSource,
  openedAs: string,
): { readonly namespace: string; readonly name: string } {
  const { namespaces } = SOURCES[source.kind]
  if (namespaces === "source" && namespace.startsWith(openedAs)) {
    // An MCP server has namespaces beside its own, such as "files-resources".
    return { namespace: source.namespace + namespace.slice(openedAs.length), name }
  }
  const isKept =
    namespaces === "source" ||
    namespace === source.namespace ||
    (namespaces === "own" && source.config.namespace === undefined)
  if (isKept) return { namespace, name }
  return { namespace: source.namespace, name: `${namespace}.${name}` }
}

function change(
  operation: AnyOperation,
  changes: LazyChanges,
  idInHub: (id: string) => string,
): AnyOperation {
  const parts = lazyPartsOf(operation)
  if (parts !== undefined) return changedOperation(parts, changes)
  const { namespace, name, accessControl, visibility, wrap } = changes
  const { handler, deprecation } = operation
  const replacedBy = deprecation?.replacedBy
  return Object.freeze({
    ...operation,
    ...(replacedBy !== undefined && {
      deprecation: { ...deprecation, replacedBy: idInHub(replacedBy) },
    }),
    ...withoutUndefined({ namespace, name, accessControl, visibility }),
    ...(wrap !== undefined && handler !== undefined && { handler: wrap(handler as never) }),
  })
}

function patternOf(text: string): Pattern {
  return { text, matches: compilePattern(text) }
}

function compileRule({ match, ...access }: AccessRule): CompiledRule {
  const patterns = match === undefined ? ["*"] : typeof match === "string" ? [match] : match
  const matchers = patterns.map(compilePattern)
  const { requiredScopes = [] } = access as Partial<AccessControl>
  return {
    matches: (text) => matchers.some((matches) => matches(text)),
    access: Object.freeze({ ...access, requiredScopes }),
  }
}

/** Whether a source that was opened with one configuration can be kept for the other. */
export function isSameOpening(a: ResolvedSource, b: ResolvedSource): boolean {
  return a.kind === b.kind && sameData(opening(a), opening(b))
}

function opening({ config }: ResolvedSource): object {
  return Object.fromEntries(
    Object.entries(config).filter(([key]) => !Object.hasOwn(COMMON_FIELDS, key)),
  )
}

/** Translates a source's own report to the ids of the hub, and adds what the hub left out. */
export function reportOf(
  raw: RawReport,
  shaped: Shaped,
  unregistered: readonly Unregistered[],
  mask: (text: string) => string,
): SourceReport {
  const reasons = new Map(unregistered.map(({ id, reason }) => [id, reason]))
  const items: ReportItem[] = []
  const counts = { kept: 0, widened: 0, skipped: 0 }
  let filtered = 0
  for (const item of raw.items) {
    if (item.id !== undefined && shaped.filtered.has(item.id)) {
      filtered++
      continue
    }
    const mine = reportItem(item, shaped.ids, reasons)
    counts[mine.status]++
    if (mine.status === "kept" && mine.notes.length === 0) continue
    items.push({ ...mine, origin: mask(mine.origin), notes: mine.notes.map(mask) })
  }
  return { ...counts, filtered, items, warnings: [...raw.warnings, ...shaped.warnings].map(mask) }
}

function reportItem(
  { id: originalId, origin, status, notes }: ReportItem,
  ids: ReadonlyMap<string, string>,
  reasons: ReadonlyMap<string, string>,
): ReportItem {
  const id = originalId === undefined ? undefined : ids.get(originalId)
  if (id === undefined) return { origin, status, notes }
  const reason = reasons.get(id)
  return reason === undefined
    ? { id, origin, status, notes }
    : { origin, status: "skipped", notes: [reason] }
}
