import { CallError } from "../core/errors.ts"
import { readChunks } from "./chunks.ts"
import { excerpt } from "./decode.ts"
import type { RequestContext } from "./request-errors.ts"
import { createFrameParser } from "./delimited-items.ts"
import type { Frame, FrameParser } from "./delimited-items.ts"
import { parseJson } from "./json.ts"
import type { StreamKind } from "./media-type.ts"
import { lostDigitsMessage } from "./read-body.ts"
import { maskSecrets } from "./secrets.ts"
import { createSseFrameParser } from "./sse.ts"

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
      return createFrameParser("\n", limit)
    case "json-seq":
      return createFrameParser("\u001E", limit)
  }
}

function eventOf(frame: Frame, state: ReadState): StreamEvent | "done" | undefined {
  const { kind, options } = state
  // A sequence starts with its separator, so the text before the first one is not an item.
  if (kind !== "json-seq" || frame.text !== "") state.count++
  const raw = maskSecrets(kind === "sse" ? frame.text : frame.text.trim(), options.secrets)
  // Some JSON Lines servers send it too. It is not JSON, so it cannot be confused with data.
  if (raw.trim() === "[DONE]") return "done"
  if (raw === "" && frame.event === undefined) return undefined
  const parsed = parseJson(raw, options)
  if (parsed.is === "too-deep") {
    throw new CallError(
      "PAYLOAD_TOO_LARGE",
      `Item ${state.count} of the stream${nameOf(options)} is JSON nested deeper than ` +
        `${parsed.limit} levels.`,
      stamp(options),
    )
  }
  if (parsed.is === "broken") {
    if (kind !== "sse") throw broken(frame, raw, state)
    if (frame.isUnfinished && /^\s*[[{]/.test(raw)) return undefined
  }
  if (parsed.is === "value" && parsed.bigIntegers !== undefined) {
    warnLostDigits(parsed.bigIntegers, state)
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

function warnLostDigits(integers: readonly string[], state: ReadState): void {
  const { options } = state
  if (state.hasWarned || options.bigint === "text") return
  state.hasWarned = true
  options.onWarning?.(`An item of the stream${nameOf(options)} ${lostDigitsMessage(integers)}`)
}

function broken(frame: Frame, raw: string, { kind, count, options }: ReadState): CallError {
  const what = kind === "ndjson" ? `Line ${count}` : `Item ${count}`
  if (frame.isUnfinished) {
    return new CallError(
      "DATA_LOSS",
      `The stream${nameOf(options)} ended in the middle of ${what.toLowerCase()}: ` +
        excerpt(raw, 100),
      stamp(options),
    )
  }
  return new CallError(
    "EXECUTION_ERROR",
    `${what} of the stream${nameOf(options)} is not JSON: ${excerpt(raw, 100)}`,
    stamp(options),
  )
}

function tooLarge(limit: number, options: ReadEventsOptions): CallError {
  return new CallError(
    "PAYLOAD_TOO_LARGE",
    `An item of the stream${nameOf(options)} is longer than ${limit} characters.`,
    stamp(options),
  )
}

function nameOf({ operationId }: ReadEventsOptions): string {
  return operationId === undefined ? "" : ` of "${operationId}"`
}

function stamp({ operationId, mayHaveEffect = false }: ReadEventsOptions): {
  operationId: string | undefined
  mayHaveExecuted: boolean
} {
  return { operationId, mayHaveExecuted: mayHaveEffect }
}
