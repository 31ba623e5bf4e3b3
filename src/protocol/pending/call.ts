import type { CallCompletedEvent, CallErrorEvent, CallRespondedEvent } from "../../core/events.ts"
import type { CallError } from "../../core/errors.ts"
import type { ResponseEnvelope } from "../../core/envelope.ts"
import { PendingRequest } from "./pending.ts"

/** A pending call. */
export class PendingCall extends PendingRequest {
  readonly kind = "call"
  resolve: ((envelope: ResponseEnvelope) => void) | undefined = undefined
  reject: ((error: CallError) => void) | undefined = undefined
  failing: ((error: CallError, isAnswer: boolean) => void) | undefined = undefined
  #isAnswer = false

  responded(event: CallRespondedEvent): void {
    if (event.seq !== undefined) {
      const why = "is a stream: use subscribe(), not call()."
      const error = this.error("INVALID_OPERATION_TYPE", why)
      return this.leave(error, "A single response was expected.")
    }
    this.arrive(event.output)
  }

  /** Resolves the call; a handler on the same side calls it directly. */
  arrive(output: ResponseEnvelope): void {
    this.finish()
    this.resolve?.(output)
  }

  completed(_event: CallCompletedEvent): void {
    this.fail(this.error("ABORTED", "was completed without a response."))
  }

  override failed(event: CallErrorEvent): void {
    this.#isAnswer = true
    super.failed(event)
  }

  protected settle(error: CallError): void {
    this.failing?.(error, this.#isAnswer)
    this.reject?.(error)
  }
}

/** Receives what comes of a stream. */
export interface StreamConsumer {
  responded(event: CallRespondedEvent): void
  completed(event: CallCompletedEvent): void
  /** Takes a failure; returns the error that ends the stream, or `undefined` if it is resumed. */
  failing(error: CallError): CallError | undefined
  /** Nothing more comes. */
  finished(): void
  settle(error: CallError): void
}

/** A pending stream. Its consumer is set before it begins; pages load that with the first stream. */
export class StreamRequest extends PendingRequest {
  readonly kind = "stream"
  consumer: StreamConsumer | undefined = undefined

  responded(event: CallRespondedEvent): void {
    this.consumer?.responded(event)
  }

  completed(event: CallCompletedEvent): void {
    this.consumer?.completed(event)
  }

  override fail(error: CallError): void {
    if (this.isOver) return
    const ending = this.consumer === undefined ? error : this.consumer.failing(error)
    if (ending !== undefined) this.end(ending)
  }

  override finish(): void {
    super.finish()
    this.consumer?.finished()
  }

  protected settle(error: CallError): void {
    this.consumer?.settle(error)
  }
}
