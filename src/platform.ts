/** What reads an OpenAPI document. `nodeFS` of `@alkdev/operations/node` is one. */
export interface OpenAPIFS {
  /** A file's text, without a byte order mark. */
  readFile(path: string): Promise<string>
}

/** Time, as the library sees it. Replace it to test with a clock of your own. */
export interface Clock {
  now(): number
  /** Calls back after some milliseconds; gives what `clearTimeout` takes. */
  setTimeout(callback: () => void, milliseconds: number): unknown
  clearTimeout(timer: unknown): void
  /** Calls back as soon as what runs now is over; `setTimeout` with 0 when left out. */
  defer?(callback: () => void): void
}
