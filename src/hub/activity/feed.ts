import type { CallTrace } from "../../engine/observe.ts"
import type { SourceLogLine, SourceStatus } from "../model.ts"

/** What events are about, by their kind. */
interface EventData {
  readonly call: CallTrace
  readonly source: SourceStatus
  readonly log: SourceLogLine
}

/** An event of a hub; its text is rendered once for all readers. */
export class HubEvent<TKind extends keyof EventData = keyof EventData> {
  readonly kind: TKind
  readonly data: EventData[TKind]
  #text: string | undefined

  constructor(kind: TKind, data: EventData[TKind]) {
    this.kind = kind
    this.data = data
  }

  /** The text of the server-sent event; its JSON has no line breaks. */
  get text(): string {
    return (this.#text ??= `event: ${this.kind}\ndata: ${JSON.stringify(this.data)}\n\n`)
  }
}

/** Receives notifications of a `Feed`. */
export interface FeedListener {
  /** Events are waiting. */
  wake(): void
  /** No more events will come. */
  end(): void
}

/** Maximum number of events that wait for a reader; beyond it the oldest are dropped. */
const MAX_WAITING = 500

/** Queue of events that one reader has not taken yet. */
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
    if (this.#events.length > MAX_WAITING) {
      this.#events.shift()
      this.#lost++
    }
    this.listener.wake()
  }

  /** Takes all waiting events, and the number of those that were dropped before them. */
  take(): { readonly events: readonly HubEvent[]; readonly lost: number } {
    const taken = { events: this.#events, lost: this.#lost }
    this.#events = []
    this.#lost = 0
    return taken
  }
}
