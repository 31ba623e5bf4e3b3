import { promisify } from "node:util"
import { gzip } from "node:zlib"
import { allows, requirementOf } from "../core/access.ts"
import { answerApproval, answerTest, listApprovals } from "./approval-routes.ts"
import type { PolicyState, Protected } from "../core/policy-state.ts"
import { jsonAnswer, streamAnswer, withHeaders } from "../serve/http/answer.ts"
import { Heartbeats } from "../serve/http/sse.ts"
import type { HTTPAnswer, HTTPCaller } from "../serve/exchange.ts"
import { HTTPRefusal, type RouteRequest, type Routes } from "../serve/http/context.ts"
import type { HTTPContext } from "../serve/http/http-context.ts"
import { searchIds } from "../serve/http/listing.ts"
import { MAX_LISTED_TOOLS } from "../tools/options.ts"
import { whenEnded } from "../serve/expiry.ts"
import type { Activity } from "./activity.ts"
import { acceptedEncodings } from "./console-files.ts"
import { ActivityStream } from "./activity/stream.ts"
import type { Recorder } from "./activity/recorder.ts"
import type { HubInternals } from "./create-hub.ts"
import { PROMETHEUS_TYPE, prometheusText } from "./prometheus.ts"
import { summariesFor } from "./operation-summaries.ts"
import { mapTexts } from "./resolve-references.ts"
import { toolCost } from "./tool-cost.ts"
import type { Hub, ReportItem, SourceReport, SourceStatus } from "./model.ts"

/** What is served beside HTTP. */
export interface Surfaces {
  readonly mcp: boolean
  readonly websocket: boolean
  /** `GET /metrics`; default: false. */
  readonly metrics?: boolean | undefined
  /** The address of a trace, with `{traceId}`. */
  readonly traceLink?: (() => string | undefined) | undefined
}

/** Shorter lists are not compressed. */
const MIN_COMPRESSED = 16 * 1024

type RouteHandler = (request: RouteRequest) => HTTPAnswer | Promise<HTTPAnswer>

/** The sources of a hub; a registry that is served alone has none. */
type ServedSources = Pick<Hub, "sources" | "report" | "reopen" | "mask">

/**
 * Routes of a hub under `/hub`: list and search of operations for every caller, activity and sources for
 * administrators.
 */
export function createHubRoutes(
  hub: ServedSources,
  activity: Activity,
  {
    sourceOf,
    detailsOf,
    standing,
  }: Pick<HubInternals, "sourceOf" | "detailsOf"> & Partial<Pick<HubInternals, "standing">>,
  surfaces: Surfaces,
): (context: HTTPContext) => Routes {
  return (context) => {
    const heartbeats = new Heartbeats(context.clock, context.options.sse.heartbeatMs)
    const forAdmins = (
      method: "GET" | "POST",
      path: string,
      handle: RouteHandler,
    ): Routes[number] => ({
      method,
      path,
      handle: (request) => {
        if (isAdmin(context, request.caller)) return handle(request)
        throw adminsOnly()
      },
    })
    return [
      {
        method: "GET",
        path: "/hub/operations",
        handle: async ({ caller, incoming }) => {
          const { title, description } = context.options
          const operations = summariesFor(context, caller, sourceOf)
          const { websocket } = surfaces
          const mcp = operations.length > MAX_LISTED_TOOLS ? "search" : "tools"
          const about = {
            title,
            description,
            caller: {
              id: caller.identity?.id,
              scopes: caller.identity?.scopes,
              isAdmin: isAdmin(context, caller),
              isOpen: isOpen(context),
            },
            websocket,
            ...(isAdmin(context, caller) && {
              records: activity.recorder !== undefined,
              traceLink: surfaces.traceLink?.(),
            }),
            ...(surfaces.mcp && { mcp }),
          }
          return await compressed(incoming, { ...about, operations })
        },
      },
      {
        method: "GET",
        path: "/hub/search",
        handle: async ({ caller, incoming }) =>
          json({ ids: await searchIds(context, caller, incoming.query) }),
      },
      {
        method: "GET",
        path: "/hub/complete/{id}",
        handle: async (request) => {
          const { completeArgument } = await import("./complete-argument.ts")
          return json(await completeArgument(context, request))
        },
      },
      forAdmins("GET", "/hub/sources", () => {
        const { sources } = hub
        const calls = sources.map(({ name }) => [name, activity.callsOf(name)] as const)
        return json({ sources, calls: Object.fromEntries(calls) })
      }),
      forAdmins("GET", "/hub/sources/{name}", ({ params: [name = ""] }) =>
        json({ ...statusOf(hub, name), ...detailsOf(name) }),
      ),
      forAdmins("POST", "/hub/sources/{name}/reopen", async ({ params: [name = ""] }) => {
        statusOf(hub, name)
        // Whether that succeeds is in its status.
        await hub.reopen(name).catch(() => undefined)
        return json(statusOf(hub, name))
      }),
      forAdmins("GET", "/hub/sources/{name}/report", ({ params: [name = ""], caller }) =>
        json(visibleTo(reportOf(hub, name), context, caller)),
      ),
      forAdmins("GET", "/hub/approvals", () => listApprovals(context, standing)),
      forAdmins("POST", "/hub/approvals/test", (request) => answerTest(context, request)),
      forAdmins("POST", "/hub/approvals/{id}", (request) =>
        answerApproval(context, request, standing),
      ),
      forAdmins("GET", "/hub/tools", ({ caller }) =>
        json(toolCost(context.registry, sourceOf, caller.identity)),
      ),
      forAdmins("GET", "/hub/stats", () => json(activity.stats)),
      ...(surfaces.metrics === true
        ? [forAdmins("GET", "/metrics", () => metricsOf(hub, activity, context))]
        : []),
      forAdmins("GET", "/hub/policies", async ({ incoming }) =>
        compressed(incoming, policiesIn(context)),
      ),
      forAdmins("GET", "/hub/calls", ({ incoming, caller }) => {
        const requestId = new URLSearchParams(incoming.query).get("requestId")
        const calls = recorderOf(activity).find(requestId ?? "", caller.identity)
        return json({ calls: mapTexts(calls, hub.mask) })
      }),
      forAdmins("GET", "/hub/timelines", ({ incoming, caller }) => {
        const requestId = new URLSearchParams(incoming.query).get("requestId") ?? ""
        const canCall = (id: string): boolean => context.findFor(caller, id) !== undefined
        return json({ timelines: mapTexts(activity.timelines.find(requestId, canCall), hub.mask) })
      }),
      forAdmins("GET", "/hub/load", ({ incoming }) => {
        const query = new URLSearchParams(incoming.query)
        const load = activity.load(
          query.get("operation") ?? undefined,
          query.get("source") ?? undefined,
        )
        return json(load)
      }),
      forAdmins("GET", "/hub/events", (request) =>
        eventsFor(request, context, activity, heartbeats),
      ),
    ]
  }
}

