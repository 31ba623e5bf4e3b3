/** Larger files would make a page that holds them as text slow. */
const MAX_FILE_BYTES = 8 * 1024 * 1024

/** The bytes of a file as base64 text. Rejects with what to do when it is too large. */
export async function toBase64(file: File): Promise<string> {
  if (file.size > MAX_FILE_BYTES) {
    throw new Error(
      `"${file.name}" is larger than 8 MB. Send it with the command or the API instead.`,
    )
  }
  const bytes = new Uint8Array(await file.arrayBuffer())
  let text = ""
  // In pieces: a call takes only so many arguments.
  for (let at = 0; at < bytes.length; at += 0x8000) {
    text += String.fromCharCode(...bytes.subarray(at, at + 0x8000))
  }
  return btoa(text)
}

/** How many bytes base64 text stands for. */
export function base64Bytes(text: string): number {
  const padding = text.endsWith("==") ? 2 : text.endsWith("=") ? 1 : 0
  return Math.max(0, Math.floor((text.length * 3) / 4) - padding)
}
