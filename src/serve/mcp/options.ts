import { ERROR_REPORTING, Failures } from "../../engine/failures.ts"
import type { ErrorReporting } from "../../engine/failures.ts"
import type { OptionsSchema } from "../../internal/options.ts"
import type { Logger } from "../../internal/logger.ts"
import type { OperationSpec } from "../../core/types.ts"
import { isolatedLogger } from "../../internal/notify.ts"
import { EXPOSE_OPTIONS, exposure } from "../expose.ts"
import type { ExposeOptions } from "../expose.ts"

/** With more operations, a model searches them instead of reading a list. */
export const MAX_LISTED_TOOLS = 64

/** How operations are shown to MCP clients. */
export interface SurfaceOptions extends ErrorReporting {
  /**
   * Names of tools. `underscore`: `task_create`, which every client accepts; `dots`: `task.create`; or a
   * function. Illegal or duplicate names are changed.
   */
  readonly naming?: "underscore" | "dots" | ((spec: OperationSpec) => string) | undefined
  /** `portable` rewrites input schemas so that all models accept them; `spec`, the default, keeps them. */
  readonly schemaProfile?: "spec" | "portable" | undefined
  readonly expose?: ExposeOptions | undefined
  /** Returns text for a result in place of JSON; `undefined` keeps the JSON. */
  readonly textResult?: ((data: unknown, spec: OperationSpec) => string | undefined) | undefined
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
  naming: { either: [{ oneOf: ["underscore", "dots"] }, "function"] },
  schemaProfile: { oneOf: ["spec", "portable"] },
  expose: {
    members: {
      ...EXPOSE_OPTIONS,
      mode: { oneOf: ["auto", "all", "search"] },
      threshold: { min: 0, whole: true },
    } satisfies OptionsSchema<ExposeOptions>,
  },
  textResult: "function",
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
export interface ResolvedSurfaceOptions {
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
  readonly failures: Failures
}

/** How much of a stream one call collects. */
export interface StreamLimits {
  readonly limit: number
  readonly maxLimit: number
  readonly timeoutMs: number
  readonly maxTimeoutMs: number
}

/** Fills in defaults. */
export function resolveSurfaceOptions(options: SurfaceOptions): ResolvedSurfaceOptions {
  const { naming = "underscore", schemaProfile = "spec", expose = {}, textResult } = options
  const { mode = "auto" } = expose
  const logger = isolatedLogger(options.logger)
  const maxLimit = options.maxStreamLimit ?? 1000
  const maxTimeoutMs = options.maxStreamTimeoutMs ?? 300_000
  return {
    naming,
    isPortable: schemaProfile === "portable",
    isExposed: exposure(expose),
    mode,
    threshold: expose.threshold ?? MAX_LISTED_TOOLS,
    textResult,
    maxResultBytes: options.maxResultBytes ?? 8 * 1024 * 1024,
    pageSize: options.pageSize ?? 200,
    ttlMs: Math.min(options.ttlMs ?? 300_000, Number.MAX_SAFE_INTEGER),
    streams: {
      limit: Math.min(options.streamLimit ?? 100, maxLimit),
      maxLimit,
      timeoutMs: Math.min(options.streamTimeoutMs ?? 10_000, maxTimeoutMs),
      maxTimeoutMs,
    },
    logger,
    failures: new Failures("mcp", options, logger),
  }
}
