import type { Clock } from "../platform.ts"
import { systemClock } from "../internal/clock.ts"
import { reading } from "../internal/read.ts"
import type { Logger } from "../logger.ts"
import { consoleLogger } from "../logger.ts"
import type { NormalizeReport, OutputWarning } from "../result-pipeline.ts"
import type { NormalizeMode, OutputMode } from "../types.ts"
import type { CatalogOptions } from "./catalog.ts"
import type { KernelOptions } from "./kernel.ts"

/** What may be set on a registry. Everything has a default. */
export interface RegistryOptions {
  /** A result that fails its schema: log it (the default), fail the call, or say nothing. */
  readonly output?: OutputMode | undefined
  /** Strip undeclared properties of results (the default), keep them, or leave results alone. */
  readonly normalize?: NormalizeMode | undefined
  /** Hears of every result that fails its schema, beside the log. */
  readonly onWarning?: ((warning: OutputWarning) => void) | undefined
  /** Hears of every result that was changed to fit its schema. */
  readonly onNormalize?: ((report: NormalizeReport) => void) | undefined
  /** Milliseconds a call may take when its caller gives no deadline; 30,000. `Infinity` for no limit. */
  readonly timeout?: number | undefined
  /** How deep calls may nest, the outermost counted; 16. */
  readonly maxDepth?: number | undefined
  /** How many nested calls one outermost call may lead to; 1,000. */
  readonly maxNestedCalls?: number | undefined
  /** Let `format` in schemas reject values; annotations otherwise. */
  readonly formats?: boolean | undefined
  readonly logger?: Logger | undefined
  readonly clock?: Clock | undefined
}

/** Fills in the defaults. Throws a `TypeError` that names an option that makes no sense. */
export function kernelOptions(options: RegistryOptions): KernelOptions & CatalogOptions {
  return reading("new OperationRegistry(options): options", () => settle(options))
}

function settle(options: RegistryOptions): KernelOptions & CatalogOptions {
  if (typeof options !== "object" || options === null) {
    throw new TypeError("new OperationRegistry(options): options must be an object.")
  }
  const {
    output = "warn",
    normalize = "strip",
    logger = consoleLogger,
    clock = systemClock,
  } = options
  oneOf("output", output, ["warn", "strict", "off"])
  oneOf("normalize", normalize, ["strip", "keep", "off"])
  const { timeout = 30_000, maxDepth = 16, maxNestedCalls = 1000 } = options
  if (typeof timeout !== "number" || !(timeout > 0)) {
    throw wrong("timeout", "a positive number of milliseconds, or Infinity")
  }
  for (const [name, value] of Object.entries({ maxDepth, maxNestedCalls })) {
    if (typeof value !== "number" || !(value >= 1)) throw wrong(name, "a number of at least 1")
  }
  for (const name of ["onWarning", "onNormalize"] as const) {
    const listener: unknown = options[name]
    if (listener !== undefined && typeof listener !== "function") throw wrong(name, "a function")
  }
  methods("logger", logger, ["debug", "info", "warn", "error"])
  methods("clock", clock, ["now", "setTimeout", "clearTimeout"])
  return {
    output,
    normalize,
    formats: options.formats === true,
    logger,
    clock,
    timeout,
    maxDepth,
    maxNestedCalls,
    onWarning: options.onWarning,
    onNormalize: options.onNormalize,
  }
}

function oneOf(name: string, value: unknown, allowed: readonly string[]): void {
  if (!allowed.includes(value as string)) {
    throw wrong(
      name,
      allowed
        .map((word) => `"${word}"`)
        .join(", ")
        .replace(/, ([^,]*)$/, " or $1"),
    )
  }
}

function methods(name: string, value: unknown, names: readonly string[]): void {
  const missing = names.find(
    (method) => typeof (value as Record<string, unknown> | null)?.[method] !== "function",
  )
  if (missing !== undefined) throw wrong(name, `an object with a function "${missing}"`)
}

function wrong(name: string, expected: string): TypeError {
  return new TypeError(`new OperationRegistry({ ${name} }): must be ${expected}.`)
}
