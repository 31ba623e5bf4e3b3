import { parseMediaType } from "./media-type.ts"

/** The text of some bytes: a byte order mark decides, then the declared charset, then UTF-8. */
export function decodeText(bytes: Uint8Array, contentType: string): string {
  const charset = markOf(bytes) ?? parseMediaType(contentType)?.parameters.get("charset")
  return decoderFor(charset).decode(bytes)
}

/** The text of bytes that are UTF-8 and look like text; `undefined` for all others. */
export function decodeIfText(bytes: Uint8Array): string | undefined {
  // No text has a NUL; many kinds of binary data do.
  if (bytes.includes(0)) return undefined
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(bytes)
  } catch {
    return undefined
  }
}

/** The first characters of a text, in one line; never half of a character. */
export function excerpt(text: string, length: number): string {
  const line = text
    // Twice what is needed, since white space will go.
    .slice(0, length * 4)
    .replaceAll(/[\s\p{Cc}]+/gu, " ")
    .trim()
  return cutText(line, length)
}

/** A text cut to a length and marked as such. */
export function cutText(text: string, length: number): string {
  if (text.length <= length) return text
  const end = /[\uD800-\uDBFF]/.test(text.charAt(length - 1)) ? length - 1 : length
  return `${text.slice(0, end)}…`
}

function markOf(bytes: Uint8Array): string | undefined {
  if (bytes[0] === 0xff && bytes[1] === 0xfe) return "utf-16le"
  if (bytes[0] === 0xfe && bytes[1] === 0xff) return "utf-16be"
  if (bytes[0] === 0xef && bytes[1] === 0xbb && bytes[2] === 0xbf) return "utf-8"
  return undefined
}

function decoderFor(charset: string | undefined): TextDecoder {
  try {
    return new TextDecoder(charset ?? "utf-8")
  } catch {
    // A charset that the platform does not know: most of such texts are ASCII.
    return new TextDecoder()
  }
}
