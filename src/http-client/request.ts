/** A request that is ready to be sent. */
export interface PreparedRequest {
  readonly method: string
  readonly url: string
  /** Lower-case names. */
  readonly headers: Record<string, string>
  readonly body: string | Uint8Array | Blob | FormData | ReadableStream<Uint8Array> | undefined
}
