/** One item of a stream, before its content is parsed. */
export interface Frame {
  readonly text: string
  /** The stream ended before the end of this frame. */
  readonly isUnfinished: boolean
  readonly event?: string | undefined
  readonly id?: string | undefined
  readonly retry?: number | undefined
}

/** Splits a text that arrives in arbitrary chunks into frames. */
export interface FrameParser {
  feed(text: string): readonly Frame[]
  /** The remaining frames at the end of the text. */
  end(): readonly Frame[]
  /** A frame exceeded the limit; the frames before it have been returned. */
  readonly isOverLimit: boolean
}

/** Parses frames that one character ends (JSON Lines) or begins (JSON sequences, RFC 7464). */
export function createFrameParser(separator: string, limit: number): FrameParser {
  // Parts are joined once: appending to a string chunk by chunk would copy it each time.
  let parts: string[] = []
  let length = 0
  let isFull = false

  return {
    feed(text) {
      const frames: Frame[] = []
      let from = 0
      while (!isFull) {
        const at = text.indexOf(separator, from)
        const end = at === -1 ? text.length : at
        parts.push(text.slice(from, end))
        length += end - from
        isFull = length > limit
        if (at === -1 || isFull) break
        frames.push({ text: parts.join(""), isUnfinished: false })
        parts = []
        length = 0
        from = at + 1
      }
      return frames
    },
    end() {
      const text = parts.join("")
      parts = []
      // In a sequence a line feed ends each item, so the last item is complete without a next separator.
      const isUnfinished = !text.endsWith("\n")
      return isFull || text.trim() === "" ? [] : [{ text, isUnfinished }]
    },
    get isOverLimit() {
      return isFull
    },
  }
}
