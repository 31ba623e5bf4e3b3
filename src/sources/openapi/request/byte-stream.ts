import { Unwritable } from "./errors.ts"
import type { ByteStream } from "./text.ts"

/** Converts any byte stream to one of the platform; text is encoded as UTF-8. */
export function streamOf(source: ByteStream): ReadableStream<Uint8Array> {
  if (source instanceof ReadableStream) {
    if (source.locked) throw new Unwritable("is a stream that is being read already")
    return source
  }
  return streamOfPieces([source])
}

/** Concatenates several pieces to one stream; each is read in turn. */
export function streamOfPieces(
  pieces: Iterable<string | Blob | ByteStream>,
): ReadableStream<Uint8Array> {
  const chunks = chunksOf(pieces)
  return new ReadableStream<Uint8Array>({
    async pull(controller) {
      const { done, value } = await chunks.next()
      if (done === true) controller.close()
      else controller.enqueue(value)
    },
    // Notify the source of a stream that it is no longer read.
    async cancel() {
      await chunks.return(undefined)
    },
  })
}

async function* chunksOf(
  pieces: Iterable<string | Blob | ByteStream>,
): AsyncGenerator<Uint8Array, void, undefined> {
  for (const piece of pieces) {
    if (typeof piece === "string") yield bytesOf(piece)
    else {
      const stream = piece instanceof Blob ? piece.stream() : piece
      for await (const chunk of stream as AsyncIterable<unknown>) yield bytesOf(chunk)
    }
  }
}

function bytesOf(chunk: unknown): Uint8Array {
  if (chunk instanceof Uint8Array) return chunk
  if (typeof chunk === "string") return new TextEncoder().encode(chunk)
  if (chunk instanceof ArrayBuffer) return new Uint8Array(chunk)
  if (ArrayBuffer.isView(chunk)) {
    return new Uint8Array(chunk.buffer, chunk.byteOffset, chunk.byteLength)
  }
  throw new TypeError(`A stream to be sent must yield bytes or text, got ${typeof chunk}.`)
}
