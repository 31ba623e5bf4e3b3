import { CallError, isCallError } from "../../core/errors.ts"
import { problemError } from "../../core/problem.ts"
import type { CallEnded, CallTrace } from "../../hub/activity.ts"
import type { Timeline } from "../../hub/activity/timeline.ts"
import { isRecord } from "../../internal/guards.ts"
import { compilePattern } from "../../internal/pattern.ts"
import { UsageError, type CommandDefinition, type CommandArgs, type CommandIO } from "../model.ts"
import { note, oneLine, print, jsonText } from "../output.ts"
import { callLine, timelineText } from "../result/timeline.ts"
import { hubOptions } from "../shared-options.ts"
import type { HubAddress } from "../target/hub-address.ts"

export const command: CommandDefinition = {
  usage: "[request id]",
  details: `Prints the calls of a running hub as they end, until Ctrl-C; or what happened in one call: nested
calls, attempts, the cache, queues, answers it waited for, requests to APIs and MCP servers, and
log lines. Where the hub requires credentials, the scope hub:admin is needed.`,
  examples: [
    ["calls --hub http://127.0.0.1:3000", "Follow all calls"],
    ["calls --failed --operation 'github.*'", "Failed calls of one namespace, of OPERATIONS_HUB"],
    ["calls --slow 200 --json", "Calls of 200 ms and more, one JSON value a line"],
    ["calls 41f0c7d2", "The timeline of one call"],
  ],
  options: {
    ...hubOptions,
    slow: { type: "string", value: "ms", description: "Calls that took this long, or longer" },
    failed: { type: "boolean", description: "Calls that failed" },
    operation: {
      type: "string",
      value: "pattern",
      description: "Calls of these operations: task.*",
    },
    limit: {
      type: "string",
      short: "n",
      value: "count",
      description: "Stop after this number of calls",
    },
  },
  hasSources: false,
  arity: [0, 1],
  run,
}

async function run(args: CommandArgs, io: CommandIO): Promise<number> {
  const { hubAddress } = await import("../target/hub-address.ts")
  const address = hubAddress(args, io)
  if (address === undefined) {
    throw new UsageError(`Say which hub: ${io.program} calls --hub http://127.0.0.1:3000`)
  }
  const [requestId] = args.positionals
  return requestId === undefined
    ? await follow(address, args, io)
    : await show(address, requestId, args, io)
}

async function show(
  address: HubAddress,
  requestId: string,
  args: CommandArgs,
  io: CommandIO,
): Promise<number> {
  const { getFromHub } = await import("../target/hub-client.ts")
  const query = new URLSearchParams({ requestId })
  const answer = await getFromHub(address, `/hub/timelines?${query}`, io.signal)
  const { timelines } = isRecord(answer) ? answer : {}
  const found = (Array.isArray(timelines) ? timelines : []) as readonly Timeline[]
  if (found.length === 0) {
    const why = "It keeps the last 200 calls, and longer those that failed or took a second."
    throw new CallError(
      "NOT_FOUND",
      `The hub does not remember a call with the request id "${oneLine(requestId, 200)}". ${why}`,
      { retryable: false },
    )
  }
  if (args.flag("json")) {
    print(io, jsonText({ timelines: found }, io.stdout.isTTY === true ? 2 : undefined))
    return 0
  }
  print(io, found.map((timeline) => timelineText(timeline, io)).join("\n\n"))
  return 0
}

async function follow(address: HubAddress, args: CommandArgs, io: CommandIO): Promise<number> {
  const limit = args.count("limit") ?? Number.POSITIVE_INFINITY
  const isWanted = filterOf(args)
  const { eventsFromHub } = await import("../target/hub-client.ts")
  if (limit === 0) return 0
  let count = 0
  try {
    for await (const { event, text } of eventsFromHub(address, "/hub/events", io.signal)) {
      if (event === "end") break
      if (event !== "call" && event !== "lost" && event !== "error") continue
      const value = JSON.parse(text) as unknown
      if (event === "error") throw problemError(value) ?? brokeOff(address)
      if (event === "lost") {
        const { events } = value as { readonly events?: unknown }
        note(io, `${Number(events)} events were lost: this side was too slow.`)
        continue
      }
      const call = value as CallTrace
      if (call.phase !== "end" || !isWanted(call)) continue
      print(io, args.flag("json") ? jsonText(call) : callLine(call, io))
      if (++count >= limit) return 0
    }
  } catch (error) {
    // Ctrl-C is the normal end of following.
    if (io.signal.aborted && io.signal.reason === "SIGINT") return 0
    throw isCallError(error) ? error : brokeOff(address)
  }
  if (io.signal.aborted) return 0
  throw brokeOff(address)
}

function filterOf(args: CommandArgs): (call: CallEnded) => boolean {
  const slow = args.count("slow") ?? 0
  const isFailed = args.flag("failed")
  const pattern = args.text("operation")
  const matches = pattern === undefined ? undefined : compilePattern(pattern)
  return ({ durationMs, outcome, operationId }) =>
    durationMs >= slow &&
    (!isFailed || outcome === "error") &&
    (matches === undefined || matches(operationId))
}

function brokeOff({ url }: HubAddress): CallError {
  return new CallError("UNAVAILABLE", `The hub at ${url} has ended the stream of its calls.`)
}
