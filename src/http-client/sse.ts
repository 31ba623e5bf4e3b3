import { createParser } from "eventsource-parser"
import type { Frame, Frames } from "./frames.ts"

// Names of fields and line ends, which the parser counts and a limit on content does not mean.
const SLACK = 1024

/** Server-sent events, by the rules of the WHATWG but for a last one without its blank line. */
export function createSseFrames(limit: number, onRetry?: (milliseconds: number) => void): Frames {
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
      // Fields that nobody knows are ignored, as the standard says.
      if (type === "max-buffer-size-exceeded") isFull = true
    },
  })

  /** Every line ends with "\n": with a "\r" at the end of a chunk, the parser would wait for more. */
  function withLineFeeds(text: string): string {
    const rest = endedWithReturn && text.startsWith("\n") ? text.slice(1) : text
    if (text !== "") endedWithReturn = text.endsWith("\r")
    return rest.includes("\r") ? rest.replaceAll(/\r\n?/g, "\n") : rest
  }

  function feed(text: string): readonly Frame[] {
    // The parser takes nothing more once it was too much for it.
    if (!isFull) parser.feed(withLineFeeds(text))
    const given = frames
    frames = []
    return given
  }

  return {
    feed,
    end() {
      isOver = true
      // Ends the line and the event, whatever of the two is open; with nothing open, it is nothing.
      return feed("\n\n")
    },
    get isFull() {
      return isFull
    },
  }
}
