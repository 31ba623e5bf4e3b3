import { isObject, isRecord } from "../../../src/internal/guards.ts"
import { getOwn, textOf } from "../../../src/schema/json.ts"
import type { Calls } from "./calls.ts"
import { ProblemError } from "./model.ts"
import type { SourceCalls } from "../../../src/hub/activity/counters.ts"
import type {
  CallOutcome,
  CallTrace,
  HubClient,
  HubEvent,
  HubEventsOptions,
  HubInfo,
  HubLoad,
  HubStats,
  OperationSpec,
  OperationSummary,
  PolicyState,
  RecordedCall,
  SourceInfo,
  SourceLogLine,
  SourceReport,
  SourceStatus,
  WaitingApproval,
  Timeline,
} from "./model.ts"
import { brokeOff, toProblem, unexpectedAnswer, unreachable } from "./problems.ts"
import { Requests } from "./requests.ts"
import type { RequestOptions } from "./requests.ts"

export interface HubClientOptions extends RequestOptions {
  /** Called with what the hub says about itself. */
  readonly onInfo?: ((info: HubInfo) => void) | undefined
}

type JsonRecord = Readonly<Record<string, unknown>>

const PAGE = 500
// Bounds the requests to a hub whose list never ends.
const MAX_PAGES = 1000

