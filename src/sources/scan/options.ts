import { validateOptions, type OptionsSchema } from "../../internal/options.ts"
import { consoleLogger, type Logger } from "../../internal/logger.ts"
import { quote } from "../../internal/message-text.ts"
import { isObject } from "../../internal/guards.ts"

/** One entry of a folder. */
export interface ScannerEntry {
  readonly name: string
  /** For a link: whether its target is a file. */
  readonly isFile: boolean
  /** For a link: whether its target is a folder. */
  readonly isDirectory: boolean
  readonly isSymlink?: boolean | undefined
}

/** The file system for the scanner; for example `nodeFS` of `@alkdev/operations/node`. */
export interface ScannerFS {
  readdir(path: string): AsyncIterable<ScannerEntry>
  cwd(): string
  /** Loads a module; default: `import()` of its file URL. */
  importModule?(url: string): Promise<unknown>
  /** Resolves links, so that nothing outside of the folder is loaded. */
  realpath?(path: string): Promise<string>
}

/** A file or export that was skipped. */
export interface ScanProblem {
  readonly file: string
  /** What is wrong, and how to fix it. */
  readonly reason: string
  /** The exception of the module or the file system. */
  readonly cause?: unknown
}

/** How a folder is scanned. */
export interface ScanOptions {
  /** Receives skipped files; throwing ends the scan. Default: logs a warning. */
  readonly onProblem?: ((problem: ScanProblem) => void) | undefined
  /** Default: the console. */
  readonly logger?: Logger | undefined
  /** Timeout of loading a module in milliseconds. Default: 5000. */
  readonly importTimeout?: number | undefined
  /** Default: `.ts`, `.js` and `.mjs`. */
  readonly extensions?: readonly string[] | undefined
  readonly signal?: AbortSignal | undefined
}

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
