/** What reads an OpenAPI document. `nodeFS` of `@alkdev/operations/node` is one. */
export interface OpenAPIFS {
  /** A file's text, without a byte order mark. */
  readFile(path: string): Promise<string>
}
