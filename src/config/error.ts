import { CallError } from "../core/errors.ts"
import type { Locate } from "../internal/located.ts"

/** A mistake in a configuration. Values are never shown: any of them may be a secret. */
export interface ConfigFault {
  /** `sources.github.headers`; empty for the whole. */
  readonly path: string
  /** What is wrong, and what to do. */
  readonly message: string
  readonly line?: number | undefined
  readonly column?: number | undefined
}

export interface ConfigErrorDetails {
  readonly file?: string | undefined
  readonly faults: readonly ConfigFault[]
}

const MAX_LISTED = 10
const PLAIN_KEY = /^[A-Za-z_$][\w$-]*$/
const MAX_KEY_LENGTH = 60

/** An invalid configuration: lists every mistake, each with its line and how to fix it. */
export class ConfigError extends CallError<"VALIDATION_ERROR", ConfigErrorDetails> {
  readonly faults: readonly ConfigFault[]
  readonly file: string | undefined

  constructor(
    faults: readonly ConfigFault[],
    options: { file?: string | undefined; cause?: unknown } = {},
  ) {
    const { file } = options
    super("VALIDATION_ERROR", messageOf(faults, file), {
      details: { ...(file !== undefined && { file }), faults },
      ...(options.cause !== undefined && { cause: options.cause }),
    })
    this.faults = faults
    this.file = file
  }

  static {
    this.prototype.name = "ConfigError"
  }
}

/** Makes a fault located at the given keys. */
export function faultAt(
  keys: readonly string[],
  message: string,
  locate: Locate | undefined,
): ConfigFault {
  const place = locate?.(keys)
  return {
    path: formatPath(keys),
    message,
    ...(place !== undefined && { line: place.line }),
    ...(place?.column !== undefined && { column: place.column }),
  }
}

/** Keys as a person would write them: `sources.github.tags[0]`, `sources["my api"]`. */
export function formatPath(keys: readonly string[]): string {
  return keys
    .map((key, at) => {
      if (/^\d+$/.test(key)) return `[${key}]`
      const shown = key.length > MAX_KEY_LENGTH ? `${key.slice(0, MAX_KEY_LENGTH)}…` : key
      if (!PLAIN_KEY.test(key)) return `[${JSON.stringify(shown)}]`
      return at === 0 ? shown : `.${shown}`
    })
    .join("")
}

/** Formats a fault as one line: place, path, and what to do. */
export function formatFault(fault: ConfigFault, file: string | undefined): string {
  const line = fault.line === undefined ? "" : `:${fault.line}`
  const column = fault.line === undefined || fault.column === undefined ? "" : `:${fault.column}`
  const where = file === undefined ? "" : `${file}${line}${column}: `
  const path = fault.path === "" ? "" : `"${fault.path}" `
  return `${where}${path}${fault.message}`
}

function messageOf(faults: readonly ConfigFault[], file: string | undefined): string {
  const lines = faults.slice(0, MAX_LISTED).map((fault) => formatFault(fault, file))
  if (faults.length > MAX_LISTED) lines.push(`… and ${faults.length - MAX_LISTED} more mistakes`)
  return lines.join("\n")
}
