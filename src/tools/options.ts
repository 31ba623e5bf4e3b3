import { ERROR_REPORTING, Failures, type ErrorReporting } from "../engine/failures.ts"
import type { Filled, OptionsSchema } from "../internal/options.ts"
import type { Logger } from "../internal/logger.ts"
import type { OperationSpec, CallWay } from "../core/types.ts"
import { isolatedLogger } from "../internal/notify.ts"
import { systemClock } from "../internal/clock.ts"
import { EXPOSE_OPTIONS, exposure, type ExposeOptions } from "./expose.ts"
import { KeptResults } from "./kept-results.ts"

/** With more operations, a model searches them instead of reading a list. */
export const MAX_LISTED_TOOLS = 64

/** How operations are shown to MCP clients. */
export interface SurfaceOptions extends ErrorReporting {
  /**
   * Names of tools. `underscore`: `task_create`, which every client accepts; `dots`: `task.create`; `raw`: tools
   * of the one imported server keep the names that they have there; or a function. Illegal or duplicate names
   * are changed. A name is never given to another operation while the server lives.
   */
  readonly naming?: "underscore" | "dots" | "raw" | ((spec: OperationSpec) => string) | undefined
  /**
   * `portable` rewrites input schemas so that all models accept them; `strict` also for the strict mode of model APIs,
   * where a schema allows that; `spec`, the default, keeps them.
   */
  readonly schemaProfile?: "spec" | "portable" | "strict" | undefined
  readonly expose?: ExposeOptions | undefined
  /** Returns text for a result in place of JSON; `undefined` keeps the JSON. */
  readonly textResult?: ((data: unknown, spec: OperationSpec) => string | undefined) | undefined
  /**
   * Characters of a result that a model receives; default: 40,000. Of a longer one it receives whole items, and reads
   * on with the tool `read_result`. `Infinity` sends results whole. Tools of imported servers that are served as tools
   * of their own are passed on as they are, unless this is set.
   */
  readonly maxResultLength?: number | undefined
  /** Maximum size of a result, in bytes of JSON; default: 8 MB. */
  readonly maxResultBytes?: number | undefined
  /** Tools on one page of the list; default: 200. */
  readonly pageSize?: number | undefined
  /** Milliseconds that clients may cache a list; default: 5 minutes. */
  readonly ttlMs?: number | undefined
  /** Default number of items that a call of a subscription collects; default: 100. */
  readonly streamLimit?: number | undefined
  /** Maximum number of items that a caller may ask for; default: 1000. */
  readonly maxStreamLimit?: number | undefined
  /** Default time that a call of a subscription collects, in milliseconds; default: 10 s. */
  readonly streamTimeoutMs?: number | undefined
  /** Maximum time that a caller may ask for, in milliseconds; default: 5 minutes. */
  readonly maxStreamTimeoutMs?: number | undefined
  readonly logger?: Logger | undefined
}

export const SURFACE_OPTIONS: OptionsSchema<SurfaceOptions> = {
  naming: { either: [{ oneOf: ["underscore", "dots", "raw"] }, "function"] },
  schemaProfile: { oneOf: ["spec", "portable", "strict"] },
  expose: {
    members: {
      ...EXPOSE_OPTIONS,
      mode: { oneOf: ["auto", "all", "search"] },
      threshold: { min: 0, whole: true },
    } satisfies OptionsSchema<ExposeOptions>,
  },
  textResult: "function",
  maxResultLength: "count",
  maxResultBytes: "count",
  pageSize: "count",
  ttlMs: { min: 0, whole: true },
  streamLimit: "count",
  maxStreamLimit: "count",
  streamTimeoutMs: "count",
  maxStreamTimeoutMs: "count",
  ...ERROR_REPORTING,
  logger: "logger",
}

/** Options with defaults filled in. */
export interface ResolvedSurfaceOptions
  extends
    Pick<SurfaceOptions, "textResult">,
    Filled<
      SurfaceOptions,
      "naming" | "maxResultLength" | "maxResultBytes" | "pageSize" | "ttlMs" | "logger"
    >,
    Filled<ExposeOptions, "mode" | "threshold"> {
  readonly isPortable: boolean
  readonly isStrict: boolean
  readonly isExposed: (spec: OperationSpec) => boolean
  readonly streams: StreamLimits
  readonly failures: Failures
  /** How its calls come. */
  readonly via: CallWay
  /** `maxResultLength` was given: it applies to tools of imported servers, too. */
  readonly isLimitSet: boolean
  /** Results that were longer than `maxResultLength`. */
  readonly kept: KeptResults
}

/** How much of a stream one call collects. */
export interface StreamLimits {
  readonly limit: number
  readonly maxLimit: number
  readonly timeoutMs: number
  readonly maxTimeoutMs: number
}

/** Fills in defaults. */
export function resolveSurfaceOptions(
  options: SurfaceOptions,
  kind: CallWay,
): ResolvedSurfaceOptions {
  const { naming = "underscore", schemaProfile = "spec", expose = {}, textResult } = options
  const { mode = "auto", threshold = MAX_LISTED_TOOLS } = expose
  const { maxResultLength = 40_000, maxResultBytes = 8 * 1024 * 1024, pageSize = 200 } = options
  const logger = isolatedLogger(options.logger)
  const maxLimit = options.maxStreamLimit ?? 1000
  const maxTimeoutMs = options.maxStreamTimeoutMs ?? 300_000
  return {
    ...{ naming, mode, threshold, textResult, maxResultLength, maxResultBytes, pageSize, logger },
    isPortable: schemaProfile !== "spec",
    isStrict: schemaProfile === "strict",
    isExposed: exposure(expose, logger),
    ttlMs: Math.min(options.ttlMs ?? 300_000, Number.MAX_SAFE_INTEGER),
    streams: {
      limit: Math.min(options.streamLimit ?? 100, maxLimit),
      maxLimit,
      timeoutMs: Math.min(options.streamTimeoutMs ?? 10_000, maxTimeoutMs),
      maxTimeoutMs,
    },
    failures: new Failures(kind, options, logger),
    via: kind,
    isLimitSet: options.maxResultLength !== undefined,
    kept: new KeptResults(systemClock),
  }
}
