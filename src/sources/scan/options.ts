import { validateOptions, type OptionsSchema } from "../../internal/options.ts"
import { consoleLogger } from "../../internal/logger.ts"
import { quote } from "../../internal/message-text.ts"
import { isObject } from "../../internal/guards.ts"
import type { ScannerFS, ScanOptions, ScanProblem } from "./types.ts"

/** Options with every default filled in. */
export interface ScanSettings {
  readonly report: (problem: ScanProblem) => void
  readonly importTimeout: number
  readonly extensions: readonly string[]
  readonly signal: AbortSignal | undefined
}

const EXTENSIONS = [".ts", ".js", ".mjs"]
const IMPORT_TIMEOUT = 5000

export const SCAN_OPTIONS: OptionsSchema<ScanOptions> = {
  onProblem: "function",
  logger: "logger",
  importTimeout: "duration",
  extensions: { list: { pattern: /^\.[^/\\]+$/, expected: 'an extension such as ".ts"' } },
  signal: "signal",
}

/** Fills in the defaults. Throws a `TypeError` that names the invalid argument. */
export function resolveScanOptions(
  caller: string,
  dir: unknown,
  fs: ScannerFS,
  options: ScanOptions = {},
): ScanSettings {
  checkFolder(caller, dir)
  checkFS(caller, fs)
  validateOptions(caller, options, SCAN_OPTIONS)
  const {
    onProblem,
    logger = consoleLogger,
    importTimeout = IMPORT_TIMEOUT,
    extensions = EXTENSIONS,
    signal,
  } = options
  const report =
    onProblem ?? ((problem) => logger.warn("Skipped a file of the scanned folder", { ...problem }))
  return { report, importTimeout, extensions: [...extensions], signal }
}

function checkFolder(caller: string, dir: unknown): void {
  if (typeof dir !== "string" || dir === "") {
    fail(caller, `dir must be the path of a folder, got ${quote(dir)}`)
  }
  if (dir.startsWith("file:")) {
    fail(
      caller,
      `dir must be a path, got the URL ${quote(dir)}; convert it with fileURLToPath() of "node:url"`,
    )
  }
}

function checkFS(caller: string, fs: ScannerFS): void {
  if (!isObject(fs) || typeof fs.readdir !== "function" || typeof fs.cwd !== "function") {
    fail(
      caller,
      `fs must have readdir() and cwd(); on Node pass nodeFS of "@alkdev/operations/node"`,
    )
  }
  for (const method of ["importModule", "realpath"] as const) {
    if (fs[method] !== undefined && typeof fs[method] !== "function") {
      fail(caller, `fs.${method} must be a function, or left out`)
    }
  }
}

function fail(caller: string, message: string): never {
  throw new TypeError(`${caller}(dir, fs, options): ${message}.`)
}
