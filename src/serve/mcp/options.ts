import { consoleLogger } from "../../logger.ts"
import type { Logger } from "../../logger.ts"
import type { OperationSpec } from "../../types.ts"

/** How operations are shown to MCP clients. */
export interface SurfaceOptions {
  /**
   * Names of tools. `underscore`: `task_create`, which every client takes; `dots`: `task.create`; or a
   * function. Names that are not legal or not free are changed until they are.
   */
  readonly naming?: "underscore" | "dots" | ((spec: OperationSpec) => string) | undefined
  /** `portable` rewrites input schemas to what all models take; `spec`, the default, leaves them as they are. */
  readonly schemaProfile?: "spec" | "portable" | undefined
  readonly expose?: ExposeOptions | undefined
  /** Prose in place of JSON for the text of a result; `undefined` from it means JSON. */
  readonly textResult?: ((data: unknown, spec: OperationSpec) => string | undefined) | undefined
  /** Larger results are refused, in bytes of JSON; 8 MB. */
  readonly maxResultBytes?: number | undefined
  /** Tools on one page of the list; 200. */
  readonly pageSize?: number | undefined
  /** How long clients may keep a list, in milliseconds; 5 minutes. */
  readonly ttlMs?: number | undefined
  /** Items that a call of a subscription collects when its caller does not say; 100. */
  readonly streamLimit?: number | undefined
  /** The most items that a caller may ask for; 1000. */
  readonly maxStreamLimit?: number | undefined
  /** How long a call of a subscription collects when its caller does not say, in milliseconds; 10 s. */
  readonly streamTimeoutMs?: number | undefined
  /** The longest that a caller may ask for; 5 minutes. */
  readonly maxStreamTimeoutMs?: number | undefined
  readonly logger?: Logger | undefined
}

/** Which operations are shown, and how when they are many. */
export interface ExposeOptions {
  /** Ids (`"task.create"`), namespaces (`"task.*"`), or a function. Everything, when left out. */
  readonly include?: ExposeRule | undefined
  readonly exclude?: ExposeRule | undefined
  readonly namespaces?: readonly string[] | undefined
  /** `search` shows three tools that find, describe and call operations; `auto` does so past `threshold`. */
  readonly mode?: "auto" | "all" | "search" | undefined
  /** The most operations that `auto` shows one by one; 64. */
  readonly threshold?: number | undefined
}

export type ExposeRule = readonly string[] | ((spec: OperationSpec) => boolean)

/** Options with everything filled in. */
export interface SettledOptions {
  readonly naming: "underscore" | "dots" | ((spec: OperationSpec) => string)
  readonly isPortable: boolean
  readonly isExposed: (spec: OperationSpec) => boolean
  readonly mode: "auto" | "all" | "search"
  readonly threshold: number
  readonly textResult: ((data: unknown, spec: OperationSpec) => string | undefined) | undefined
  readonly maxResultBytes: number
  readonly pageSize: number
  readonly ttlMs: number
  readonly streams: StreamLimits
  readonly logger: Logger
}

/** How much of a stream one call collects. */
export interface StreamLimits {
  readonly limit: number
  readonly maxLimit: number
  readonly timeoutMs: number
  readonly maxTimeoutMs: number
}

/** Fills in what was left out; throws a `TypeError` for what makes no sense. */
export function settleOptions(options: SurfaceOptions): SettledOptions {
  const { naming = "underscore", schemaProfile = "spec", expose = {}, textResult } = options
  const { mode = "auto" } = expose
  if (typeof naming !== "function") oneOf("naming", naming, ["underscore", "dots"])
  oneOf("schemaProfile", schemaProfile, ["spec", "portable"])
  oneOf("expose.mode", mode, ["auto", "all", "search"])
  if (textResult !== undefined && typeof textResult !== "function") {
    throw new TypeError("toMCP(): textResult must be a function.")
  }
  const maxLimit = whole("maxStreamLimit", options.maxStreamLimit, 1000)
  const maxTimeoutMs = whole("maxStreamTimeoutMs", options.maxStreamTimeoutMs, 300_000)
  return {
    naming,
    isPortable: schemaProfile === "portable",
    isExposed: exposure(expose),
    mode,
    threshold: whole("expose.threshold", expose.threshold, 64, 0),
    textResult,
    maxResultBytes: whole("maxResultBytes", options.maxResultBytes, 8 * 1024 * 1024),
    pageSize: whole("pageSize", options.pageSize, 200),
    ttlMs: Math.min(whole("ttlMs", options.ttlMs, 300_000, 0), Number.MAX_SAFE_INTEGER),
    streams: {
      limit: Math.min(whole("streamLimit", options.streamLimit, 100), maxLimit),
      maxLimit,
      timeoutMs: Math.min(whole("streamTimeoutMs", options.streamTimeoutMs, 10_000), maxTimeoutMs),
      maxTimeoutMs,
    },
    logger: options.logger ?? consoleLogger,
  }
}

/** What the rules make of a spec; `caller` is whose options they are, for what is said of mistakes. */
export function exposure(
  expose: ExposeOptions,
  caller: string = "toMCP",
): (spec: OperationSpec) => boolean {
  const { namespaces } = expose
  const include =
    expose.include === undefined ? undefined : matcher("include", expose.include, caller)
  const exclude =
    expose.exclude === undefined ? undefined : matcher("exclude", expose.exclude, caller)
  if (namespaces !== undefined && !isStrings(namespaces)) {
    throw new TypeError(`${caller}(): expose.namespaces must be a list of names, such as ["task"].`)
  }
  return (spec) =>
    spec.visibility !== "internal" &&
    (namespaces === undefined || namespaces.includes(spec.namespace)) &&
    (include === undefined || include(spec)) &&
    (exclude === undefined || !exclude(spec))
}

function matcher(
  option: string,
  rule: ExposeRule,
  caller: string,
): (spec: OperationSpec) => boolean {
  if (typeof rule === "function") return rule
  if (!isStrings(rule)) {
    throw new TypeError(
      `${caller}(): expose.${option} must be a function, or a list such as ["task.create", "mail.*"].`,
    )
  }
  const ids = new Set(rule)
  return ({ namespace, name }) => ids.has(`${namespace}.${name}`) || ids.has(`${namespace}.*`)
}

function isStrings(value: unknown): value is readonly string[] {
  return Array.isArray(value) && value.every((item) => typeof item === "string")
}

function oneOf(option: string, value: unknown, allowed: readonly string[]): void {
  if (allowed.includes(value as string)) return
  throw new TypeError(`toMCP(): ${option} must be one of ${allowed.join(", ")}.`)
}

function whole(option: string, value: number | undefined, fallback: number, least = 1): number {
  if (value === undefined) return fallback
  if (value === Number.POSITIVE_INFINITY || (Number.isInteger(value) && value >= least))
    return value
  throw new TypeError(`toMCP(): ${option} must be a whole number, at least ${least}.`)
}
