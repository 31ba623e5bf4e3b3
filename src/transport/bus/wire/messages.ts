import type { CallEvent, CallRequestedEvent } from "../../../core/events.ts"

/** A message of a caller to a worker. Ids are request ids. */
export type CallerMessage =
  /** Requests a call. It runs when the caller sends `go`; with `now` at once, if the operation is idempotent. */
  | {
      readonly type: "request"
      readonly attempt: number
      readonly event: CallRequestedEvent
      readonly now?: boolean | undefined
      /** The signed identity of the caller. */
      readonly ticket?: string | undefined
    }
  /** Grants a call: `key` is from the worker's `accepted`, `left` the remaining milliseconds. */
  | { readonly type: "go"; readonly id: string; readonly key: string; readonly left: number }
  /** Denies a grant: another worker runs the call, or its caller left. */
  | { readonly type: "nogo"; readonly id: string; readonly key: string }
  /** An abort, credit for a stream, or the answer to a question. */
  | { readonly type: "event"; readonly event: CallEvent }
  /** Checks whether the worker is alive, and asks about long-running calls. */
  | {
      readonly type: "ping"
      readonly ids: readonly string[]
      /** The number of the last received item, by stream id. Later items are sent again. */
      readonly streams: Readonly<Record<string, number>>
      /** The time of the last received `pong`: what was sent before it and did not arrive was lost. */
      readonly heard?: number | undefined
    }
  /** Confirms received results. */
  | { readonly type: "done"; readonly ids: readonly string[] }
  /** Asks what the worker serves. */
  | { readonly type: "who" }

/** A message of a worker to a caller. */
export type WorkerMessage =
  /** Accepts a call; `runs` if it has already begun. */
  | {
      readonly type: "accepted"
      readonly id: string
      readonly attempt: number
      readonly key: string
      readonly isIdempotent: boolean
      readonly runs?: boolean | undefined
    }
  /** Refuses a call, which will not begin: the worker is busy, leaving, or not permitted. */
  | {
      readonly type: "refused"
      readonly id: string
      readonly attempt: number
      /** Set if the call was accepted before. */
      readonly key?: string | undefined
      /** Another worker may take it; otherwise `error` is the answer. */
      readonly elsewhere: boolean
      readonly error: CallEvent & { readonly type: "call.error" }
    }
  /** A result, an item of a stream, an end, an error, progress, or a question. */
  | {
      readonly type: "event"
      readonly event: CallEvent
      /** The number of stream items before an error, so that none is missed. */
      readonly after?: number | undefined
    }
  /** Answers a ping, with unknown calls, and with streams whose missing items are no longer kept. */
  | {
      readonly type: "pong"
      readonly unknown: readonly string[]
      readonly lost: readonly string[]
      /** A time of the worker's own clock; opaque to others. */
      readonly at?: number | undefined
    }
  /** Announces operations by their hashes (`hashOperationId`): 1 for idempotent ones, 0 for others. */
  | {
      readonly type: "here"
      readonly operations: Readonly<Record<string, 0 | 1>>
      /** The version of all of them, except for those in `versions`, by hash. */
      readonly version?: string | undefined
      readonly versions?: Readonly<Record<string, string>> | undefined
    }
  /** The served operations have changed: ask again. */
  | { readonly type: "changed" }
  /** Accepts no further requests. */
  | { readonly type: "bye" }

/** Messages that are sent together, and the address of their sender. */
export interface Frame<TMessage> {
  readonly from: string
  readonly messages: readonly TMessage[]
  /** The number of invalid messages. */
  readonly dropped: number
}