/** The only place that talks to a hub. */
export function createHubClient(options: HubClientOptions): HubClient {
  const requests = new Requests(options)
  let hasSockets = false
  const onInfo = (info: HubInfo): void => {
    hasSockets = info.websocket
    options.onInfo?.(info)
  }
  let loaded: Promise<Calls> | undefined
  /** Loads what calls operations. Rejects with a `ProblemError` if the hub does not send the file. */
  const load = async (): Promise<Calls> => {
    try {
      return await (loaded ??= import("./calls.ts").then(
        ({ Calls: Loaded }) => new Loaded(requests),
      ))
    } catch {
      loaded = undefined
      throw new ProblemError(unreachable(false), 0)
    }
  }
  const json = async <TAnswer>(path: string, signal?: AbortSignal): Promise<TAnswer> =>
    (await requests.json(path, signal)) as TAnswer
  return {
    baseUrl: requests.baseUrl,
    list: (signal) => listAll(requests, onInfo, signal),
    search: (query, signal) => searchIds(requests, query, signal),
    describe: (id, signal) => json<OperationSpec>(`operations/${encodeURIComponent(id)}`, signal),
    async call(id, input, callOptions) {
      const { live, onlyAsks } = callOptions
      try {
        const calls = await load()
        if (!hasSockets && onlyAsks !== true) live?.onPlain()
        const callLive = async (): Promise<CallOutcome | undefined> =>
          live && hasSockets ? await calls.callLive(id, input, callOptions, live) : undefined
        const outcome = onlyAsks === true ? undefined : await callLive()
        if (outcome !== undefined) return outcome
        const plain = await calls.call(id, input, callOptions)
        // It has not run: over HTTP a person could not be asked.
        return onlyAsks === true && mustBeApproved(plain) ? ((await callLive()) ?? plain) : plain
      } catch (error) {
        const { problem } = error as ProblemError
        return { ok: false, problem, status: 0, headers: {}, durationMs: 0 }
      }
    },
    watch: async (id, input, watchOptions) => await (await load()).watch(id, input, watchOptions),
    async complete(id, argument, { [argument]: value = "", ...given }, signal) {
      const query = new URLSearchParams({ argument, value, given: JSON.stringify(given) })
      const { values } = await requests.json(
        `hub/complete/${encodeURIComponent(id)}?${query}`,
        signal,
      )
      return expectList(values, "The completion").filter((one) => typeof one === "string")
    },
    async sources(signal) {
      const { sources, calls } = await requests.json("hub/sources", signal)
      return expectList<SourceStatus>(sources, "The list of sources").map((status) => {
        const counted = isRecord(calls) ? getOwn(calls, status.name) : undefined
        return counted === undefined ? status : { ...status, calls: counted as SourceCalls }
      })
    },
    source: (name, signal) => json<SourceInfo>(`hub/sources/${encodeURIComponent(name)}`, signal),
    async reopen(name) {
      const response = await requests.ask(`hub/sources/${encodeURIComponent(name)}/reopen`, {
        method: "POST",
        body: "{}",
        headers: { accept: "application/json", "content-type": "application/json" },
      })
      return (await response.json()) as SourceStatus
    },
    async recorded(requestId, signal) {
      const query = new URLSearchParams({ requestId })
      const { calls } = await requests.json(`hub/calls?${query}`, signal)
      return expectList<RecordedCall>(calls, "The recorded call")
    },
    async approvals(signal) {
      const { waiting, canAlways } = await requests.json("hub/approvals", signal)
      const list = expectList<WaitingApproval>(waiting, "The list of approvals")
      return { waiting: list, canAlways: canAlways === true }
    },
    async answerApproval(id, answer) {
      const response = await requests.ask(`hub/approvals/${encodeURIComponent(id)}`, {
        method: "POST",
        body: JSON.stringify(answer),
        headers: { accept: "application/json", "content-type": "application/json" },
      })
      await response.body?.cancel()
    },
    async timelines(requestId, signal) {
      const query = new URLSearchParams({ requestId })
      const { timelines } = await requests.json(`hub/timelines?${query}`, signal)
      return expectList<Timeline>(timelines, "The timeline of the call")
    },
    async load({ operation, source }, signal) {
      const query = new URLSearchParams({
        ...(operation !== undefined && { operation }),
        ...(source !== undefined && { source }),
      })
      const answer = await json<HubLoad>(`hub/load?${query}`, signal)
      const lists = [answer.minutes, answer.operations, answer.sources]
      for (const list of lists) expectList(list, "The load of the hub")
      return answer
    },
    report: (name, signal) =>
      json<SourceReport>(`hub/sources/${encodeURIComponent(name)}/report`, signal),
    stats: (signal) => json<HubStats>("hub/stats", signal),
    async policies(signal) {
      const state = await json<PolicyState>("hub/policies", signal)
      const { breakers, operations } = state
      if (Array.isArray(breakers) && Array.isArray(operations)) return state
      throw unexpectedAnswer("The state of policies")
    },
    events: (eventOptions) => readHubEvents(requests, eventOptions),
    async ping(signal) {
      const response = await requests.send("", { method: "HEAD", signal })
      await response.body?.cancel()
    },
  }
}

function mustBeApproved(outcome: CallOutcome): boolean {
  return !outcome.ok && outcome.problem.code === "APPROVAL_REQUIRED"
}

/** One response with the source of each operation. A server that is not a hub lists its operations in pages. */
async function listAll(
  requests: Requests,
  onInfo: (info: HubInfo) => void,
  signal: AbortSignal | undefined,
): Promise<readonly OperationSummary[]> {
  const response = await fromHub(requests, "hub/operations", signal)
  if (response === undefined) return await listPages(requests, signal)
  const { operations, ...about } = response
  const list = expectList<OperationSummary>(operations, "The list of operations")
  onInfo(infoOf(about))
  return list
}

/** Longer queries are refused. */
const MAX_QUERY = 1000

/** The ids alone, as the list is here already. A server that is not a hub answers with the first page of operations. */
async function searchIds(
  requests: Requests,
  text: string,
  signal: AbortSignal | undefined,
): Promise<readonly string[]> {
  const query = text.slice(0, MAX_QUERY)
  const response = await fromHub(requests, `hub/search?${new URLSearchParams({ query })}`, signal)
  if (response !== undefined) {
    return expectList(response["ids"], "The search").filter((id) => typeof id === "string")
  }
  const { operations } = await requests.json(
    `operations?${new URLSearchParams({ query, limit: String(PAGE) })}`,
    signal,
  )
  return expectList<OperationSummary>(operations, "The search").map(({ id }) => id)
}

