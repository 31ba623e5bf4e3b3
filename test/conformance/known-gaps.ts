/** A test of the official suite that is known to fail, and why. The list may only get shorter. */
export interface KnownGap {
  readonly draft: string
  readonly file: string
  readonly group: string
  readonly test: string
  readonly reason: string
}

export const KNOWN_GAPS: readonly KnownGap[] = []
