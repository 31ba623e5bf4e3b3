import { CallError } from "../core/errors.ts"
import { readChunks } from "./exchange.ts"
import { excerpt } from "./decode.ts"
import type { RequestContext } from "./request-errors.ts"
import { createSseFrameParser, type Frame, type FrameParser } from "./sse.ts"
import { parseJson } from "./json.ts"
import type { StreamKind } from "./media-type.ts"
import { lostDigitsMessage } from "./read-body.ts"
import { maskSecrets } from "./secrets.ts"

/** One item of a stream. */
export interface StreamEvent {
  /** The JSON value of the text where it is one, else the text. */
  readonly data: unknown
  /** The text as it came, secrets masked. */
  readonly raw: string
  /** The name of a server-sent event. */
  readonly event?: string
  readonly id?: string
  /** Milliseconds to wait before connecting again, as the server asks. */
  readonly retry?: number
}

/** How a stream ended: with `[DONE]`, which is final, or because the connection closed. */
export type StreamEnd = "done" | "end"

/** How a stream is read. */
export interface ReadEventsOptions extends Omit<RequestContext, "mayHaveEffect" | "secrets"> {
  readonly secrets: readonly string[]
  /** Maximum length of an item in characters; 10 Mi. */
  readonly maxItemBytes?: number | undefined
  readonly mayHaveEffect?: boolean | undefined
  /** `text`: integers beyond 2^53 become strings. */
  readonly bigint?: "text" | undefined
  /** Receives warnings about the items, each kind once. */
  readonly onWarning?: ((message: string) => void) | undefined
  /** Called when the server sends a retry delay, even if no event follows. */
  readonly onRetry?: ((milliseconds: number) => void) | undefined
}

const MAX_ITEM = 10 * 1024 * 1024

/**
 * Reads the items of a stream as the consumer asks for them.
 *
 * Leaving the loop cancels the body and closes the connection. If the stream ended in order, a last event
 * without its blank line is still yielded, so that servers that forget the line lose nothing. A truncated
 * event is dropped.
 */
export async function* readEvents(
  body: ReadableStream<Uint8Array>,
  kind: StreamKind,
  options: ReadEventsOptions,
): AsyncGenerator<StreamEvent, StreamEnd, void> {
  const { maxItemBytes = MAX_ITEM, mayHaveEffect = false } = options
  const context: RequestContext = { ...options, mayHaveEffect }
  const frames = frameParserFor(kind, maxItemBytes, options)
  const decoder = new TextDecoder()
  const state: ReadState = { kind, count: 0, hasWarned: false, options }
  for await (const chunk of readChunks(body, context)) {
    for (const frame of frames.feed(decoder.decode(chunk, { stream: true }))) {
      const event = eventOf(frame, state)
      if (event === "done") return "done"
      if (event !== undefined) yield event
    }
    if (frames.isOverLimit) throw tooLarge(maxItemBytes, options)
  }
  for (const frame of [...frames.feed(decoder.decode()), ...frames.end()]) {
    const event = eventOf(frame, state)
    if (event === "done") return "done"
    if (event !== undefined) yield event
  }
  if (frames.isOverLimit) throw tooLarge(maxItemBytes, options)
  return "end"
}

interface ReadState {
  readonly kind: StreamKind
  readonly options: ReadEventsOptions
  /** Items so far, including empty ones: used as the line number in messages. */
  count: number
  /** The warning about lost digits has been sent. */
  hasWarned: boolean
}

function frameParserFor(kind: StreamKind, limit: number, options: ReadEventsOptions): FrameParser {
  switch (kind) {
    case "sse":
      return createSseFrameParser(limit, options.onRetry)
    case "ndjson":
      return createFrameParser(endsWith("\n"), limit)
    case "json-seq":
      return createFrameParser(endsWith("\u001E"), limit)
    case "json-values":
      return createFrameParser(endOfValue(), limit)
  }
}

/** Finds the end of a frame from a place in a text: the end of its content, and the start of the next one. */
type FindEnd = (text: string, from: number) => readonly [end: number, next: number] | undefined

function endsWith(separator: string): FindEnd {
  return (text, from) => {
    const at = text.indexOf(separator, from)
    return at === -1 ? undefined : [at, at + 1]
  }
}

