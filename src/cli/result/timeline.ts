import type { CallEnded } from "../../hub/activity.ts"
import type { Timeline, TimelineCall, TimelinePart } from "../../hub/activity/timeline.ts"
import { formatDuration } from "../../internal/format.ts"
import type { CommandIO } from "../model.ts"
import { counted, oneLine, styled, table, type Style } from "../output.ts"
import { widthOf, wrapFor } from "../wrap.ts"

/** Characters of the widest bar. */
const BAR = 24
/** Deeper calls are not moved further to the right. */
const MAX_INDENT = 12

/** A call that has ended, on one line; on a narrow terminal its caller and its id are on a second one. */
export function callLine(call: CallEnded, io: CommandIO): string {
  const { at, durationMs, operationId, identity, requestId, parentRequestId } = call
  const state = outcomeText(call, styled(io), 16)
  const time = formatDuration(durationMs).padStart(8)
  const began = new Date(at).toISOString().slice(11, 23)
  const nested = parentRequestId === undefined ? "" : "└ "
  const line = `${began}  ${time}  ${state}  ${nested}${oneLine(operationId)}  `
  const origin = `${oneLine(identity ?? "anonymous")}  ${oneLine(requestId)}`
  const { isTTY, columns = Number.POSITIVE_INFINITY } = io.stdout
  const isNarrow = isTTY === true && widthOf(line + origin) > columns
  return isNarrow ? `${line.trimEnd()}\n  ${origin}` : line + origin
}

/** What happened in a call, as a table with a time line. */
export function timelineText({ calls, dropped }: Timeline, io: CommandIO): string {
  const [root] = calls
  if (root === undefined) return ""
  const style = styled(io)
  const whole = Math.max(1, ...calls.map((call) => endOf(call) - root.at))
  const rows: string[][] = []
  const visit = (call: TimelineCall, index: number, level: number): void => {
    const before = call.at - root.at
    const indent = "  ".repeat(Math.min(level, MAX_INDENT))
    const entries = [
      ...call.parts.map((part) => ({ at: part.at, part })),
      ...calls.flatMap((child, place) =>
        child.parent === index ? [{ at: child.at - call.at, child, place }] : [],
      ),
    ].toSorted((left, right) => left.at - right.at)
    rows.push([
      ...timesOf(before, call.durationMs, whole),
      `${indent}${oneLine(call.operationId)}`,
      outcomeText(call, style),
    ])
    for (const entry of entries) {
      if ("child" in entry) visit(entry.child, entry.place, level + 1)
      else rows.push(partRow(entry.part, before, whole, `${indent}  `, style))
    }
    if (call.dropped > 0) rows.push(["", "", "", `${indent}  ${call.dropped} more`, ""])
  }
  visit(root, 0, 0)
  const facts = [
    `request ${root.requestId}`,
    `by ${root.via}`,
    `caller ${root.identity ?? "anonymous"}`,
    ...(root.traceId === undefined ? [] : [`trace ${root.traceId}`]),
    new Date(root.at).toISOString(),
  ]
  const more = dropped === 0 ? "" : `\n${counted(dropped, "more call")}, not kept`
  return `${wrapFor(io.stdout, style.dim(oneLine(facts.join(", "))))}\n${table(rows)}${more}`
}

function partRow(
  { kind, at, durationMs, name, code, isFailed, text }: TimelinePart,
  before: number,
  whole: number,
  indent: string,
  { dim, red }: Style,
): string[] {
  const what = kind === "log" ? `log ${name}` : name
  const state = code === undefined ? "" : oneLine(code)
  const known = text === undefined ? dim(`${indent}${oneLine(what)}`) : `${indent}${dim(what)}`
  return [
    ...timesOf(before + at, durationMs, whole),
    known,
    text === undefined ? (isFailed === true ? red(state) : state) : oneLine(text),
  ]
}

function timesOf(at: number, durationMs: number | undefined, whole: number): string[] {
  const start = Math.min(BAR - 1, Math.floor((at / whole) * BAR))
  const width = Math.max(1, Math.round(((durationMs ?? whole - at) / whole) * BAR))
  const mark = durationMs === 0 ? "·" : "█".repeat(Math.min(width, BAR - start))
  const time = durationMs === undefined ? "…" : durationMs === 0 ? "" : formatDuration(durationMs)
  return [`+${formatDuration(at)}`, time, `${" ".repeat(start)}${mark}`.padEnd(BAR)]
}

function endOf({ at, durationMs = 0 }: TimelineCall): number {
  return at + durationMs
}

function outcomeText(
  { outcome, code }: Partial<Pick<TimelineCall, "outcome" | "code">>,
  { green, red, yellow }: Style,
  width = 0,
): string {
  const text = oneLine(outcome === "ok" ? "ok" : (code ?? outcome ?? "running")).padEnd(width)
  if (outcome === "ok") return green(text)
  return outcome === "error" ? red(text) : yellow(text)
}
