import { consoleLogger } from "../logger.ts"
import { quote } from "../schema/describe.ts"
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

/** Fills in the defaults. Throws a `TypeError` that names the argument which makes no sense. */
export function scanSettings(
  caller: string,
  dir: unknown,
  fs: ScannerFS,
  options: ScanOptions = {},
): ScanSettings {
  checkFolder(caller, dir)
  checkFS(caller, fs)
  if (!isObject(options)) wrong(caller, `options must be an object, got ${quote(options)}`)
  const {
    onProblem,
    logger = consoleLogger,
    importTimeout = IMPORT_TIMEOUT,
    extensions = EXTENSIONS,
    signal,
  } = options
  if (onProblem !== undefined && typeof onProblem !== "function") {
    wrong(caller, `options.onProblem must be a function, got ${quote(onProblem)}`)
  }
  if (!isObject(logger) || typeof logger.warn !== "function") {
    wrong(caller, "options.logger must have debug, info, warn and error; console is one")
  }
  if (typeof importTimeout !== "number" || !(importTimeout > 0)) {
    wrong(
      caller,
      `options.importTimeout must be a number of milliseconds above 0, got ${quote(importTimeout)}; Infinity waits for ever`,
    )
  }
  if (!Array.isArray(extensions) || !extensions.every(isExtension)) {
    wrong(
      caller,
      `options.extensions must be a list such as [".ts", ".mjs"], got ${quote(extensions)}`,
    )
  }
  if (signal !== undefined && typeof signal?.addEventListener !== "function") {
    wrong(caller, "options.signal must be an AbortSignal; pass the signal of a controller")
  }
  const report =
    onProblem ?? ((problem) => logger.warn("Skipped a file of the scanned folder", { ...problem }))
  return { report, importTimeout, extensions: [...extensions], signal }
}

function checkFolder(caller: string, dir: unknown): void {
  if (typeof dir !== "string" || dir === "") {
    wrong(caller, `dir must be the path of a folder, got ${quote(dir)}`)
  }
  if (dir.startsWith("file:")) {
    wrong(
      caller,
      `dir must be a path, got the URL ${quote(dir)}; convert it with fileURLToPath() of "node:url"`,
    )
  }
}

function checkFS(caller: string, fs: ScannerFS): void {
  if (!isObject(fs) || typeof fs.readdir !== "function" || typeof fs.cwd !== "function") {
    wrong(
      caller,
      `fs must have readdir() and cwd(); on Node pass nodeFS of "@alkdev/operations/node"`,
    )
  }
  for (const method of ["importModule", "realpath"] as const) {
    if (fs[method] !== undefined && typeof fs[method] !== "function") {
      wrong(caller, `fs.${method} must be a function, or left out`)
    }
  }
}

function isObject(value: unknown): value is object {
  return typeof value === "object" && value !== null
}

function isExtension(value: unknown): boolean {
  return typeof value === "string" && /^\.[^/\\]+$/.test(value)
}

function wrong(caller: string, message: string): never {
  throw new TypeError(`${caller}(dir, fs, options): ${message}.`)
}
