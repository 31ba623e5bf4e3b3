import { type FileLike, readFile } from "../schema/files.ts"
import { CallError } from "./errors.ts"
import { NotReady } from "./not-ready.ts"

/** Maximum size of a file that is sent as part of a message, and so is in memory, in bytes. */
const MAX_BYTES = 64 * 1024 * 1024

const loaded = new WeakMap<FileLike, Uint8Array>()

/** The bytes of a loaded file. A file must be loaded before it can be part of a message. */
export function loadedBytes(file: FileLike, path: string): Uint8Array {
  const bytes = loaded.get(file)
  if (bytes !== undefined) return bytes
  const what = `${path || "the value itself"} is a file that has not been read`
  throw new NotReady(`This has no form in JSON: ${what}.`, () => load(file), { path })
}

/** Reads a file. Rejects with `PAYLOAD_TOO_LARGE` if it is too large for a message. */
async function load(file: FileLike): Promise<void> {
  const bytes = await readFile(file, MAX_BYTES)
  if (bytes === undefined) {
    throw new CallError(
      "PAYLOAD_TOO_LARGE",
      `A file of more than ${MAX_BYTES} bytes does not fit into a message. Send it over HTTP, where it is streamed.`,
      { mayHaveExecuted: false },
    )
  }
  loaded.set(file, bytes)
}

/** Encodes a value that may contain files; reads them first where necessary. */
export async function encodeFiles<TResult>(encode: () => TResult): Promise<TResult> {
  return await encodeSoon(encode)
}

/** The same, at once where nothing has to be read. */
export function encodeSoon<TResult>(encode: () => TResult): TResult | Promise<TResult> {
  try {
    return encode()
  } catch (thrown) {
    if (!(thrown instanceof NotReady)) throw thrown
    return thrown.load().then(() => encodeSoon(encode))
  }
}