/** Ends JSON values in a row, with or without line feeds between and inside of them. */
function endOfValue(): FindEnd {
  let depth = 0
  let isString = false
  let isEscaped = false
  return (text, from) => {
    for (let at = from; at < text.length; at++) {
      const char = text[at]
      if (isEscaped) isEscaped = false
      else if (isString && char === "\\") isEscaped = true
      else if (char === '"') isString = !isString
      if (isString) continue
      if (char === "{" || char === "[") depth++
      else if (char === "}" || char === "]") depth = Math.max(0, depth - 1)
      else if (char !== "\n") continue
      if (depth === 0) return [char === "\n" ? at : at + 1, at + 1]
    }
    return undefined
  }
}

/** Parses frames that one character ends (JSON Lines) or begins (JSON sequences, RFC 7464), or that end by themselves. */
function createFrameParser(findEnd: FindEnd, limit: number): FrameParser {
  // Parts are joined once: appending to a string chunk by chunk would copy it each time.
  let parts: string[] = []
  let length = 0
  let isFull = false

  return {
    feed(text) {
      const frames: Frame[] = []
      let from = 0
      while (!isFull) {
        const found = findEnd(text, from)
        const end = found?.[0] ?? text.length
        parts.push(text.slice(from, end))
        length += end - from
        isFull = length > limit
        if (found === undefined || isFull) break
        frames.push({ text: parts.join(""), isUnfinished: false })
        parts = []
        length = 0
        from = found[1]
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

function eventOf(frame: Frame, state: ReadState): StreamEvent | "done" | undefined {
  const { kind, options } = state
  // A sequence starts with its separator, and values may have several: the text between them is not an item.
  if (kind === "sse" || kind === "ndjson" || frame.text !== "") state.count++
  const raw = maskSecrets(kind === "sse" ? frame.text : frame.text.trim(), options.secrets)
  // Some JSON Lines servers send it too. It is not JSON, so it cannot be confused with data.
  if (raw.trim() === "[DONE]") return "done"
  if (raw === "" && frame.event === undefined) return undefined
  const parsed = parseJson(raw, options)
  if (parsed.is === "too-deep") {
    const message = `Item ${state.count} of the stream${nameOf(options)} is JSON nested deeper than ${parsed.limit} levels.`
    throw streamError("PAYLOAD_TOO_LARGE", message, options)
  }
  if (parsed.is === "broken") {
    if (kind !== "sse") throw brokenError(frame, raw, state)
    if (frame.isUnfinished && /^\s*[[{]/.test(raw)) return undefined
  }
  const lost = parsed.is === "value" && options.bigint !== "text" ? parsed.bigIntegers : undefined
  if (lost !== undefined && !state.hasWarned) {
    state.hasWarned = true
    options.onWarning?.(`An item of the stream${nameOf(options)} ${lostDigitsMessage(lost)}`)
  }
  const { event, id, retry } = frame
  return {
    data: parsed.is === "value" ? parsed.value : raw,
    raw,
    ...(event !== undefined && { event: maskSecrets(event, options.secrets) }),
    ...(id !== undefined && { id: maskSecrets(id, options.secrets) }),
    ...(retry !== undefined && { retry }),
  }
}

function brokenError(frame: Frame, raw: string, { kind, count, options }: ReadState): CallError {
  const what = kind === "ndjson" ? "line" : "item"
  const stream = `stream${nameOf(options)}`
  const code = frame.isUnfinished ? "DATA_LOSS" : "EXECUTION_ERROR"
  const issue = frame.isUnfinished
    ? `The ${stream} ended in the middle of ${what} ${count}`
    : `${kind === "ndjson" ? "Line" : "Item"} ${count} of the ${stream} is not JSON`
  return streamError(code, `${issue}: ${excerpt(raw, 100)}`, options)
}

function tooLarge(limit: number, options: ReadEventsOptions): CallError {
  const message = `An item of the stream${nameOf(options)} is longer than ${limit} characters.`
  return streamError("PAYLOAD_TOO_LARGE", message, options)
}

function streamError(
  code: "DATA_LOSS" | "EXECUTION_ERROR" | "PAYLOAD_TOO_LARGE",
  message: string,
  { operationId, mayHaveEffect = false }: ReadEventsOptions,
): CallError {
  return new CallError(code, message, { operationId, mayHaveExecuted: mayHaveEffect })
}

function nameOf({ operationId }: ReadEventsOptions): string {
  return operationId === undefined ? "" : ` of "${operationId}"`
}
