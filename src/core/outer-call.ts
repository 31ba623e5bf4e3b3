import { refusal } from "./errors.ts"
import type { CallRequestedEvent } from "./events.ts"

/** The call of another registry that a call is nested in. It counts towards the limits of nested calls. */
export interface OuterCall {
  /** Levels of calls above the nested one, across all registries. */
  readonly depth: number
  /** The request id of the outermost call. */
  readonly rootRequestId: string
}

/** Options of a call that may be nested in one of another registry. The context of a handler has it, too. */
export interface NestedInOuter {
  readonly outer?: OuterCall | undefined
}

/** The outer call that a request names; `undefined` if it names none. */
export function outerOf({ depth, rootRequestId, requestId }: OuterFields): OuterCall | undefined {
  return depth === undefined ? undefined : { depth, rootRequestId: rootRequestId ?? requestId }
}

type OuterFields = Pick<CallRequestedEvent, "depth" | "rootRequestId" | "requestId">

/** The outer call of a request as text for HTTP; `undefined` if it names none. */
export function outerText(fields: OuterFields): string | undefined {
  const outer = outerOf(fields)
  return outer && `${outer.depth} ${encodeURIComponent(outer.rootRequestId)}`
}

/** Reads that text. Throws `VALIDATION_ERROR` if it is invalid. The id stays encoded, because it is only compared. */
export function readOuterText(text: unknown): OuterCall | undefined {
  if (text === undefined) return undefined
  const given = typeof text === "string" ? text : ""
  const [, depth, rootRequestId] = /^(\d{1,6}) ([!-~]{1,800})$/.exec(given) ?? []
  if (rootRequestId !== undefined) return { depth: Number(depth), rootRequestId }
  throw refusal("VALIDATION_ERROR", `An outer call is its depth and its id, such as "2 a1".`)
}
