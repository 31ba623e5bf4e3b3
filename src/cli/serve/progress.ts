import type { Hub, SourceStatus } from "../../hub/model.ts"
import type { CommandIO } from "../model.ts"
import { counted, printError, note, oneLine, styled } from "../output.ts"

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
  { name, state, kind, origin, operations, reason = "no reason given", attempts }: SourceStatus,
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
      return `${red("✗")} ${start}  ${sentence(reason)} It is tried again.`
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
