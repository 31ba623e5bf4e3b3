import { CallError } from "../core/errors.ts"
import { readChunks } from "./chunks.ts"
import { excerpt } from "./decode.ts"
import type { RequestContext } from "./failure.ts"
import { createFrames } from "./frames.ts"
import type { Frame, Frames } from "./frames.ts"
import { parseJson } from "./json.ts"
import type { StreamKind } from "./media-type.ts"
import { lostDigits } from "./read-body.ts"
import { maskSecrets } from "./secrets.ts"
import { createSseFrames } from "./sse.ts"

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

/** How a stream ended: by `[DONE]`, which is for good, or with its connection. */
export type StreamEnd = "done" | "end"

/** How a stream is read. */
export interface ReadEventsOptions extends Omit<RequestContext, "mayHaveEffect" | "secrets"> {
  readonly secrets: readonly string[]
  /** Characters that one item may have; 10 Mi. */
  readonly maxItemBytes?: number | undefined
  readonly mayHaveEffect?: boolean | undefined
  /** `text`: integers beyond 2^53 are given as strings. */
  readonly bigint?: "text" | undefined
  /** Receives what is not right with the items, once for each kind. */
  readonly onWarning?: ((message: string) => void) | undefined
  /** Told when the server says how long to wait, also where no event follows. */
  readonly onRetry?: ((milliseconds: number) => void) | undefined
}

const MAX_ITEM = 10 * 1024 * 1024

/**
 * The items of a stream, read at the pace at which they are asked for.
 *
 * Leaving the loop cancels the body, and with it the connection. A last event without the blank line
 * that should follow it is given, if the stream ended in order: a server that forgets the line
 * loses nothing. What was plainly cut off is not.
 */
export async function* readEvents(
  body: ReadableStream<Uint8Array>,
  kind: StreamKind,
  options: ReadEventsOptions,
): AsyncGenerator<StreamEvent, StreamEnd, void> {
  const { maxItemBytes = MAX_ITEM, mayHaveEffect = false } = options
  const context: RequestContext = { ...options, mayHaveEffect }
  const frames = framesOf(kind, maxItemBytes, options)
  const decoder = new TextDecoder()
  const state: ReadState = { kind, count: 0, hasWarned: false, options }
  for await (const chunk of readChunks(body, context)) {
    for (const frame of frames.feed(decoder.decode(chunk, { stream: true }))) {
      const event = eventOf(frame, state)
      if (event === "done") return "done"
      if (event !== undefined) yield event
    }
    if (frames.isFull) throw tooLarge(maxItemBytes, options)
  }
  for (const frame of [...frames.feed(decoder.decode()), ...frames.end()]) {
    const event = eventOf(frame, state)
    if (event === "done") return "done"
    if (event !== undefined) yield event
  }
  if (frames.isFull) throw tooLarge(maxItemBytes, options)
  return "end"
}

interface ReadState {
  readonly kind: StreamKind
  readonly options: ReadEventsOptions
  /** Items so far, those without content too: what a line number counts. */
  count: number
  /** Lost digits were reported. */
  hasWarned: boolean
}

function framesOf(kind: StreamKind, limit: number, options: ReadEventsOptions): Frames {
  switch (kind) {
    case "sse":
      return createSseFrames(limit, options.onRetry)
    case "ndjson":
      return createFrames("\n", limit)
    case "json-seq":
      return createFrames("\u001E", limit)
  }
}

function eventOf(frame: Frame, state: ReadState): StreamEvent | "done" | undefined {
  const { kind, options } = state
  // A sequence begins with its separator: what is before the first is no item.
  if (kind !== "json-seq" || frame.text !== "") state.count++
  const raw = maskSecrets(kind === "sse" ? frame.text : frame.text.trim(), options.secrets)
  // Some servers of JSON lines say it too; it is no JSON, so nothing is lost.
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
    noteLostDigits(parsed.bigIntegers, state)
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

function noteLostDigits(integers: readonly string[], state: ReadState): void {
  const { options } = state
  if (state.hasWarned || options.bigint === "text") return
  state.hasWarned = true
  options.onWarning?.(`An item of the stream${nameOf(options)} ${lostDigits(integers)}`)
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
