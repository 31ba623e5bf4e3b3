/** A piece of a stream that stands for itself, before its content is looked at. */
export interface Frame {
  readonly text: string
  /** What should end it never came. */
  readonly isUnfinished: boolean
  readonly event?: string | undefined
  readonly id?: string | undefined
  readonly retry?: number | undefined
}

/** What cuts a text into frames, wherever its chunks were cut. */
export interface Frames {
  feed(text: string): readonly Frame[]
  /** What is left when the text is over. */
  end(): readonly Frame[]
  /** A frame was longer than allowed; what came before it has been given. */
  readonly isFull: boolean
}

/** Frames that one character ends (JSON lines) or begins (JSON sequences, RFC 7464). */
export function createFrames(separator: string, limit: number): Frames {
  // Parts, joined once: adding to a text chunk by chunk would copy it each time.
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
      // A line feed ends each item of a sequence, so such an item is whole without a next one.
      const isUnfinished = !text.endsWith("\n")
      return isFull || text.trim() === "" ? [] : [{ text, isUnfinished }]
    },
    get isFull() {
      return isFull
    },
  }
}
