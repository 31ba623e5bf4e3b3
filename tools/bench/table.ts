import type { Latency } from "./bus.ts"
import type { CoreResults, Goal, HTTPResults, MCPResults, ProtocolResults } from "./goals.ts"
import type { Disconnects } from "./http-disconnect.ts"
import type { Idle } from "./http-idle.ts"
import type { FirstRequests } from "./mcp-http.ts"
import type { StdioCost } from "./mcp-stdio.ts"
import type { Measurement, Spread } from "./measure.ts"
import type { DocumentResults, ImporterResult, OpenAPIResults } from "./openapi.ts"

/** Calls within the registry, as plain text. */
export function coreTables({ small, large, extras, scaling, rotation }: CoreResults): string[] {
  return [
    section("Small: three fields in, three out; times the floor", small),
    section("Large: thirty leaves, nested, the same in and out; times the floor", large),
    section("Other rows; times the row named, or the floor", extras),
    section("Registered operations; times 10 operations", scaling),
    section("Many operations in turn; times by hand", rotation),
  ]
}

/** The call protocol, as plain text. */
export function protocolTables(results: ProtocolResults): string[] {
  return [
    section("The call protocol, in process; times execute, or the row named", results.protocol),
    section("Calls at the same time, per call; times 100, or the row named", results.inFlight),
    section("Calls over WebSocket, 64 in flight; times the floor", results.socketCalls, true),
    section("Stream items over WebSocket; times the floor", results.socketStreams, true),
    rateTable("WebSocket between processes, 64 in flight; times raw TCP", results.betweenCalls),
    latencyTable("WebSocket, one call at a time; times by hand", results.betweenLatencies),
  ]
}

/** MCP tools, as plain text. */
export function mcpTables({ served, imported, overHTTP, stdio, first }: MCPResults): string[] {
  return [
    section("MCP tools that are served, a request in and a response out; times by hand", served),
    section("MCP tools that are imported, over a pipe; times the SDK", imported),
    section("tools/call over HTTP, CPU of the server; times by hand", overHTTP),
    stdioTable(stdio),
    firstTable(first),
  ]
}

function stdioTable(costs: readonly StdioCost[]): string {
  const lines = costs.map(
    ({ name, startMs, callMicroseconds }) =>
      `${name.padEnd(40)} ${startMs.toFixed(0).padStart(6)} ms ${callMicroseconds.toFixed(0).padStart(6)} µs`,
  )
  return [
    "MCP over stdio: CPU until initialize is answered, over Node; and of a call",
    ...lines,
  ].join("\n")
}

/** HTTP, as plain text. */
export function httpTables(results: HTTPResults): string[] {
  const { requests, events, idle, disconnects, singleCalls, batchedCalls } = results
  return [
    rateTable("POST of a small operation, 32 connections; times node:http", requests),
    rateTable("Server-sent events, one long stream; times a write for each event", events),
    idleTable(idle),
    disconnectsTable(disconnects),
    rateTable("Calls of typed clients, one at a time; CPU of both ends, times fetch", singleCalls),
    rateTable("Ten calls at a time, in batches; CPU of both ends, times fetch", batchedCalls),
  ]
}

/** The import of documents, as plain text. */
export function openapiTables({ openapi }: OpenAPIResults): string[] {
  return openapi.flatMap((results) => [documentTable(results), importersTable(results)])
}

/** The goals, as plain text. */
export function goalsTable(goals: readonly Goal[]): string {
  const rows = goals.map(({ goal, measured, isMet }) => [goal, measured, isMet ? "met" : "missed"])
  return `Goals\n\n${columns(rows)}`
}

/** `rates` adds how many there are in a second: of both ends together, since they share a process. */
export function section(
  title: string,
  measurements: readonly Measurement[],
  rates = false,
): string {
  const first = measurements[0]?.name
  const rows = measurements.map(({ name, against, ratio, nanoseconds, perSecond, bytes }) => [
    against === first || against === name ? name : `${name} / ${against}`,
    ratio.median.toFixed(2),
    `${ratio.p10.toFixed(2)}-${ratio.p90.toFixed(2)}`,
    `${(nanoseconds / 1000).toFixed(2)} µs`,
    Number.isNaN(bytes) ? "" : bytes.toFixed(0),
    ...(rates ? [Math.round(perSecond).toLocaleString("en")] : []),
  ])
  const head = ["", "ratio", "p10-p90", "CPU", "bytes", ...(rates ? ["per second"] : [])]
  return `${title}\n\n${columns([head, ...rows])}`
}

