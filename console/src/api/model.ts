// The console's types of a hub. All requests go through `HubClient`.

import type { CallTrace } from "../../../src/engine/observe.ts"
import type { HubStats } from "../../../src/hub/activity/counters.ts"
import type { WaitingApproval } from "../../../src/approvals/tickets.ts"
import type { WaitingApprovals } from "../../../src/hub/approval-routes.ts"
import type { HubLoad, NamedLoad } from "../../../src/hub/activity/call-series.ts"
import type { Timeline, TimelineCall, TimelinePart } from "../../../src/hub/activity/timeline.ts"
import type { RecordedCall, RecordedValue } from "../../../src/hub/activity/recorder.ts"
import type { SourceCalls } from "../../../src/hub/activity/counters.ts"
import type {
  SourceDetails,
  SourceLogLine,
  SourceReport,
  SourceStatus,
} from "../../../src/hub/model.ts"
import type { ResponseEnvelope } from "../../../src/core/envelope.ts"
import type { ServedAs } from "../../../src/mcp/served-as.ts"
import type { HTTPProblem } from "../../../src/core/problem.ts"
import type {
  AppliedPolicy,
  BreakerStatus,
  OperationPolicyState,
  PolicyState,
} from "../../../src/core/policy-state.ts"
import type {
  InputRequest,
  InputResponse,
  OperationSpec,
  OperationType,
  ProgressUpdate,
} from "../../../src/core/types.ts"

export type { CallTrace, HTTPProblem, OperationSpec, OperationType, ResponseEnvelope }
export type { HubStats, RecordedCall, RecordedValue, SourceLogLine, SourceReport, SourceStatus }
export type { HubLoad, NamedLoad, Timeline, TimelineCall, TimelinePart }
export type { InputRequest, InputResponse, ProgressUpdate }
export type { WaitingApprovals, WaitingApproval }
export type { AppliedPolicy, BreakerStatus, OperationPolicyState, PolicyState }

/** A source in the list; its calls are as they were when the list was requested. */
export interface ListedSource extends SourceStatus {
  readonly calls?: SourceCalls | undefined
}

/** A source, and what helps to repair it. */
export interface SourceInfo extends SourceStatus, SourceDetails {}

/** An operation in the list. */
export interface OperationSummary {
  readonly id: string
  readonly namespace: string
  readonly name: string
  readonly type: OperationType
  readonly title?: string | undefined
  readonly description: string
  readonly tags?: readonly string[] | undefined
  readonly deprecated?: boolean | undefined
  /** The source it comes from, by the hub's name for it. */
  readonly source?: string | undefined
  /** The HTTP request of an imported operation: `GET /pets/{id}`. */
  readonly request?: string | undefined
  /** Whether scopes are needed to call it. */
  readonly isProtected?: boolean | undefined
  /** What MCP clients use it as, if not as a tool. */
  readonly mcp?: ServedAs | undefined
}

/** What a hub says about itself, and about the caller. */
export interface HubInfo {
  readonly title: string
  readonly description?: string | undefined
  /** The id of the caller's identity. */
  readonly callerId?: string | undefined
  /** The scopes of the caller. */
  readonly scopes?: readonly string[] | undefined
  /** Whether the caller may see sources and calls of others. */
  readonly isAdmin: boolean
  /** Whether callers can sign in. */
  readonly hasAuth: boolean
  /** How MCP is served: every operation as a tool, or tools that find and call operations. */
  readonly mcp: "tools" | "search" | undefined
  readonly websocket: boolean
  /** Whether the hub keeps inputs and results of calls; `undefined` where the caller may not see them. */
  readonly records?: boolean | undefined
  /** The address of a trace in the user's tracing page, with `{traceId}`. */
  readonly traceLink?: string | undefined
}

/** Whose load is asked for; without any, that of the hub. */
export interface LoadOf {
  readonly operation?: string | undefined
  readonly source?: string | undefined
}

/** How a call ended. */
export type CallOutcome = {
  readonly status: number
  readonly headers: Readonly<Record<string, string>>
  readonly durationMs: number
} & (
  | { readonly ok: true; readonly envelope: ResponseEnvelope }
  | { readonly ok: false; readonly problem: HTTPProblem }
)

/** One item of a subscription. */
export interface WatchItem {
  readonly envelope: ResponseEnvelope
  /** Milliseconds since 1970, when it arrived here. */
  readonly at: number
}

/** What happens in the hub. */
export type HubEvent =
  | { readonly kind: "call"; readonly trace: CallTrace }
  | { readonly kind: "source"; readonly status: SourceStatus }
  /** A line of the log of a source's server. */
  | { readonly kind: "log"; readonly line: SourceLogLine }
  /** This side was too slow: the number of oldest events that were dropped. */
  | { readonly kind: "lost"; readonly events: number }

