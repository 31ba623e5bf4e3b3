/** Reads the files of an OpenAPI document. `nodeFS` of `@alkdev/operations/node` is one. */
export interface OpenAPIFS {
  /** A file's text, without a byte order mark. */
  readFile(path: string): Promise<string>
}

/** The time source of the library. Replace it in tests. */
export interface Clock {
  /** Monotonic milliseconds from any start, for durations and deadlines. */
  now(): number
  /** The date in milliseconds since 1970, for times that are displayed, sent or signed; `now` by default. */
  wallTime?(): number
  /** Calls back after some milliseconds; returns the handle for `clearTimeout`. */
  setTimeout(callback: () => void, milliseconds: number): unknown
  clearTimeout(timer: unknown): void
  /** Calls back after the current task; `setTimeout` with 0 by default. */
  defer?(callback: () => void): void
}
