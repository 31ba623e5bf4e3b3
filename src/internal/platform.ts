/** What reads an OpenAPI document. `nodeFS` of `@alkdev/operations/node` is one. */
export interface OpenAPIFS {
  /** A file's text, without a byte order mark. */
  readFile(path: string): Promise<string>
}

/** Time, as the library sees it. Replace it to test with a clock of your own. */
export interface Clock {
  /** Milliseconds that only ever grow, from any start: what durations and deadlines are measured with. */
  now(): number
  /** The date in milliseconds since 1970, for what is shown, sent or signed; `now` when left out. */
  wallTime?(): number
  /** Calls back after some milliseconds; gives what `clearTimeout` takes. */
  setTimeout(callback: () => void, milliseconds: number): unknown
  clearTimeout(timer: unknown): void
  /** Calls back as soon as what runs now is over; `setTimeout` with 0 when left out. */
  defer?(callback: () => void): void
}
