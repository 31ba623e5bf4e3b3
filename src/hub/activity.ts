import type { CallTrace } from "../engine/observe.ts"
import type { Clock } from "../internal/platform.ts"
import { CallCounters } from "./activity/counters.ts"
import type { HubStats } from "./activity/counters.ts"
import { Feed, HubEvent } from "./activity/feed.ts"
import type { FeedListener } from "./activity/feed.ts"
import type { Hub } from "./model.ts"

export type { HubStats } from "./activity/counters.ts"

/** Calls that a new reader is told of, of those that run. */
const MOST_RUNNING = 200

/**
 * What happens in a hub, counted and told to whoever listens: never an input, a result or a message.
 *
 * Whoever makes one closes it.
 */
export class Activity {
  readonly #hub: Pick<Hub, "registry" | "sources" | "onStatus">
  readonly #counters: CallCounters
  readonly #feeds = new Set<Feed>()
  readonly #stops: readonly (() => void)[]
  #isClosed = false

  constructor(hub: Pick<Hub, "registry" | "sources" | "onStatus">, clock: Clock) {
    this.#hub = hub
    this.#counters = new CallCounters(clock)
    this.#stops = [
      hub.registry.onCall((call) => {
        const trace = withoutError(call)
        this.#counters.add(trace)
        if (this.#feeds.size > 0) this.#tell(new HubEvent("call", trace))
      }),
      hub.onStatus((status) => {
        if (this.#feeds.size > 0) this.#tell(new HubEvent("source", status))
      }),
    ]
  }

  get stats(): HubStats {
    return this.#counters.stats()
  }

  /** How things are now, for one who did not see how they became so. */
  now(): HubEvent[] {
    return [
      ...this.#hub.sources.map((status) => new HubEvent("source", status)),
      ...this.#counters.running(MOST_RUNNING).map((started) => new HubEvent("call", started)),
    ]
  }

  /** Tells of all that happens from now on, until `leave`. */
  listen(listener: FeedListener): Feed {
    const feed = new Feed(listener)
    if (this.#isClosed) listener.end()
    else this.#feeds.add(feed)
    return feed
  }

  leave(feed: Feed): void {
    this.#feeds.delete(feed)
  }

  /** Counts no more, and ends what listens. Twice is fine. */
  close(): void {
    this.#isClosed = true
    for (const stop of this.#stops) stop()
    const feeds = [...this.#feeds]
    this.#feeds.clear()
    for (const { listener } of feeds) listener.end()
  }

  #tell(event: HubEvent): void {
    for (const feed of this.#feeds) feed.push(event)
  }
}

/** Those who watch calls do not read what is in them; and what is kept must not keep what errors hold. */
function withoutError(trace: CallTrace): CallTrace {
  const hasError = trace.phase === "end" && trace.error !== undefined
  return hasError ? { ...trace, error: undefined } : trace
}
