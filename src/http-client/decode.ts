import { cutText } from "../internal/message-text.ts"
import { parseMediaType } from "./media-type.ts"

/** Decodes bytes by their byte order mark, else by the declared charset, else as UTF-8. */
export function decodeText(bytes: Uint8Array, contentType: string): string {
  const charset =
    byteOrderMarkCharset(bytes) ?? parseMediaType(contentType)?.parameters.get("charset")
  return decoderFor(charset).decode(bytes)
}

/** Decodes bytes that are valid UTF-8 and look like text; `undefined` for all others. */
export function decodeIfText(bytes: Uint8Array): string | undefined {
  // Text does not contain NUL; many binary formats do.
  if (bytes.includes(0)) return undefined
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(bytes)
  } catch {
    return undefined
  }
}

/** The first characters of a text, on one line; never splits a surrogate pair. */
export function excerpt(text: string, length: number): string {
  const line = text
    // More than needed, since white space is collapsed.
    .slice(0, length * 4)
    .replaceAll(/[\s\p{Cc}]+/gu, " ")
    .trim()
  return cutText(line, length)
}

function byteOrderMarkCharset(bytes: Uint8Array): string | undefined {
  if (bytes[0] === 0xff && bytes[1] === 0xfe) return "utf-16le"
  if (bytes[0] === 0xfe && bytes[1] === 0xff) return "utf-16be"
  if (bytes[0] === 0xef && bytes[1] === 0xbb && bytes[2] === 0xbf) return "utf-8"
  return undefined
}

function decoderFor(charset: string | undefined): TextDecoder {
  try {
    return new TextDecoder(charset ?? "utf-8")
  } catch {
    // The platform does not know the charset; most such texts are ASCII.
    return new TextDecoder()
  }
}
