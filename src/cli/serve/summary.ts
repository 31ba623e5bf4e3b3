import { idOf } from "../../core/define.ts"
import type { Hub } from "../../hub/model.ts"
import type { CommandIO } from "../model.ts"
import { counted, oneLine, print, printJson, styled, table } from "../output.ts"
import { suggestions } from "./suggestions.ts"
import type { ServedHub } from "../../hub/serve-hub.ts"

/** URLs of a hub. */
export type Places = Pick<ServedHub, "url" | "consoleUrl" | "mcpUrl" | "wsUrl">

/** Prints what is served and where, or one JSON value. */
export function printSummary(hub: Hub, places: Places, isJson: boolean, io: CommandIO): void {
  if (isJson) {
    const { url, consoleUrl = null, mcpUrl = null, wsUrl = null } = places
    const openapiUrl = `${url}/openapi.json`
    const operations = hub.registry.getAllSpecs().length
    const { sources } = hub
    printJson(io, { url, consoleUrl, openapiUrl, mcpUrl, wsUrl, operations, sources })
    return
  }
  print(io, summaryText(hub, places, io))
}

function summaryText(hub: Hub, { url, consoleUrl, mcpUrl, wsUrl }: Places, io: CommandIO): string {
  const { bold, cyan, dim } = styled(io)
  const { columns = 100 } = io.stdout
  const rows = [
    ...(consoleUrl === undefined ? [] : [["Console", consoleUrl]]),
    ["HTTP", `${url}/operations`],
    ["OpenAPI", `${url}/openapi.json`],
    ...(mcpUrl === undefined ? [] : [["MCP", mcpUrl]]),
    ...(wsUrl === undefined ? [] : [["WebSocket", wsUrl]]),
  ] as const
  const lines = [
    "",
    bold(`${oneLine(hub.config.server.title ?? "The hub", 80)} is at ${url}`),
    countsOf(hub),
    "",
    table(rows.map(([what = "", where = ""]) => [`  ${what}`, cyan(where)])),
  ]
  const { apiKeys = [], jwt } = hub.config.server
  const needsToken = apiKeys.length > 0 || jwt !== undefined
  lines.push(
    "",
    needsToken ? "Try, with your key in OPERATIONS_TOKEN:" : "Try, in another terminal:",
  )
  for (const { line, what } of suggestions(sortedSpecs(hub), io.program, url)) {
    lines.push("", `  ${dim(`# ${oneLine(what, Math.min(90, columns - 4))}`)}`, `  ${line}`)
  }
  lines.push("", dim("Ctrl-C stops it."))
  return lines.join("\n")
}

function countsOf({ registry, sources }: Hub): string {
  const there = sources.filter(({ state }) => state === "ready").length
  const missing = sources.filter(({ state }) => state !== "ready" && state !== "disabled")
  const count = registry.getAllSpecs().length
  const text = `${counted(count, "operation")} of ${counted(there, "source")}`
  if (missing.length === 0) return `${text}.`
  return `${text}; not there: ${missing.map(({ name }) => oneLine(name)).join(", ")}.`
}

function sortedSpecs({ registry }: Hub): ReturnType<Hub["registry"]["getAllSpecs"]> {
  return registry.getAllSpecs().toSorted((left, right) => (idOf(left) < idOf(right) ? -1 : 1))
}
