import type { Logger } from "../../internal/logger.ts"

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