/** CPU of the server alone, and what it got done in a second: both beside the first row. */
export function rateTable(title: string, measurements: readonly Measurement[]): string {
  const range = ({ p10, p90 }: Spread): string => `${p10.toFixed(2)}-${p90.toFixed(2)}`
  const rows = measurements.map(({ name, ratio, rate, nanoseconds, perSecond }) => [
    name,
    rate.median.toFixed(2),
    range(rate),
    Math.round(perSecond).toLocaleString("en"),
    ratio.median.toFixed(2),
    range(ratio),
    `${(nanoseconds / 1000).toFixed(2)} µs`,
  ])
  const head = ["", "rate", "p10-p90", "per second", "CPU ratio", "p10-p90", "CPU"]
  return `${title}\n\n${columns([head, ...rows])}`
}

function firstTable(first: readonly FirstRequests[]): string {
  const rows = first.map(({ name, ratio, nanoseconds }) => [
    name,
    ratio.median.toFixed(2),
    `${ratio.p10.toFixed(2)}-${ratio.p90.toFixed(2)}`,
    `${(nanoseconds / 1000).toFixed(0)} µs`,
  ])
  const head = ["", "ratio", "p10-p90", "CPU"]
  return `The first 600 requests of a process; times by hand\n\n${columns([head, ...rows])}`
}

/** Times of single calls, as plain text. */
export function latencyTable(title: string, latencies: readonly Latency[]): string {
  const rows = latencies.map(({ name, against, ratio, microseconds }) => [
    against === name ? name : `${name} / ${against}`,
    ratio.median.toFixed(2),
    `${ratio.p10.toFixed(2)}-${ratio.p90.toFixed(2)}`,
    `${microseconds.toFixed(0)} µs`,
  ])
  return `${title}\n\n${columns([["", "ratio", "p10-p90", "p50"], ...rows])}`
}

function idleTable(idle: readonly Idle[]): string {
  const kilobytes = (bytes: number): string => `${(bytes / 1000).toFixed(1)} KB`
  const rows = idle.map(({ name, count, heapBytes, residentBytes }) => [
    name,
    String(count),
    kilobytes(heapBytes),
    kilobytes(residentBytes),
  ])
  return `Idle, per stream, in the server\n\n${columns([["", "open", "heap", "RSS"], ...rows])}`
}

function disconnectsTable(disconnects: readonly Disconnects[]): string {
  const rows = disconnects.map(({ name, count, median, p99 }) => [
    name,
    String(count),
    `${median.toFixed(2)} ms`,
    `${p99.toFixed(2)} ms`,
  ])
  const title = "From the end of a client's socket to the handler's signal, or to the event"
  return `${title}\n\n${columns([["", "left", "p50", "p99"], ...rows])}`
}

function documentTable(results: DocumentResults): string {
  const { document, source, characters, operations, rows, call, heap } = results
  const size = `${operations.toLocaleString("en")} operations, ${(characters / 1e6).toFixed(1)} MB`
  const times = rows.map(({ row, name, ratio, nanoseconds, first }) => [
    row === "call" ? `${name} (${call.operation})` : name,
    ratio.median.toFixed(2),
    `${ratio.p10.toFixed(2)}-${ratio.p90.toFixed(2)}`,
    milliseconds(nanoseconds),
    first.toFixed(2),
  ])
  const percent = (share: number): string => `${(share * 100).toFixed(0)} %`
  return [
    `${document} (${source}): ${size}; CPU time, times JSON.parse\n`,
    columns([["", "ratio", "p10-p90", "CPU", "first run"], ...times]),
    `Its first call can lead to ${call.definitions.toLocaleString("en")} definitions.`,
    `Heap: ${(heap.parsedBytes / 1e6).toFixed(1)} MB parsed; operations add ${percent(heap.list)}, ` +
      `with every schema ${percent(heap.schemas)}, with the $defs of each ${percent(heap.definitions)}.`,
  ].join("\n")
}

function importersTable({ document, importers }: DocumentResults): string {
  const rows = importers.map((importer: ImporterResult) =>
    "failure" in importer
      ? [importer.name, "-", importer.failure.slice(0, 80)]
      : [
          importer.name,
          importer.ratio.median.toFixed(2),
          `${importer.ratio.p10.toFixed(2)}-${importer.ratio.p90.toFixed(2)}`,
          milliseconds(importer.nanoseconds),
          importer.operations.toLocaleString("en"),
          importer.outputs.toLocaleString("en"),
        ],
  )
  const head = ["", "ratio", "p10-p90", "CPU", "operations", "with a result"]
  return `Importers, ${document}; times JSON.parse in the same rounds\n\n${columns([head, ...rows])}`
}

function milliseconds(nanoseconds: number): string {
  return `${(nanoseconds / 1e6).toFixed(1)} ms`
}

/** The first column to the left, the others to the right. */
export function columns(rows: readonly (readonly string[])[]): string {
  const widths = (rows[0] ?? []).map((_, column) =>
    Math.max(...rows.map((row) => (row[column] ?? "").length)),
  )
  return rows
    .map((row) =>
      row
        .map((cell, column) =>
          column === 0 ? cell.padEnd(widths[column] ?? 0) : cell.padStart(widths[column] ?? 0),
        )
        .join("  "),
    )
    .join("\n")
}