function json(value: unknown): HTTPAnswer {
  return jsonAnswer(JSON.stringify(value))
}

/** A list of thousands of operations is a tenth of its size when compressed. */
async function compressed(incoming: RouteRequest["incoming"], value: unknown): Promise<HTTPAnswer> {
  const text = JSON.stringify(value)
  const vary = { vary: "accept-encoding" }
  const isAccepted = acceptedEncodings(incoming.header("accept-encoding")).has("gzip")
  if (text.length < MIN_COMPRESSED || !isAccepted) return jsonAnswer(text, vary)
  const body = await promisify(gzip)(text, { level: 4 })
  return { ...jsonAnswer("", { ...vary, "content-encoding": "gzip" }), body }
}

function statusOf(hub: ServedSources, name: string): SourceStatus {
  const status = hub.sources.find((source) => source.name === name)
  if (status !== undefined) return status
  throw new HTTPRefusal(404, "NOT_FOUND", `There is no source "${name.slice(0, 200)}".`)
}

function recorderOf({ recorder }: Activity): Recorder {
  if (recorder !== undefined) return recorder
  throw new HTTPRefusal(
    404,
    "NOT_FOUND",
    'Inputs and results of calls are not recorded. Set "record" under "server" in the configuration.',
  )
}

function reportOf(hub: ServedSources, name: string): SourceReport {
  const status = statusOf(hub, name)
  const report = hub.report(name)
  if (report !== undefined) return report
  const why = status.reason === undefined ? "" : `: ${status.reason}`
  throw new HTTPRefusal(503, "UNAVAILABLE", `Source "${name}" is not open${why}`)
}

function metricsOf(
  { sources }: ServedSources,
  activity: Activity,
  context: HTTPContext,
): HTTPAnswer {
  const { startedAt } = activity.stats
  const { operations } = activity.series
  const policies = policiesIn(context)
  const text = prometheusText({ startedAt, operations, sources, policies })
  return withHeaders(jsonAnswer(text), { "content-type": PROMETHEUS_TYPE })
}

/** The state of the policies of all operations that are served. */
function policiesIn(context: HTTPContext): PolicyState {
  const { breakers = [], budgets = [], operations = [] } = context.registry.policyState ?? {}
  const isServed = ({ operationId }: Pick<Protected, "operationId">): boolean =>
    operationId === undefined || context.find(operationId) !== undefined
  return { breakers: breakers.filter(isServed), budgets, operations: operations.filter(isServed) }
}

/** A report without the operations that its reader may not see. */
function visibleTo(report: SourceReport, context: HTTPContext, caller: HTTPCaller): SourceReport {
  const isShown = ({ id }: ReportItem): boolean =>
    id === undefined || context.findFor(caller, id) !== undefined
  return { ...report, items: report.items.filter(isShown) }
}

function eventsFor(
  { incoming, caller }: RouteRequest,
  { clock }: HTTPContext,
  activity: Activity,
  heartbeats: Heartbeats,
): HTTPAnswer {
  const full = caller.openStream()
  if (full !== undefined) throw full
  const { requestId } = incoming
  const stream = new ActivityStream({ activity, clock, heartbeats, requestId })
  return streamAnswer({
    async run(sink) {
      const stop = whenEnded(caller, clock, (error) => stream.end(error))
      await stream.run(sink).finally(stop)
    },
  })
}

/** Scope that allows a caller to see the activity of a hub. */
const ADMIN_SCOPE = "hub:admin"

const REQUIREMENT = requirementOf({ requiredScopes: [ADMIN_SCOPE] })

/**
 * Whether a caller may see the activity of a hub: who calls what, and the state of sources.
 *
 * Without authentication only this machine can connect, and everyone on it may see it.
 */
function isAdmin(context: HTTPContext, { identity }: HTTPCaller): boolean {
  return isOpen(context) || allows(REQUIREMENT, identity, undefined)
}

/** Whether callers need no credentials. */
function isOpen({ options }: HTTPContext): boolean {
  return options.auth === undefined && options.authenticate === undefined
}

function adminsOnly(): HTTPRefusal {
  return new HTTPRefusal(
    403,
    "ACCESS_DENIED",
    `This needs the scope "${ADMIN_SCOPE}". Add it to "scopes" of the key in "server.apiKeys", or to the token.`,
    { retryable: false, details: { requiredScopes: [ADMIN_SCOPE] } },
  )
}
