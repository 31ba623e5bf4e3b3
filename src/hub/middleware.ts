import { pathToFileURL } from "node:url"
import type { MiddlewareEntry } from "../config/model.ts"
import { CallError } from "../core/errors.ts"
import { middlewareIssue, type Middleware, type MiddlewareFunction } from "../core/middleware.ts"
import type { OperationRegistry } from "../engine/registry.ts"
import { reasonOf } from "../internal/message-text.ts"
import { isRecord } from "../internal/guards.ts"
import type { Logger } from "../internal/logger.ts"
import { importModule } from "../node/import-module.ts"
import { sameData } from "../internal/same-data.ts"
import { freshImporter, withoutStamp } from "./config-file/fresh-import.ts"
import { pathOf } from "./origin.ts"

type AnyMiddleware = Middleware | MiddlewareFunction

interface Loaded extends Omit<MiddlewareEntry, "use"> {
  readonly use: AnyMiddleware
}

/**
 * The middleware of a hub's configuration, in front of all its operations.
 *
 * While its modules are loaded, calls wait. If one cannot be loaded, calls that it is for fail: it may be what keeps
 * tenants apart.
 */
export class HubMiddleware {
  readonly #registry: OperationRegistry
  readonly #logger: Logger
  #entries: readonly MiddlewareEntry[] = []
  #baseDir = ""
  #remove: readonly (() => void)[] = []
  /** Settles when the modules of the first configuration are loaded, or failed to be. */
  readonly first: Promise<void>

  constructor(
    registry: OperationRegistry,
    logger: Logger,
    entries: readonly MiddlewareEntry[],
    baseDir: string,
  ) {
    this.#registry = registry
    this.#logger = logger
    this.#entries = entries
    this.#baseDir = baseDir
    const loading = entries.map(async (entry) => await load(entry, baseDir, importModule))
    this.#install(entries.map((entry, index) => ({ ...entry, use: whenLoaded(loading, index) })))
    this.first = Promise.all(loading).then(
      (loaded) => {
        if (this.#entries === entries) this.#install(loaded)
      },
      (error: unknown) =>
        this.#logger.error("Middleware was not loaded", { error: reasonOf(error) }),
    )
  }

  /** Changes to another configuration; if it cannot be loaded, that from before stays in use. */
  async apply(entries: readonly MiddlewareEntry[], baseDir: string): Promise<void> {
    if (baseDir === this.#baseDir && sameData(entries, this.#entries)) return
    const importFresh = freshImporter()
    const loaded = await Promise.all(entries.map((entry) => load(entry, baseDir, importFresh)))
    this.#entries = entries
    this.#baseDir = baseDir
    this.#install(loaded)
  }

  /** At once, so that no call finds only a part of it. */
  #install(entries: readonly Loaded[]): void {
    for (const remove of this.#remove) remove()
    this.#remove = entries.map(({ use, match, name }) => this.#registry.use(use, { match, name }))
  }
}

async function load(
  { use, ...options }: MiddlewareEntry,
  baseDir: string,
  importUrl: (url: string) => Promise<unknown>,
): Promise<Loaded> {
  if (typeof use !== "string") return { ...options, use }
  const name = options.name ?? use
  try {
    const module = await importUrl(pathToFileURL(pathOf(use, baseDir)).href)
    const exported = isRecord(module) ? (module["default"] as AnyMiddleware) : undefined
    const issue = middlewareIssue(exported)
    if (issue !== undefined) throw new TypeError(`its default export ${issue}`)
    return { ...options, name, use: exported as AnyMiddleware }
  } catch (cause) {
    const reason = withoutStamp(reasonOf(cause)).replace(/\.$/, "")
    const message = `The middleware "${use}" of the configuration cannot be loaded: ${reason}.`
    throw new CallError("UNAVAILABLE", message, { cause, retryable: false })
  }
}

/** Calls wait for the module, and then go the usual way. */
function whenLoaded(loading: readonly Promise<Loaded>[], index: number): Middleware {
  const chosen = async (
    spec: Parameters<NonNullable<Middleware["for"]>>[0],
  ): Promise<Middleware> => {
    let use: AnyMiddleware | undefined = (await loading[index])?.use
    if (typeof use === "object" && use.for !== undefined) use = use.for(spec)
    return typeof use === "function" ? { call: use } : (use ?? {})
  }
  return {
    call: async (call, next) => (await chosen(call.spec)).call?.(call, next) ?? next(),
    stream: async function* (call, next) {
      yield* (await chosen(call.spec)).stream?.(call, next) ?? next()
    },
  }
}
