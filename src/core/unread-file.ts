import { type FileLike, readFile } from "../schema/files.ts"
import { unsentResult } from "./error-changes.ts"
import { CallError } from "./errors.ts"
import { NotReady } from "./not-ready.ts"

/** Maximum size of a file that has to be in memory, such as in a message, in bytes. */
const MAX_BYTES = 64 * 1024 * 1024

const loaded = new WeakMap<FileLike, Uint8Array>()

/** The bytes of a loaded file. A file must be loaded before it can be part of a message. */
export function loadedBytes(file: FileLike, path: string): Uint8Array {
  const bytes = loaded.get(file)
  if (bytes !== undefined) return bytes
  const what = `${path || "the value itself"} is a file that has not been read`
  throw new NotReady(`This has no form in JSON: ${what}.`, () => load(file), { path })
}

async function load(file: FileLike): Promise<void> {
  const cure = "does not fit into a message. Send it over HTTP, where it is streamed"
  loaded.set(file, await readWhole(file, cure))
}

/** Reads a file into memory. Rejects with `PAYLOAD_TOO_LARGE` and the advice if it is too large for that. */
export async function readWhole(file: FileLike, cure: string): Promise<Uint8Array<ArrayBuffer>> {
  const bytes = await readFile(file, MAX_BYTES)
  if (bytes !== undefined) return bytes
  throw new CallError("PAYLOAD_TOO_LARGE", `A file of more than ${MAX_BYTES} bytes ${cure}.`, {
    mayHaveExecuted: false,
  })
}

/** Encodes a result that may contain files. If that fails, its handler has run nevertheless. */
export async function encodeResult<TResult>(encode: () => TResult): Promise<TResult> {
  try {
    return await encodeSoon(encode)
  } catch (thrown) {
    throw unsentResult(thrown)
  }
}

/** Encodes a value that may contain files, at once where nothing has to be read. */
export function encodeSoon<TResult>(encode: () => TResult): TResult | Promise<TResult> {
  try {
    return encode()
  } catch (thrown) {
    if (!(thrown instanceof NotReady)) throw thrown
    return thrown.load().then(() => encodeSoon(encode))
  }
}