/** The credential of this browser; in memory only. */
export interface Credential {
  readonly kind: "token" | "key"
  readonly value: string
}

/** A hub, as the console calls it. */
export interface HubClient {
  readonly baseUrl: string
  /** Every operation that the caller may call. */
  list(signal?: AbortSignal): Promise<readonly OperationSummary[]>
  /** The ids of the operations that answer a query, the best first. */
  search(query: string, signal?: AbortSignal): Promise<readonly string[]>
  describe(id: string, signal?: AbortSignal): Promise<OperationSpec>
  call(id: string, input: unknown, options: CallOptions): Promise<CallOutcome>
  /** Settles when the stream ends; rejects with a `ProblemError` when it fails. */
  watch(id: string, input: unknown, options: WatchOptions): Promise<void>
  /** The values for an argument of a prompt or a template that begin with its text. */
  complete(
    id: string,
    argument: string,
    given: Readonly<Record<string, string>>,
    signal: AbortSignal,
  ): Promise<readonly string[]>
  sources(signal?: AbortSignal): Promise<readonly ListedSource[]>
  source(name: string, signal?: AbortSignal): Promise<SourceInfo>
  /** Opens a source again, and gives its state after that. */
  reopen(name: string): Promise<SourceStatus>
  report(name: string, signal?: AbortSignal): Promise<SourceReport>
  /** What the hub has recorded under a request id; clients choose these ids, so there may be several. */
  recorded(requestId: string, signal?: AbortSignal): Promise<readonly RecordedCall[]>
  /** What happened in the calls with a request id; none where the hub does not remember any. */
  timelines(requestId: string, signal?: AbortSignal): Promise<readonly Timeline[]>
  /** The load of the last hour. */
  load(of: LoadOf, signal?: AbortSignal): Promise<HubLoad>
  stats(signal?: AbortSignal): Promise<HubStats>
  /** The calls that wait for an approval. */
  approvals(signal?: AbortSignal): Promise<WaitingApprovals>
  /** Approves or declines one; rejects with a `ProblemError` if it no longer waits. */
  answerApproval(id: string, answer: ApprovalChoice): Promise<void>
  /** How the policies of operations are doing: breakers, caches, limits. */
  policies(signal?: AbortSignal): Promise<PolicyState>
  events(options: HubEventsOptions): Promise<void>
  /** Settles if the hub answers at all, for callers without any rights. */
  ping(signal: AbortSignal): Promise<void>
}

/** How a person answers a call that waits. */
export interface ApprovalChoice {
  readonly approve: boolean
  /** Further calls of the operation by this caller, too: for an hour, or until somebody removes that. */
  readonly session?: boolean | undefined
  readonly always?: boolean | undefined
}

/** How an operation is called. */
export interface CallOptions {
  readonly signal: AbortSignal
  readonly timeoutMs?: number | undefined
  /** The paths of the result that are wanted; all of it by default. */
  readonly select?: readonly string[] | undefined
  /** For operations that report progress and ask questions: they are called over a WebSocket, if there is one. */
  readonly live?: LiveCall | undefined
  /** `live` is only for the question whether the call may run: it is first called over HTTP. */
  readonly onlyAsks?: boolean | undefined
}

/** What happens while an operation runs. */
export interface LiveCall {
  readonly spec: OperationSpec
  /** It was sent. */
  readonly onStart: (requestId: string) => void
  readonly onProgress: (progress: ProgressUpdate) => void
  readonly onQuestion: (request: InputRequest) => Promise<InputResponse>
  /** There is no WebSocket: the operation can report nothing, and ask nothing. */
  readonly onPlain: () => void
}

/** How a subscription is read. */
export interface WatchOptions {
  readonly signal: AbortSignal
  readonly onItem: (item: WatchItem) => void
}

/** How events of the hub are read. */
export interface HubEventsOptions {
  readonly signal: AbortSignal
  /** The hub sends events from now on. */
  readonly onOpen?: (() => void) | undefined
  readonly onEvent: (event: HubEvent) => void
}

/** The id of an operation. */
export function idOf({ namespace, name }: Pick<OperationSpec, "namespace" | "name">): string {
  return `${namespace}.${name}`
}

/** The problem that a hub answered with. */
export class ProblemError extends Error {
  override readonly name = "ProblemError"
  readonly problem: HTTPProblem
  readonly status: number

  constructor(problem: HTTPProblem, status: number) {
    super(problem.detail)
    this.problem = problem
    this.status = status
  }
}
