import type { CallRequestedEvent } from "../../core/events.ts"
import type { TraceContext } from "../../core/tracing.ts"
import { isPlainJson } from "../../core/plain-json.ts"
import { outerText } from "../../core/outer-call.ts"
import { loadedFiles } from "./exchange.ts"
import type { Upload } from "../../http-client/file-bodies.ts"

/** Larger timeouts are not sent, because they have no effect. */
const MAX_TIMEOUT = 9_999_999_999

/** A request of the call protocol, from when it was sent until its answer. */
export class Outgoing {
  readonly event: CallRequestedEvent
  /** The input as JSON; `undefined` without one. */
  readonly input: string | undefined
  readonly binary: Readonly<Record<string, unknown>> | undefined
  /** The body of an input with large files, which is sent in a separate request. */
  readonly upload: Upload | undefined
  readonly began: number
  /** The metadata as JSON; `undefined` without any. */
  readonly #metadata: string | undefined
  readonly #binaryMetadata: unknown
  readonly #trace: TraceContext | undefined
  /** Failed attempts. */
  failures = 0
  /** One of these may have had effects. */
  hasEffects = false
  /** Stops the request, or the wait for its next attempt. */
  cancel: (() => void) | undefined
  /** Lets the peer of a stream send items up to this number. */
  raise: ((limit: number) => void) | undefined

  constructor(event: CallRequestedEvent, began: number) {
    this.event = event
    this.began = began
    const { trace, traceparent, metadata } = event
    this.#trace = trace ?? (traceparent === undefined ? undefined : { traceparent })
    const { value: data, binary: binaryMetadata } = isPlainJson(metadata)
      ? { value: metadata, binary: undefined }
      : loadedFiles().encodeValue(metadata)
    this.#binaryMetadata = binaryMetadata
    // Encoded at once: its sender learns that it cannot be.
    this.#metadata = JSON.stringify(
      this.#trace === undefined ? data : { ...(data as object), ...this.#trace },
    )
    if (isPlainJson(event.input)) this.input = JSON.stringify(event.input)
    else {
      const { encodeValue, uploadOf } = loadedFiles()
      this.upload = event.kind === "stream" ? undefined : uploadOf(event.input)
      const plain = this.upload === undefined ? event.input : undefined
      const { value, binary } = encodeValue(plain, "strict")
      this.input = JSON.stringify(value)
      this.binary = binary
    }
  }

  /** Whether the request has options that only an item of a batch can carry. */
  get needsBatch(): boolean {
    const { progress, metadata, parentRequestId, policy, idempotencyKey } = this.event
    return (
      this.binary !== undefined ||
      policy !== undefined ||
      (idempotencyKey !== undefined && !HEADER_TEXT.test(idempotencyKey)) ||
      progress === true ||
      metadata !== undefined ||
      parentRequestId !== undefined
    )
  }

  get #isDry(): boolean {
    return this.event.kind === "dry-run"
  }

  /** The headers of a separate request. */
  headers(now: number): Record<string, string> {
    const { requestId, idempotencyKey } = this.event
    const timeout = this.#timeLeft(now)
    const outer = outerText(this.event)
    return {
      "request-id": requestId,
      ...(timeout !== undefined && { "x-timeout-ms": String(timeout) }),
      ...(this.#isDry && { "x-dry-run": "1" }),
      ...this.#trace,
      ...(outer !== undefined && { "x-outer-call": outer }),
      ...(idempotencyKey !== undefined && { "idempotency-key": headerText(idempotencyKey) }),
      ...this.upload?.headers,
    }
  }

  /** The JSON of an item of a batch; results name its key. */
  itemText(key: number, now: number): string {
    const { operationId: id, requestId, progress, parentRequestId, policy } = this.event
    const { idempotencyKey } = this.event
    const text = JSON.stringify({
      ...{ id, key, requestId, progress, parentRequestId, policy, idempotencyKey },
      timeoutMs: this.#timeLeft(now),
      dryRun: this.#isDry || undefined,
      binary: this.binary,
      binaryMetadata: this.#binaryMetadata,
      outer: outerText(this.event),
    })
    const metadata = this.#metadata === undefined ? "" : `,"metadata":${this.#metadata}`
    const input = this.input === undefined ? "" : `,"input":${this.input}`
    return `${text.slice(0, -1)}${metadata}${input}}`
  }

  /** Whole milliseconds until the caller gives up; `undefined` for no limit. */
  #timeLeft(now: number): number | undefined {
    const { timeout } = this.event
    if (timeout === undefined || timeout > MAX_TIMEOUT) return undefined
    return Math.max(1, Math.ceil(timeout - (now - this.began)))
  }
}

/** Text that a header can carry unchanged; quotes around it would be read as those of the header. */
const HEADER_TEXT = /^[!#-~][!-~]*$/

function headerText(text: string): string {
  return HEADER_TEXT.test(text) ? text : encodeURIComponent(text)
}
