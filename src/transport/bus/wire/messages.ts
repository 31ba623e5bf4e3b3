import type { CallEvent, CallRequestedEvent } from "../../../core/events.ts"

/** What a caller says to a worker. Ids are those of requests. */
export type CallerMessage =
  /** Wants an operation run. It is run when the caller says `go`; with `now` at once, if it is idempotent. */
  | {
      readonly type: "request"
      readonly attempt: number
      readonly event: CallRequestedEvent
      readonly now?: boolean | undefined
      /** Who the caller speaks for, signed. */
      readonly ticket?: string | undefined
    }
  /** Run it: `key` is what this worker accepted with, `left` the milliseconds that remain. */
  | { readonly type: "go"; readonly id: string; readonly key: string; readonly left: number }
  /** Forget it: another one runs it, or nobody wants it any more. */
  | { readonly type: "nogo"; readonly id: string; readonly key: string }
  /** That its caller left, or credit for a stream. */
  | { readonly type: "event"; readonly event: CallEvent }
  /** Are you there? With calls that this worker was granted and that take long. */
  | {
      readonly type: "ping"
      readonly ids: readonly string[]
      /** Streams by their ids, with the number of the last item that came. What followed is sent again. */
      readonly streams: Readonly<Record<string, number>>
      /** The time of the last `pong` that came: what was sent before it and has not come was lost. */
      readonly heard?: number | undefined
    }
  /** Results that arrived: nobody asks for them again. */
  | { readonly type: "done"; readonly ids: readonly string[] }
  /** What do you serve? */
  | { readonly type: "who" }

/** What a worker says to a caller. */
export type WorkerMessage =
  /** Has it, and has not begun; `runs` when it has. */
  | {
      readonly type: "accepted"
      readonly id: string
      readonly attempt: number
      readonly key: string
      readonly isIdempotent: boolean
      readonly runs?: boolean | undefined
    }
  /** Does not have it and will not begin it: full, leaving, or not willing. */
  | {
      readonly type: "refused"
      readonly id: string
      readonly attempt: number
      /** It had been accepted with this key. */
      readonly key?: string | undefined
      /** Another worker may take it; otherwise `error` is the answer. */
      readonly elsewhere: boolean
      readonly error: CallEvent & { readonly type: "call.error" }
    }
  /** An answer, an item of a stream, an end, an error, or progress. */
  | {
      readonly type: "event"
      readonly event: CallEvent
      /** How many items of a stream came before an error of it, so that none is missed. */
      readonly after?: number | undefined
    }
  /** Is there. Does not know these ids (any more), and has not all that is missing of these streams. */
  | {
      readonly type: "pong"
      readonly unknown: readonly string[]
      readonly lost: readonly string[]
      /** By the worker's own clock, which nobody else reads. */
      readonly at?: number | undefined
    }
  /** Serves these: marks of operations (`markOf`), 1 for those that are idempotent, 0 for others. */
  | {
      readonly type: "here"
      readonly operations: Readonly<Record<string, 0 | 1>>
      /** The version of all of them, but for those that `versions` has by their marks. */
      readonly version?: string | undefined
      readonly versions?: Readonly<Record<string, string>> | undefined
    }
  /** What it serves has changed: ask again. */
  | { readonly type: "changed" }
  /** Takes no further requests. */
  | { readonly type: "bye" }

/** Messages that travel together, and the address of who sent them. */
export interface Frame<TMessage> {
  readonly from: string
  readonly messages: readonly TMessage[]
  /** How many of those that came were none. */
  readonly dropped: number
}
