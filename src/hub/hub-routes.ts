import { allows, requirementOf } from "../core/access.ts"
import { streamAnswer } from "../serve/http/answer.ts"
import { Heartbeats } from "../serve/http/heartbeats.ts"
import type { HTTPAnswer } from "../serve/exchange.ts"
import { HTTPRefusal } from "../serve/http/context.ts"
import type { HTTPContext, RouteRequest, Routes } from "../serve/http/context.ts"
import type { HTTPCaller } from "../serve/caller.ts"
import { expired, whenExpired } from "../serve/expiry.ts"
import type { Activity } from "./activity.ts"
import { ActivityStream } from "./activity/stream.ts"
import type { Hub, ReportItem, SourceReport } from "./model.ts"
import { summariesFor } from "./operation-summaries.ts"

/**
 * Routes of a hub under `/hub`: the list of operations for every caller, activity and sources for
 * administrators.
 */
export function createHubRoutes(
  hub: Pick<Hub, "sources" | "report">,
  activity: Activity,
  sourceOf: (id: string) => string | undefined,
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
        handle: ({ caller }) => {
          const { title } = context.options
          const operations = summariesFor(context, caller, sourceOf)
          return context.json(JSON.stringify({ title, operations }))
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
        path: "/hub/events",
        handle: forAdmins((request) => eventsFor(request, context, activity, heartbeats)),
      },
    ]
  }
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
 * Throws a 403 unless a caller may see the activity of a hub: who calls what, and the state of sources.
 *
 * Without authentication only this machine can connect, and everyone on it may see it.
 */
function assertAdmin({ options }: HTTPContext, { identity }: HTTPCaller): void {
  const isOpen = options.auth === undefined && options.authenticate === undefined
  if (isOpen || allows(REQUIREMENT, identity, undefined)) return
  throw new HTTPRefusal(
    403,
    "ACCESS_DENIED",
    `This needs the scope "${ADMIN_SCOPE}". Add it to "scopes" of the key in "server.apiKeys", or to the token.`,
    { retryable: false, details: { requiredScopes: [ADMIN_SCOPE] } },
  )
}
