import { promisify } from "node:util"
import { gzip } from "node:zlib"
import { allows, requirementOf } from "../core/access.ts"
import type { OperationPolicyState, PolicyState } from "../core/policy-state.ts"
import type { OperationRegistry } from "../engine/registry.ts"
import { streamAnswer } from "../serve/http/answer.ts"
import { Heartbeats } from "../serve/http/heartbeats.ts"
import type { HTTPAnswer } from "../serve/exchange.ts"
import { HTTPRefusal } from "../serve/http/context.ts"
import type { HTTPContext, RouteRequest, Routes } from "../serve/http/context.ts"
import { searchIds } from "../serve/http/listing.ts"
import type { HTTPCaller } from "../serve/caller.ts"
import { MAX_LISTED_TOOLS } from "../serve/mcp/options.ts"
import { expired, whenExpired } from "../serve/expiry.ts"
import type { Activity } from "./activity.ts"
import { acceptedEncodings } from "./console-files.ts"
import { ActivityStream } from "./activity/stream.ts"
import type { Hub, ReportItem, SourceReport } from "./model.ts"
import { summariesFor } from "./operation-summaries.ts"

/** What is served beside HTTP. */
export interface Surfaces {
  readonly mcp: boolean
  readonly websocket: boolean
}

/** Shorter lists are not compressed. */
const MIN_COMPRESSED = 16 * 1024

/**
 * Routes of a hub under `/hub`: list and search of operations for every caller, activity and sources for
 * administrators.
 */
export function createHubRoutes(
  hub: Pick<Hub, "sources" | "report">,
  activity: Activity,
  sourceOf: (id: string) => string | undefined,
  surfaces: Surfaces,
): (context: HTTPContext) => Routes {
  return (context) => {
    const heartbeats = new Heartbeats(context.clock, context.options.sse.heartbeatMs)
    const forAdmins =
      (handle: (request: RouteRequest) => HTTPAnswer) =>
      (request: RouteRequest): HTTPAnswer => {
        assertAdmin(context, request.caller)
        return handle(request)
      }
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
              isAdmin: isAdmin(context, caller),
              isOpen: isOpen(context),
            },
            websocket,
            ...(surfaces.mcp && { mcp }),
          }
          return await compressed(context, incoming, JSON.stringify({ ...about, operations }))
        },
      },
      {
        method: "GET",
        path: "/hub/search",
        handle: async ({ caller, incoming }) => {
          const ids = await searchIds(context, caller, incoming.query)
          return context.json(JSON.stringify({ ids }))
        },
      },
      {
        method: "GET",
        path: "/hub/sources",
        handle: forAdmins(() => context.json(JSON.stringify({ sources: hub.sources }))),
      },
      {
        method: "GET",
        path: "/hub/sources/{name}/report",
        handle: forAdmins(({ params: [name = ""], caller }) =>
          context.json(JSON.stringify(visibleTo(reportOf(hub, name), context, caller))),
        ),
      },
      {
        method: "GET",
        path: "/hub/stats",
        handle: forAdmins(() => context.json(JSON.stringify(activity.stats))),
      },
      {
        method: "GET",
        path: "/hub/policies",
        handle: forAdmins(() => context.json(JSON.stringify(policiesIn(context)))),
      },
      {
        method: "GET",
        path: "/hub/events",
        handle: forAdmins((request) => eventsFor(request, context, activity, heartbeats)),
      },
    ]
  }
}

/** A list of thousands of operations is a tenth of its size when compressed. */
async function compressed(
  context: HTTPContext,
  incoming: RouteRequest["incoming"],
  text: string,
): Promise<HTTPAnswer> {
  const vary = { vary: "accept-encoding" }
  const isAccepted = acceptedEncodings(incoming.header("accept-encoding")).has("gzip")
  if (text.length < MIN_COMPRESSED || !isAccepted) return context.json(text, vary)
  const body = await promisify(gzip)(text, { level: 4 })
  return { ...context.json("", { ...vary, "content-encoding": "gzip" }), body }
}

function reportOf(hub: Pick<Hub, "sources" | "report">, name: string): SourceReport {
  const status = hub.sources.find((source) => source.name === name)
  if (status === undefined) {
    throw new HTTPRefusal(404, "NOT_FOUND", `There is no source "${name.slice(0, 200)}".`)
  }
  const report = hub.report(name)
  if (report !== undefined) return report
  const why = status.reason === undefined ? "" : `: ${status.reason}`
  throw new HTTPRefusal(503, "UNAVAILABLE", `Source "${name}" is not open${why}`)
}

/** The state of the policies of all operations that are served. */
function policiesIn(context: HTTPContext): PolicyState {
  const { policyState } = context.registry as Partial<Pick<OperationRegistry, "policyState">>
  const { breakers = [], budgets = [], operations = [] } = policyState ?? {}
  const isServed = ({ operationId }: OperationPolicyState): boolean =>
    context.find(operationId) !== undefined
  return { breakers, budgets, operations: operations.filter(isServed) }
}

/** A report without the operations that its reader may not see. */
function visibleTo(report: SourceReport, context: HTTPContext, caller: HTTPCaller): SourceReport {
  const isShown = ({ id }: ReportItem): boolean => {
    if (id === undefined) return true
    const spec = context.find(id)
    return spec !== undefined && context.maySee(spec, caller)
  }
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
      const stop = whenExpired(caller.expiresAt, clock, () => stream.end(expired()))
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

/** Whether nobody has to say who they are. */
function isOpen({ options }: HTTPContext): boolean {
  return options.auth === undefined && options.authenticate === undefined
}

function assertAdmin(context: HTTPContext, caller: HTTPCaller): void {
  if (isAdmin(context, caller)) return
  throw new HTTPRefusal(
    403,
    "ACCESS_DENIED",
    `This needs the scope "${ADMIN_SCOPE}". Add it to "scopes" of the key in "server.apiKeys", or to the token.`,
    { retryable: false, details: { requiredScopes: [ADMIN_SCOPE] } },
  )
}
