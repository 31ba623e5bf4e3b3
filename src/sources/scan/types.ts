import type { Logger } from "../../internal/logger.ts"

/** One entry of a folder. */
export interface ScannerEntry {
  readonly name: string
  /** Of a link: whether it leads to a file. */
  readonly isFile: boolean
  /** Of a link: whether it leads to a folder. */
  readonly isDirectory: boolean
  readonly isSymlink?: boolean | undefined
}

/** The file system, as the scanner sees it. `nodeFS` of `@alkdev/operations/node` is one. */
export interface ScannerFS {
  readdir(path: string): AsyncIterable<ScannerEntry>
  cwd(): string
  /** Loads a module; `import()` of its file URL when left out. */
  importModule?(url: string): Promise<unknown>
  /** The real path behind links, so that nothing outside of the folder is loaded. */
  realpath?(path: string): Promise<string>
}

/** Something that was found and not taken. */
export interface ScanProblem {
  readonly file: string
  /** What is wrong and what to do about it. */
  readonly reason: string
  /** What the module, or the file system, threw. */
  readonly cause?: unknown
}

/** How a folder is scanned. */
export interface ScanOptions {
  /** Hears of what was skipped; what it throws ends the scan. Default: a warning in the log. */
  readonly onProblem?: ((problem: ScanProblem) => void) | undefined
  /** Default: the console. */
  readonly logger?: Logger | undefined
  /** Milliseconds that a module may take to load. Default: 5000. */
  readonly importTimeout?: number | undefined
  /** Default: `.ts`, `.js` and `.mjs`. */
  readonly extensions?: readonly string[] | undefined
  readonly signal?: AbortSignal | undefined
}
