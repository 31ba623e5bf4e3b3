import type { HTTPIncoming } from "../../exchange.ts"
import { HTTPRefusal, tooLong } from "../context.ts"
import type { ByteReader } from "./multipart.ts"

/** Reads the body of a request up to a limit. Throws a refusal when it is longer. */
export class LimitedReader implements ByteReader {
  readonly #reader: ReadableStreamDefaultReader<Uint8Array>
  readonly #max: number
  #left: number

  constructor(incoming: HTTPIncoming, max: number) {
    if (Number(incoming.header("content-length")) > max) throw tooLong(max)
    if (incoming.openBody === undefined) {
      throw new HTTPRefusal(415, "VALIDATION_ERROR", "This server takes bodies as JSON only.")
    }
    this.#reader = incoming.openBody().getReader()
    this.#max = max
    this.#left = max
  }

  async read(): Promise<Uint8Array | undefined> {
    const { value } = await this.#reader.read()
    this.#left -= value?.byteLength ?? 0
    if (this.#left >= 0) return value
    this.cancel()
    throw tooLong(this.#max)
  }

  cancel(): void {
    this.#reader.cancel().catch(() => undefined)
  }
}
