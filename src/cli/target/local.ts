import { SOURCES } from "../../config/kinds/index.ts"
import { idOf } from "../../core/define.ts"
import type { ResolvedConfig, ResolvedSource } from "../../config/model.ts"
import type { ApprovalTest } from "../../core/approvals.ts"
import type { TestedCall } from "../../hub/approval-routes.ts"
import type { Hub } from "../../hub/model.ts"
import type { ResponseEnvelope } from "../../core/envelope.ts"
import type { AppliedPolicy } from "../../core/policy-state.ts"
import type { OperationSpec } from "../../core/types.ts"
import { servedAs } from "../../mcp/served-as.ts"
import type { CommandIO, ListedOperation, ListQuery, Target, TargetCallOptions } from "../model.ts"
import { escapeForTerminal, note } from "../output.ts"
import { matchingIds, missingSource, resolveId, type FailedSource } from "./lookup.ts"
import { openHub } from "./open-hub.ts"

// The same maximum as in the search of a hub.
const MAX_FOUND = 1000

/** The sources of a configuration, opened in this process on first use. */
export class LocalTarget implements Target {
  readonly #config: ResolvedConfig
  readonly #io: CommandIO
  /** A hub with some of the sources: those that can have an id. */
  #part: Promise<Hub> | undefined
  #whole: Promise<Hub> | undefined
  #current: Hub | undefined
  #isClosed = false

  constructor(config: ResolvedConfig, io: CommandIO) {
    this.#config = config
    this.#io = io
  }

  get failures(): readonly FailedSource[] {
    return this.#current === undefined ? [] : failedSources(this.#current)
  }

  async list({ query, namespace, type, limit }: ListQuery): ReturnType<Target["list"]> {
    const { registry } = await this.#openWhole()
    const specs =
      query === undefined
        ? publicSpecs(registry)
            .filter((spec) => namespace === undefined || spec.namespace === namespace)
            .filter((spec) => type === undefined || spec.type === type)
        : registry.search(query, { limit: MAX_FOUND, namespace, type }).map(({ spec }) => spec)
    const operations = specs.slice(0, limit).map(listed)
    return { operations, total: specs.length }
  }

  async find(id: string): Promise<OperationSpec> {
    const { registry } = await this.#hubWith(id)
    return (
      findSpec(registry, id) ??
      // Throws when the id is unknown or ambiguous.
      (registry.getSpec(resolveId(id, publicIds(registry), this.failures)) as OperationSpec)
    )
  }

  async policies(spec: OperationSpec): Promise<readonly AppliedPolicy[]> {
    const id = idOf(spec)
    return await (await this.#hubWith(id)).registry.describePolicies(id)
  }

  async testApproval(call: TestedCall): Promise<ApprovalTest> {
    const { testApproval } = await import("../../hub/approval-routes.ts")
    return await testApproval((await this.#hubWith(call.operationId)).registry, call)
  }

  async specs(): Promise<readonly OperationSpec[]> {
    return (await this.#openWhole()).registry.getAllSpecs()
  }

  async complete(
    spec: OperationSpec,
    name: string,
    given: Readonly<Record<string, unknown>>,
  ): Promise<readonly string[]> {
    const { registry } = await this.#hubWith(idOf(spec))
    const { argumentValues } = await import("../../hub/complete-argument.ts")
    const options = { via: "cli", signal: this.#io.signal } as const
    return await argumentValues(registry.trusted, spec, { name, value: "", given }, options)
  }

  async execute(id: string, input: unknown, options: TargetCallOptions): Promise<ResponseEnvelope> {
    const { registry } = await this.#hubWith(id)
    return await registry.trusted.execute(id, input, { ...options, via: "cli" })
  }

  async *subscribe(
    id: string,
    input: unknown,
    options: TargetCallOptions,
  ): AsyncGenerator<ResponseEnvelope, void, void> {
    const { registry } = await this.#hubWith(id)
    // A stream has no timeout unless the user set one.
    const timeout = options.timeout ?? Number.POSITIVE_INFINITY
    yield* registry.trusted.subscribe(id, input, { ...options, timeout, via: "cli" })
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#isClosed = true
    // A hub that failed to open needs no closing.
    const opened = await Promise.allSettled([this.#part, this.#whole])
    const hubs = opened.flatMap((one) => (one.status === "fulfilled" ? (one.value ?? []) : []))
    await Promise.all(hubs.map(async (hub) => await hub.close()))
  }

  /** A hub that has an id, if any source has it. */
  async #hubWith(id: string): Promise<Hub> {
    if (this.#whole === undefined) {
      const only = sourcesFor(id, this.#config.sources)
      if (this.#part === undefined && only !== undefined) {
        this.#part = this.#open(only.map(({ name }) => name))
      }
      const part = await this.#part
      if (part !== undefined && findSpec(part.registry, id) !== undefined) return part
      const missing = part && missingSource(id, failedSources(part))
      if (missing !== undefined) throw missing
    }
    return await this.#openWhole()
  }

  async #openWhole(): Promise<Hub> {
    this.#whole ??= this.#open()
    return await this.#whole
  }

  async #open(only?: readonly string[]): Promise<Hub> {
    if (this.#isClosed) throw new Error("The target was closed.")
    const hub = await openHub(this.#config, this.#io, only)
    this.#current = hub
    this.#noteSkipped(hub)
    return hub
  }

  /** A folder whose files cannot be loaded looks like an empty one. */
  #noteSkipped(hub: Hub): void {
    for (const { name, kind } of hub.sources) {
      const skipped = kind === "scan" ? (hub.report(name)?.skipped ?? 0) : 0
      if (skipped === 0) continue
      const text = `Source "${name}": ${skipped} of its files or exports cannot be used. See why: ${this.#io.program} doctor`
      note(this.#io, escapeForTerminal(text))
    }
  }
}

function failedSources({ sources }: Hub): FailedSource[] {
  return sources
    .filter(({ state }) => state === "failed" || state === "lost")
    .map(({ name, namespace, reason = "No reason was given." }) => ({ name, namespace, reason }))
}

/**
 * The sources that can have an id, by their namespaces; `undefined` when all are needed.
 *
 * Operations with namespaces of their own, such as those of a folder, may call those of any source.
 */
function sourcesFor(id: string, sources: readonly ResolvedSource[]): ResolvedSource[] | undefined {
  const candidates = sources.filter(
    ({ namespace, disabled }) => !disabled && id.startsWith(`${namespace}.`),
  )
  if (candidates.length === 0) return undefined
  if (candidates.some(({ kind }) => SOURCES[kind].namespaces === "own")) return undefined
  return candidates
}

function publicSpecs(registry: Hub["registry"]): OperationSpec[] {
  return registry
    .getAllSpecs()
    .filter(({ visibility }) => visibility !== "internal")
    .toSorted((left, right) => (idOf(left) < idOf(right) ? -1 : 1))
}

function publicIds(registry: Hub["registry"]): string[] {
  return publicSpecs(registry).map(idOf)
}

/** The spec of an id or of an unambiguous end of one. */
function findSpec(registry: Hub["registry"], id: string): OperationSpec | undefined {
  const exact = registry.getSpec(id)
  if (exact !== undefined) return exact.visibility === "internal" ? undefined : exact
  const [match, ...others] = matchingIds(id, publicIds(registry))
  return match === undefined || others.length > 0 ? undefined : registry.getSpec(match)
}

function listed(spec: OperationSpec): ListedOperation {
  const { type, title, description, tags, deprecated } = spec
  return { id: idOf(spec), type, title, description, tags, deprecated, mcp: servedAs(spec) }
}
