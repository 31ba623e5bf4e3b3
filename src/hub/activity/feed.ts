import type { CallTrace } from "../../engine/observe.ts"
import type { SourceStatus } from "../model.ts"

/** Something that happened in a hub, with its text, which is made once for all who are told. */
export class HubEvent {
  readonly kind: "call" | "source"
  readonly data: CallTrace | SourceStatus
  #text: string | undefined

  constructor(kind: "call" | "source", data: CallTrace | SourceStatus) {
    this.kind = kind
    this.data = data
  }

  /** As a server-sent event. JSON has no line breaks in it. */
  get text(): string {
    return (this.#text ??= `event: ${this.kind}\ndata: ${JSON.stringify(this.data)}\n\n`)
  }
}

/** Who wants to be told. */
export interface FeedListener {
  /** There is something to take. */
  wake(): void
  /** There will be nothing more. */
  end(): void
}

/** As many events as wait for a reader; of more, the oldest are lost. */
const MOST_WAITING = 500

/** What one reader has not taken yet. */
export class Feed {
  readonly listener: FeedListener
  #events: HubEvent[] = []
  #lost = 0

  constructor(listener: FeedListener) {
    this.listener = listener
  }

  get isEmpty(): boolean {
    return this.#events.length === 0
  }

  push(event: HubEvent): void {
    this.#events.push(event)
    if (this.#events.length > MOST_WAITING) {
      this.#events.shift()
      this.#lost++
    }
    this.listener.wake()
  }

  /** Everything that waits, and how many were lost before it. */
  take(): { readonly events: readonly HubEvent[]; readonly lost: number } {
    const taken = { events: this.#events, lost: this.#lost }
    this.#events = []
    this.#lost = 0
    return taken
  }
}
