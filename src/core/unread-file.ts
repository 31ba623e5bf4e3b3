import { readFile } from "../schema/files.ts"
import type { FileLike } from "../schema/files.ts"
import { CallError } from "./errors.ts"

/** Files that become part of a message, and are in memory for that, have at most this many bytes. */
const MAX_BYTES = 64 * 1024 * 1024

const loaded = new WeakMap<FileLike, Uint8Array>()

/**
 * Thrown for a file that is to become part of a message, and has to be read for that first.
 *
 * Whoever sends the message calls `load`, and tries again.
 */
export class UnreadFile extends CallError {
  readonly #file: FileLike

  constructor(file: FileLike, path: string) {
    super(
      "EXECUTION_ERROR",
      `This has no form in JSON: ${path || "the value itself"} is a file that was not read.`,
      { details: { path } },
    )
    this.#file = file
  }

  /** Reads the file. Rejects with `PAYLOAD_TOO_LARGE` if it is too large for a message. */
  async load(): Promise<void> {
    const bytes = await readFile(this.#file, MAX_BYTES)
    if (bytes === undefined) {
      throw new CallError(
        "PAYLOAD_TOO_LARGE",
        `A file of more than ${MAX_BYTES} bytes does not fit into a message. Send it over HTTP, where it is streamed.`,
        { mayHaveExecuted: false },
      )
    }
    loaded.set(this.#file, bytes)
  }
}

/** The bytes of a file that was loaded. */
export function loadedBytes(file: FileLike, path: string): Uint8Array {
  const bytes = loaded.get(file)
  if (bytes === undefined) throw new UnreadFile(file, path)
  return bytes
}

/** Encodes a value that may contain files; reads them first where necessary. */
export async function encodeFiles<TResult>(encode: () => TResult): Promise<TResult> {
  for (;;) {
    try {
      return encode()
    } catch (thrown) {
      if (!(thrown instanceof UnreadFile)) throw thrown
      await thrown.load()
    }
  }
}
