/** Decodes percent-encoding; text that is not valid percent-encoding is returned unchanged. */
export function percentDecoded(text: string): string {
  try {
    return decodeURIComponent(text)
  } catch {
    return text
  }
}
