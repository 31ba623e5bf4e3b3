import { createParser } from "eventsource-parser"

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

// Room for field names and line ends, which the parser counts and the content limit does not.
const SLACK = 1024

/** Parses server-sent events by the WHATWG rules, but also returns a last event without its blank line. */
export function createSseFrameParser(
  limit: number,
  onRetry?: (milliseconds: number) => void,
): FrameParser {
  let frames: Frame[] = []
  let retry: number | undefined
  let isFull = false
  let isOver = false
  let endedWithReturn = false

  const parser = createParser({
    maxBufferSize: limit + SLACK,
    onEvent({ data, event, id }) {
      if (data.length > limit) isFull = true
      if (isFull) return
      frames.push({ text: data, event, id, retry, isUnfinished: isOver })
      retry = undefined
    },
    onRetry(milliseconds) {
      retry = milliseconds
      onRetry?.(milliseconds)
    },
    onError({ type }) {
      // Unknown fields are ignored, as the standard requires.
      if (type === "max-buffer-size-exceeded") isFull = true
    },
  })

  /** Converts line ends to "\n": after a "\r" at the end of a chunk, the parser would wait for more. */
  function withLineFeeds(text: string): string {
    const rest = endedWithReturn && text.startsWith("\n") ? text.slice(1) : text
    if (text !== "") endedWithReturn = text.endsWith("\r")
    return rest.includes("\r") ? rest.replaceAll(/\r\n?/g, "\n") : rest
  }

  function feed(text: string): readonly Frame[] {
    // The parser accepts nothing more once its limit is exceeded.
    if (!isFull) parser.feed(withLineFeeds(text))
    const parsed = frames
    frames = []
    return parsed
  }

  return {
    feed,
    end() {
      isOver = true
      // Ends an open line and an open event; does nothing if neither is open.
      return feed("\n\n")
    },
    get isOverLimit() {
      return isFull
    },
  }
}
