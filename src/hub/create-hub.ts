// The hub: its registry, its sources and their changes, what its configuration says of all operations.
import { Closable } from "../internal/closable.ts"
import { redact, redactText } from "../internal/redact.ts"
import type { ResolvedConfig } from "../config/model.ts"
import { CallError } from "../core/errors.ts"
import { systemClock } from "../internal/clock.ts"
import { validateOptions } from "../internal/options.ts"
import { Approvals } from "../approvals/approvals.ts"
import { compileList } from "../approvals/rules.ts"
import type { StandingApprovals } from "../approvals/standing.ts"
import { didYouMean } from "../internal/suggest.ts"
import type { Logger } from "../internal/logger.ts"
import type { Clock } from "../internal/platform.ts"
import { OperationRegistry } from "../engine/registry.ts"
import { SourceOwnership } from "./source-ownership.ts"
import { compileRules } from "../engine/policies.ts"
import { AuditLog, type AuditPlace } from "./audit/audit.ts"
import { HubMiddleware } from "./middleware.ts"
import { HUB_OPTIONS } from "./model.ts"
import type {
  Hub,
  HubOptions,
  OpenSource,
  SourceDetails,
  SourceLogLine,
  SourceReport,
  SourceStatus,
} from "./model.ts"
import { HubTelemetry } from "./telemetry.ts"
import { fill, mapTexts } from "./resolve-references.ts"
import { Resolver } from "./references.ts"
import { StandingApprovalsFile } from "./standing-approvals.ts"
import { SourceRunner, type RunnerHost } from "./source-runner.ts"
import type { Running } from "./running-calls.ts"
import { isolatedLogger } from "../internal/notify.ts"
import { pathOf } from "./origin.ts"
import { sameData } from "../internal/same-data.ts"
import { Listeners } from "../internal/listeners.ts"

/** Milliseconds that running calls may take to finish before their source is closed. */
const DRAIN_MS = 30_000
/** Milliseconds after which references to files and commands are resolved again. */
const RENEWAL_MS = 60_000

/**
 * Creates one registry over every source of a configuration. All are opened at once, and a source that fails
 * is retried while the others serve. Close the hub when you no longer need it.
 */
export function createHub(config: ResolvedConfig, options: HubOptions = {}): Hub {
  if (!Array.isArray((config as ResolvedConfig | undefined)?.sources)) {
    throw new TypeError(
      "createHub(config): config must be what loadConfig() or resolveConfig() returns.",
    )
  }
  validateOptions("createHub", options, HUB_OPTIONS)
  return new SourceHub(config, options)
}

/** Parts of a hub that its sources need, and the code which serves it. */
export interface HubInternals extends RunnerHost {
  readonly approvals: Approvals
  /** Approvals that a person gave until they remove them; `undefined` without a file for them. */
  readonly standing: StandingApprovals | undefined
  /** The source that an operation comes from. */
  readonly sourceOf: (id: string) => string | undefined
  /** Details that help to repair a source; `undefined` if no source has that name. */
  readonly detailsOf: (name: string) => SourceDetails | undefined
  /** Prepares for another configuration. Returns a function that unsubscribes. */
  readonly onApply: (prepare: PrepareServer) => () => void
}

/** Prepares a server for a configuration, with its references. The result puts it into use; a rejection keeps the old one. */
type PrepareServer = (
  config: ResolvedConfig["server"],
  resolve: (text: string) => Promise<string>,
) => Promise<() => void>

const internalsByHub = new WeakMap<Hub, HubInternals>()

/** @internal */
export function internalsOf(hub: Hub): HubInternals {
  const internals = internalsByHub.get(hub)
  if (internals === undefined) throw new TypeError("The hub was not created with createHub().")
  return internals
}