/** The response of a hub; `undefined` from a server that is not a hub. */
async function fromHub(
  requests: Requests,
  path: string,
  signal: AbortSignal | undefined,
): Promise<JsonRecord | undefined> {
  try {
    return await requests.json(path, signal)
  } catch (error) {
    if (error instanceof ProblemError && error.status === 404) return undefined
    throw error
  }
}

/** Reads the events of the hub, until it is aborted; rejects if the hub goes away. */
async function readHubEvents(
  requests: Requests,
  { signal, onOpen, onEvent }: HubEventsOptions,
): Promise<void> {
  if (signal.aborted) return
  try {
    for await (const frame of requests.events("hub/events", signal, onOpen)) {
      if (signal.aborted || frame.event === "end") return
      const value: unknown = JSON.parse(frame.text)
      if (frame.event === "error") {
        const problem = toProblem(value)
        if (problem === undefined) throw unexpectedAnswer("An error of the stream")
        throw new ProblemError(problem, problem.status)
      }
      const event = hubEventOf(frame.event, value)
      if (event !== undefined) onEvent(event)
    }
    throw new ProblemError(brokeOff("The event stream of the hub"), 0)
  } catch (error) {
    if (signal.aborted) return
    if (error instanceof ProblemError) throw error
    if (error instanceof SyntaxError) throw unexpectedAnswer("An event of the stream")
    throw new ProblemError(unreachable(true), 0)
  }
}

/** An event with its kind inside or as its name; `undefined` for unknown ones. */
function hubEventOf(name: string | undefined, value: unknown): HubEvent | undefined {
  if (!isObject(value)) return undefined
  const { kind } = value as { readonly kind?: unknown }
  if ("trace" in value && kind === "call") return value as HubEvent
  if ("status" in value && kind === "source") return value as HubEvent
  if (name === "call") return { kind: "call", trace: value as CallTrace }
  if (name === "source") return { kind: "source", status: value as SourceStatus }
  if (name === "log") return { kind: "log", line: value as SourceLogLine }
  if (name === "lost" && "events" in value) return { kind: "lost", events: Number(value.events) }
  return undefined
}

function expectList<TItem>(value: unknown, what: string): readonly TItem[] {
  if (!Array.isArray(value)) throw unexpectedAnswer(what)
  return value as TItem[]
}

function infoOf(about: JsonRecord): HubInfo {
  const { title, description, caller, mcp, websocket, records, traceLink } = about
  const { id, scopes, isAdmin, isOpen } = isRecord(caller) ? caller : {}
  return {
    title: textOf(title) ?? "Operations",
    description: textOf(description),
    callerId: textOf(id),
    ...(Array.isArray(scopes) && { scopes: scopes.map(String) }),
    isAdmin: isAdmin !== false,
    hasAuth: isOpen !== true,
    mcp: mcp === "tools" || mcp === "search" ? mcp : undefined,
    websocket: websocket === true,
    ...(typeof records === "boolean" && { records }),
    traceLink: textOf(traceLink),
  }
}

async function listPages(
  requests: Requests,
  signal: AbortSignal | undefined,
): Promise<readonly OperationSummary[]> {
  const all: OperationSummary[] = []
  let cursor: string | undefined
  for (let page = 0; page < MAX_PAGES; page++) {
    const query = new URLSearchParams({ limit: String(PAGE) })
    if (cursor !== undefined) query.set("cursor", cursor)
    const { operations, nextCursor } = await requests.json(`operations?${query}`, signal)
    all.push(...expectList<OperationSummary>(operations, "The list of operations"))
    if (typeof nextCursor !== "string" || nextCursor === cursor) return all
    cursor = nextCursor
  }
  return all
}
