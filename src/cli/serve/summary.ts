import { idOf } from "../../core/define.ts"
import type { Hub, SourceStatus } from "../../hub/model.ts"
import { mayInstall } from "../../sources/mcp/may-install.ts"
import type { CommandIO } from "../model.ts"
import { counted, oneLine, print, printJson, styled, table, printError, note } from "../output.ts"
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

/** Milliseconds after which a source that is still being opened is reported. */
const SLOW_MS = 3000

/** Reports sources that take long to open, with the probable reason. Returns a function that stops it. */
export function noteSlowSources(hub: Hub, io: CommandIO): () => void {
  const timer = setTimeout(() => {
    for (const { name, state, origin, kind } of hub.sources) {
      if (state !== "loading") continue
      const what =
        kind === "mcp" && mayInstall(origin.split(" ")[0] ?? "") ? "installing" : "opening"
      note(io, oneLine(`${name}: ${what}… (${origin})`))
    }
  }, SLOW_MS)
  timer.unref()
  return () => clearTimeout(timer)
}

/** Prints a line to standard error whenever the status of a source changes. */
export function printProgress(hub: Hub, io: CommandIO): () => void {
  const widest = Math.max(0, ...hub.config.sources.map(({ name }) => name.length))
  const lastLines = new Map<string, string>()
  return hub.onStatus((status) => {
    const line = progressLine(status, io, widest)
    if (line === undefined || lastLines.get(status.name) === line) return
    lastLines.set(status.name, line)
    // Failures are printed even with --quiet.
    if (status.state === "ready") note(io, line)
    else printError(io, line)
  })
}

/** The status line of a source; `undefined` when there is nothing to print. */
function progressLine(
  {
    name,
    state,
    kind,
    origin,
    operations,
    reason = "no reason given",
    attempts,
    retryAt,
  }: SourceStatus,
  io: CommandIO,
  width: number,
): string | undefined {
  const { green, red, yellow, dim } = styled(io, io.stderr)
  const start = oneLine(name).padEnd(width)
  switch (state) {
    case "ready": {
      const count = counted(operations, "operation")
      return `${green("✓")} ${start}  ${count.padEnd(14)}  ${dim(oneLine(`${kind} ${origin}`))}`
    }
    case "failed":
      // Only the first failure is printed: later attempts usually fail for the same reason.
      if (attempts > 1 && io.verbose !== true) return undefined
      return `${red("✗")} ${start}  ${sentence(reason)}${retryAt === undefined ? "" : " It is tried again."}`
    case "lost":
      return `${yellow("!")} ${start}  ${sentence(reason)} Its calls fail until it is back.`
    case "loading":
      return io.verbose === true ? `${dim("…")} ${start}  ${dim(oneLine(origin))}` : undefined
    case "disabled":
      return undefined
  }
}

function sentence(text: string): string {
  const line = oneLine(text)
  return /[.!?…]$/.test(line) ? line : `${line}.`
}