class SourceHub extends Closable implements Hub {
  readonly registry: OperationRegistry
  readonly #options: HubOptions
  readonly #logger: Logger
  readonly #clock: Clock
  readonly #env: Readonly<Record<string, string | undefined>>
  readonly #ownership: SourceOwnership
  readonly #internals: HubInternals
  readonly #listeners = new Listeners<SourceStatus>()
  readonly #logListeners = new Listeners<SourceLogLine>()
  readonly #servers = new Set<PrepareServer>()
  readonly #retiring = new Set<Promise<void>>()
  readonly #middleware: HubMiddleware
  readonly #approvals: Approvals
  readonly #standing: StandingApprovals | undefined
  readonly #audit: AuditLog | undefined
  readonly #telemetry: HubTelemetry | undefined
  readonly #ended = new AbortController()
  /** Resolvers of earlier configurations included: their values are still secret. */
  readonly #resolvers: Resolver[] = []
  #resolvedAt = 0
  #config: ResolvedConfig
  #runners = new Map<string, SourceRunner>()

  constructor(config: ResolvedConfig, options: HubOptions) {
    super()
    const { clock = systemClock } = options
    const logger = isolatedLogger(options.logger)
    this.#options = options
    this.#clock = clock
    this.#env = options.env ?? process.env
    this.#logger = maskedLogger(logger, this.mask)
    const { timeout, output, normalize } = config.registry
    this.registry = new OperationRegistry({
      timeout,
      output,
      normalize,
      clock,
      logger: this.#logger,
      onError: options.onError,
    })
    this.registry.setMask(this.mask)
    this.#ownership = new SourceOwnership(this.registry)
    this.#config = this.#selectSources(config)
    const { middleware = [], baseDir } = config
    // Before the middleware of the configuration, and after what decides whether a call runs at all.
    this.#audit = options.audit === undefined ? this.#configuredAudit(config) : undefined
    const audit = this.#audit ?? (options.audit as AuditLog | undefined)
    audit?.attach(this.registry, this.mask)
    this.#middleware = new HubMiddleware(this.registry, this.#logger, middleware, baseDir)
    this.#setPolicies()
    this.#approvals = new Approvals(() => [], clock)
    const { approvalsFile } = options
    this.#standing =
      approvalsFile === undefined
        ? undefined
        : new StandingApprovalsFile(approvalsFile, this.#logger)
    this.#approvals.setStanding(this.#standing)
    this.#setApprovals(undefined)
    this.#setResolver(this.#resolverOf(config))
    this.#internals = this.#createInternals()
    internalsByHub.set(this, this.#internals)
    void this.#audit?.prepare()
    this.#telemetry = HubTelemetry.start(config.telemetry, {
      registry: this.registry,
      logger: this.#logger,
      clock: this.#clock,
      env: this.#env,
      resolve: this.#internals.resolve,
    })
    for (const source of this.#config.sources) this.#add(source)
    this.#ownership.setOrder([...this.#runners.keys()])
    for (const runner of this.#runners.values()) runner.start()
  }

  get config(): ResolvedConfig {
    return this.#config
  }

  get sources(): readonly SourceStatus[] {
    return Array.from(this.#runners.values(), ({ status }) => status)
  }

  async ready(): Promise<void> {
    await Promise.all([this.#middleware.first, this.#audit?.prepare(), this.#telemetry?.first])
    await Promise.all(Array.from(this.#runners.values(), ({ first }) => first))
  }

  report(name: string): SourceReport | undefined {
    return this.#runners.get(name)?.report
  }

  onStatus(listener: (status: SourceStatus) => void): () => void {
    return this.#listeners.add(listener)
  }

  async reopen(name: string): Promise<void> {
    this.#assertOpen()
    const runner = this.#runners.get(name)
    if (runner === undefined) throw unknownSource(name, [...this.#runners.keys()])
    await runner.reopen()
  }

  async apply(config: ResolvedConfig): Promise<void> {
    this.#assertOpen()
    const chosen = this.#selectSources(config)
    const isElsewhere = chosen.baseDir !== this.#config.baseDir
    const resolver = this.#resolverOf(chosen)
    const resolve = (text: string): Promise<string> => resolver.resolve(text)
    const prepared = await Promise.all(
      Array.from(this.#servers, (prepare) => prepare(chosen.server, resolve)),
    )
    await this.#middleware.apply(chosen.middleware ?? [], chosen.baseDir)
    this.#assertOpen()
    if (!sameData(chosen.audit, this.#config.audit)) {
      this.#logger.warn("Another audit log is used only after the hub is started again")
    }
    if (!sameData(withoutLink(chosen), withoutLink(this.#config))) {
      this.#logger.warn("Other telemetry is used only after the hub is started again")
    }
    const before = this.#config
    this.#config = chosen
    this.#setPolicies()
    this.#setApprovals(before)
    this.#setResolver(resolver)
    for (const use of prepared) use()
    const running = this.#runners
    this.#runners = new Map()
    const changes: Promise<void>[] = []
    for (const source of chosen.sources) {
      const runner = running.get(source.name)
      running.delete(source.name)
      if (runner === undefined) this.#add(source).start()
      else {
        this.#runners.set(source.name, runner)
        changes.push(runner.change(source, isElsewhere))
      }
    }
    for (const gone of running.values()) gone.close()
    this.#ownership.setOrder([...this.#runners.keys()])
    await Promise.all([...changes, this.ready()])
  }

  protected async end(): Promise<void> {
    this.#ended.abort()
    await this.registry.close()
    await this.#audit?.close()
    for (const runner of this.#runners.values()) runner.close()
    await Promise.all(this.#retiring)
    await this.#telemetry?.close()
    this.#listeners.clear()
    this.#logListeners.clear()
  }

  #configuredAudit({ audit, baseDir }: ResolvedConfig): AuditLog | undefined {
    if (audit === undefined) return undefined
    const place = async (): Promise<AuditPlace> => {
      const { file, key } = await fill(audit, this.#internals.resolve, undefined, "audit")
      return { file: pathOf(file, baseDir), key }
    }
    return new AuditLog(place, { ...audit, logger: this.#logger })
  }

  /** Policies by pattern count before those of the source, and both before those of definitions. */
  #setPolicies(): void {
    const { policies = [], sources } = this.#config
    const rules = compileRules(policies)
    const bySource = new Map(sources.map(({ name, config }) => [name, config.resilience]))
    this.registry.setPolicies({
      layersOf: (id) => {
        const source = this.#ownership.sourceOf(id) ?? ""
        const settings = bySource.get(source)
        const layers = rules.layersOf(id)
        return settings === undefined
          ? layers
          : [...layers, { from: `source "${source}"`, rule: `source "${source}"`, settings }]
      },
      sourceOf: (id) => this.#ownership.sourceOf(id),
    })
  }

  /** The rules of the hub and of the source of an operation: the strictest decision counts. */
  #setApprovals(before: ResolvedConfig | undefined): void {
    const { approvals, sources } = this.#config
    if (before !== undefined && sameData(approvalsIn(before), approvalsIn(this.#config))) return
    const ofHub = approvals && compileList(approvals, "hub")
    const bySource = new Map(
      sources.flatMap(({ name, config }) =>
        config.approvals === undefined
          ? []
          : [[name, compileList(config.approvals, `source "${name}"`)] as const],
      ),
    )
    this.#approvals.setLists((id) => {
      const ofSource = bySource.get(this.#ownership.sourceOf(id) ?? "")
      return [ofHub ?? [], ...(ofSource === undefined ? [] : [ofSource])]
    })
    const isConfigured = ofHub !== undefined || bySource.size > 0
    this.registry.setApprovals(isConfigured ? this.#approvals : undefined)
  }

  #add(source: ResolvedConfig["sources"][number]): SourceRunner {
    const runner = new SourceRunner(source, this.#internals)
    this.#runners.set(source.name, runner)
    return runner
  }

  #createInternals(): HubInternals {
    const hub = this
    return {
      logger: this.#logger,
      clock: this.#clock,
      approvals: this.#approvals,
      standing: this.#standing,
      retries: this.#options.retry ?? true,
      isWatching: this.#options.watch ?? false,
      ownership: this.#ownership,
      logReaders: this.#logListeners,
      get baseDir() {
        return hub.#config.baseDir
      },
      resolve: (text) => this.#resolve(text),
      mask: this.mask,
      changed: (status) => {
        const about = { source: status.name }
        this.#listeners.notifyLogged(status, this.#logger, "A status listener threw", about)
      },
      retire: (running, source) => this.#retire(running, source),
      sourceOf: (id) => this.#ownership.sourceOf(id),
      detailsOf: (name) => this.#runners.get(name)?.details,
      onApply: (prepare) => {
        this.#servers.add(prepare)
        return () => this.#servers.delete(prepare)
      },
    }
  }

  #retire(running: Running, source: OpenSource): void {
    const closing = running
      .idle(this.#clock, DRAIN_MS, this.#ended.signal)
      .then(() => source.close())
      .catch((error: unknown) => this.#logger.warn("A source was not closed", { error }))
      .finally(() => this.#retiring.delete(closing))
    this.#retiring.add(closing)
  }

  /** Keeps only the sources that `only` names. */
  #selectSources(config: ResolvedConfig): ResolvedConfig {
    const { only } = this.#options
    if (only === undefined) return config
    const names = config.sources.map(({ name }) => name)
    for (const name of only) if (!names.includes(name)) throw unknownSource(name, names)
    return { ...config, sources: config.sources.filter(({ name }) => only.includes(name)) }
  }

  #resolverOf({ baseDir }: ResolvedConfig): Resolver {
    return new Resolver({ env: this.#env, baseDir })
  }

  #setResolver(resolver: Resolver): void {
    this.#resolvers.push(resolver)
    this.#resolvedAt = this.#clock.now()
  }

  async #resolve(text: string): Promise<string> {
    const resolver = this.#resolvers.at(-1)
    if (resolver === undefined) return text
    const now = this.#clock.now()
    if (now - this.#resolvedAt > RENEWAL_MS) {
      resolver.refresh()
      this.#resolvedAt = now
    }
    return await resolver.resolve(text)
  }

  readonly mask = (text: string): string =>
    this.#resolvers.reduce((out, resolver) => resolver.mask(out), text)

  #assertOpen(): void {
    if (!this.isClosing) return
    throw new CallError("UNAVAILABLE", "The hub is closed.", { retryable: false })
  }
}

/** The link to traces is read whenever it is shown. */
function withoutLink({ telemetry }: ResolvedConfig): ResolvedConfig["telemetry"] {
  return telemetry && { ...telemetry, link: undefined }
}

/** All rules of a configuration, by the source that they are for. */
function approvalsIn({ approvals, sources }: ResolvedConfig): unknown {
  return [
    approvals,
    Object.fromEntries(sources.map(({ name, config }) => [name, config.approvals])),
  ]
}

function unknownSource(name: string, names: readonly string[]): CallError {
  const all = names.map((one) => `"${one}"`).join(", ")
  const cure = didYouMean(name, names) || (all === "" ? " There are none." : ` There are: ${all}.`)
  return new CallError("VALIDATION_ERROR", `There is no source "${name}".${cure}`, {
    retryable: false,
    mayHaveExecuted: false,
  })
}

/** A logger that masks secrets before they are logged. */
function maskedLogger(logger: Logger, mask: (text: string) => string): Logger {
  const line =
    (level: keyof Logger): Logger["warn"] =>
    (message, fields) => {
      const text = mask(redactText(message))
      if (fields === undefined) logger[level](text)
      else logger[level](text, mapTexts(redact(fields), mask) as Readonly<Record<string, unknown>>)
    }
  return { debug: line("debug"), info: line("info"), warn: line("warn"), error: line("error") }
}
