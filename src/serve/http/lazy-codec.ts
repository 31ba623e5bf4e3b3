import type { ResponseEnvelope } from "../../core/envelope.ts"
import type * as CodecModule from "../../core/envelope-codec.ts"
import type { BinaryKind, WireEnvelope } from "../../core/envelope-codec.ts"
import { NotReady } from "../../core/not-ready.ts"
import { isPlainJson } from "../../core/plain-json.ts"

let codec: typeof CodecModule | undefined

/** The codec of values with bytes or files. Throws `NotReady` before it is loaded. */
function loadedCodec(): typeof CodecModule {
  if (codec !== undefined) return codec
  throw new NotReady("The module for bytes was not loaded.", async () => {
    codec = await import("../../core/envelope-codec.ts")
  })
}

/** The form of an envelope for `JSON.stringify`, like that of the codec. */
export function encodeEnvelope(envelope: ResponseEnvelope): WireEnvelope {
  const { data, meta } = envelope
  if (!isPlainJson(data)) return loadedCodec().encodeEnvelope(envelope)
  return data === undefined ? { meta } : envelope
}

/** The form of a value for `JSON.stringify`, like that of the codec. */
export function encodeValue(value: unknown): {
  readonly value: unknown
  readonly binary: Readonly<Record<string, BinaryKind>> | undefined
} {
  return isPlainJson(value) ? { value, binary: undefined } : loadedCodec().encodeValue(value)
}
