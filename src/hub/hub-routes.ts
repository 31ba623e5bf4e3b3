import { HTTPRefusal } from "../serve/http/spine.ts"
import type { HTTPCaller, HTTPContext, Routes } from "../serve/http/spine.ts"
import type { Hub, ReportItem, SourceReport } from "./model.ts"

/** `GET /hub/sources` and `GET /hub/sources/{name}/report`. */
export function createHubRoutes(hub: Hub): (context: HTTPContext) => Routes {
  return (context) => [
    {
      method: "GET",
      path: "/hub/sources",
      handle: () => context.json(JSON.stringify({ sources: hub.sources })),
    },
    {
      method: "GET",
      path: "/hub/sources/{name}/report",
      handle: ({ params: [name = ""], caller }) => {
        const status = hub.sources.find((source) => source.name === name)
        if (status === undefined) {
          throw new HTTPRefusal(404, "NOT_FOUND", `There is no source "${name.slice(0, 200)}".`)
        }
        const report = hub.report(name)
        if (report === undefined) {
          const why = status.reason === undefined ? "" : `: ${status.reason}`
          throw new HTTPRefusal(503, "UNAVAILABLE", `Source "${name}" is not open${why}`)
        }
        return context.json(JSON.stringify(shownTo(report, context, caller)))
      },
    },
  ]
}

/** A report without what its reader may not know of. */
function shownTo(report: SourceReport, context: HTTPContext, caller: HTTPCaller): SourceReport {
  const isShown = ({ id }: ReportItem): boolean => {
    if (id === undefined) return true
    const spec = context.find(id)
    return spec !== undefined && context.maySee(spec, caller)
  }
  return { ...report, items: report.items.filter(isShown) }
}
