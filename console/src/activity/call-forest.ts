import type { OperationType } from "../api/model.ts"

import { groupBy } from "../ui/group-by.ts"

/** Calls as trees: what called what. */
export interface CallForest {
  /** Calls without a known parent, the newest first. */
  readonly roots: readonly LoggedCall[]
  /** The calls that a call made, the oldest first. */
  readonly childrenOf: (call: LoggedCall) => readonly LoggedCall[]
  readonly parentOf: (call: LoggedCall) => LoggedCall | undefined
  /** The outermost call that led to a call; itself if nothing did. */
  readonly rootOf: (call: LoggedCall) => LoggedCall
  /** A call and everything below it. */
  readonly within: (call: LoggedCall) => readonly LoggedCall[]
}

/**
 * Puts calls below those that made them.
 *
 * Ids come from callers: a call may name itself or a descendant as its parent. Such a cycle is cut where it is
 * first found, so that every call is in exactly one tree.
 */
export function toForest(loggedCalls: Iterable<LoggedCall>): CallForest {
  const calls = [...loggedCalls]
  const parents = parentsOf(calls)
  cutCircles(calls, parents)
  const children = groupBy(calls, ({ key }) => parents.get(key)?.key)
  const roots = children.get(undefined) ?? []
  // Reversed first: of calls that started in the same millisecond, the last received is the newest.
  const newestFirst = roots.toReversed().toSorted((a, b) => b.at - a.at)
  for (const list of children.values()) list.sort((a, b) => a.at - b.at)
  const childrenOf = (call: LoggedCall): readonly LoggedCall[] => children.get(call.key) ?? []
  return {
    roots: newestFirst,
    childrenOf,
    parentOf: (call) => parents.get(call.key),
    rootOf: (call) => {
      let root = call
      for (let above = parents.get(root.key); above !== undefined; above = parents.get(root.key)) {
        root = above
      }
      return root
    },
    within: (call) => allBelow(call, childrenOf),
  }
}

function parentsOf(calls: readonly LoggedCall[]): Map<string, LoggedCall> {
  const byRequest = groupBy(calls, ({ requestId }) => requestId)
  const parents = new Map<string, LoggedCall>()
  for (const call of calls) {
    if (call.parentRequestId === undefined) continue
    const parent = latestBefore(call, byRequest.get(call.parentRequestId) ?? [])
    if (parent !== undefined) parents.set(call.key, parent)
  }
  return parents
}

/** Of several requests with the same id, the last one that began before the call. */
function latestBefore(call: LoggedCall, candidates: readonly LoggedCall[]): LoggedCall | undefined {
  let best: LoggedCall | undefined
  for (const candidate of candidates) {
    if (candidate.key === call.key || candidate.at > call.at) continue
    if (best === undefined || candidate.at >= best.at) best = candidate
  }
  return best
}

function cutCircles(calls: readonly LoggedCall[], parents: Map<string, LoggedCall>): void {
  const rooted = new Set<string>()
  for (const call of calls) {
    const way = new Set<string>()
    let at: LoggedCall | undefined = call
    while (at !== undefined && !rooted.has(at.key)) {
      way.add(at.key)
      const parent: LoggedCall | undefined = parents.get(at.key)
      if (parent !== undefined && way.has(parent.key)) {
        parents.delete(at.key)
        break
      }
      at = parent
    }
    for (const key of way) rooted.add(key)
  }
}

/** The innermost call that a failed call failed with: the last one below it with the same code; itself if none has. */
export function causeOf(
  call: LoggedCall,
  { childrenOf }: Pick<CallForest, "childrenOf">,
): LoggedCall {
  let cause = call
  for (;;) {
    const below = childrenOf(cause).findLast(({ code }) => code !== undefined && code === call.code)
    if (below === undefined) return cause
    cause = below
  }
}

/** Iterative, because calls may be nested deeper than the stack. */
function allBelow(call: LoggedCall, childrenOf: CallForest["childrenOf"]): readonly LoggedCall[] {
  const calls = [call]
  for (let index = 0; index < calls.length; index++) {
    const next = calls[index]
    if (next === undefined) break
    for (const child of childrenOf(next)) calls.push(child)
  }
  return calls
}

/** A call, as far as it is known. */
export interface LoggedCall {
  /** Unique among all calls: callers may reuse the id of a request. */
  readonly key: string
  readonly requestId: string
  readonly parentRequestId: string | undefined
  readonly operationId: string
  readonly type: OperationType
  /** When it began, by the hub's clock. */
  readonly at: number
  readonly identity: string | undefined
  readonly state: CallState
  readonly durationMs: number | undefined
  readonly code: string | undefined
  /** What became of it, if rules of approvals did not just let it run. */
  readonly approval?: "asked" | "approved" | "denied" | undefined
  readonly source: string | undefined
  readonly items: number
}

/** The state of a call; `unknown`: its end may have been missed during a gap in the events. */
export type CallState = "running" | "ok" | "error" | "aborted" | "unknown"
