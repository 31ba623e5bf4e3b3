import type { Clock } from "../../internal/platform.ts"
import { Batch } from "../batch.ts"
import { Room } from "../bus/room.ts"
import type { PipelineResult, RedisLike } from "./ioredis.ts"

/** An outgoing message. */
export interface Outgoing {
  readonly channel: string
  readonly text: string
  /** Reported if the message has no receiver. */
  readonly correlationId?: string | undefined
  /** The called operation, for requests. */
  readonly operationId?: string | undefined
}

/** Receives the outcome of messages. */
export interface PublisherEvents {
  /** A message was received by `count` subscribers, as far as the server knows. */
  received(message: Outgoing, count: number): void
  refused(message: Outgoing, error: Error): void
}

/** Unconfirmed characters beyond which streams and large results wait. */
const MAX_WAITING = 8 * 1024 * 1024

/** Publishes the messages of one turn in one pipeline, which is six times as fast. */
export class Publisher {
  readonly #redis: RedisLike
  readonly #events: PublisherEvents
  readonly #onOutOfStep: () => void
  readonly #batch: Batch<Outgoing>
  /** Characters that the server has not confirmed. */
  readonly room: Room = new Room(MAX_WAITING)
  #batches = 0
  #isOver = false
  #idle: (() => void) | undefined

  /** `onOutOfStep` is called when answers do not match the commands. */
  constructor(redis: RedisLike, clock: Clock, events: PublisherEvents, onOutOfStep: () => void) {
    this.#redis = redis
    this.#batch = new Batch(Number.POSITIVE_INFINITY, (batch) => this.#flush(batch), clock)
    this.#events = events
    this.#onOutOfStep = onOutOfStep
  }

  add(message: Outgoing): void {
    if (this.#isOver) return
    this.room.used += message.text.length
    this.#batch.add(message, message.text.length)
  }

  /** Sends what is queued, and resolves when all of it is confirmed, or the connection is over. */
  drained(): Promise<void> {
    this.#batch.flush()
    if (this.#isOver || this.#batches === 0) return Promise.resolve()
    return new Promise((resolve) => {
      this.#idle = resolve
    })
  }

  /** Stops sending and reporting, and resolves all waiting promises. */
  end(): void {
    this.#isOver = true
    this.#batch.take()
    this.room.free(this.room.used)
    this.#idle?.()
  }

  #flush(batch: readonly Outgoing[]): void {
    this.#batches++
    // Never rejects.
    void this.#send(batch).then((results) => this.#answered(batch, results))
  }

  #send(batch: readonly Outgoing[]): Promise<readonly PipelineResult[] | null> {
    const [first] = batch
    if (first !== undefined && batch.length === 1) {
      return this.#redis.publish(first.channel, first.text).then(
        (count) => [[null, count]],
        (error: Error) => [[error]],
      )
    }
    const pipeline = this.#redis.pipeline()
    for (const { channel, text } of batch) pipeline.publish(channel, text)
    return pipeline.exec().catch((error: Error) => batch.map(() => [error]))
  }

  #answered(batch: readonly Outgoing[], results: readonly PipelineResult[] | null): void {
    if (this.#isOver) return
    this.#batches--
    for (const { text } of batch) this.room.free(text.length)
    if (this.#batches === 0) this.#idle?.()
    for (const [at, message] of batch.entries()) {
      const [error, count] = results?.[at] ?? [null, 0]
      if (error !== null) this.#events.refused(message, error)
      else if (typeof count === "number") this.#events.received(message, count)
      else return this.#onOutOfStep()
    }
  }
}
