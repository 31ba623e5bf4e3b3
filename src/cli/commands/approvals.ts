import type { ApprovalTest, RuleOutcome } from "../../core/approvals.ts"
import { CallError } from "../../core/errors.ts"
import { CALL_WAYS, type CallWay } from "../../core/types.ts"
import type { WaitingApprovals } from "../../hub/approval-routes.ts"
import { systemClock, wallTimeOf } from "../../internal/clock.ts"
import { formatDuration } from "../../internal/format.ts"
import { listed } from "../../internal/message-text.ts"
import { inputOptions } from "../input/gather.ts"
import { readInput } from "../input/index.ts"
import { UsageError, type CommandArgs, type CommandDefinition, type CommandIO } from "../model.ts"
import { note, oneLine, print, printJson, styled, table } from "../output.ts"
import { hubAddress, type HubAddress } from "../target/hub-address.ts"
import { getFromHub } from "../target/hub-client.ts"
import { openTarget, printFailures } from "../target/index.ts"
import { decisionText } from "./call.ts"

export const command: CommandDefinition = {
  usage: "<test|list|approve|decline> [operation or approval] [key=value…]",
  details: `"test" says which decision the rules take about a call, and what each rule says of it. Nothing is
called, and access is not checked. "list", "approve" and "decline" are for the calls that wait in
a running hub (--hub); approvals may be shortened to their beginning.`,
  examples: [
    ["approvals test github.issues_create owner=acme --via mcp", "What happens to such a call"],
    ["approvals test task.delete --caller agent", "The same for one caller"],
    ["approvals list --hub http://127.0.0.1:3000", "The calls that wait"],
    ["approvals approve 41f0 --session", "Approve one, and others like it for an hour"],
  ],
  options: {
    input: inputOptions["input"]!,
    via: {
      type: "string",
      value: "way",
      description: `test: how the call comes: ${CALL_WAYS.join(", ")}; default: call`,
      complete: CALL_WAYS,
    },
    caller: { type: "string", value: "id", description: "test: the id of the caller" },
    scopes: { type: "string", value: "list", description: "test: the scopes of the caller: a,b" },
    session: {
      type: "boolean",
      description: "approve: also further calls of the operation by this caller, for an hour",
    },
    always: {
      type: "boolean",
      description: "approve: also further calls of the operation by this caller, from now on",
    },
  },
  hasSources: true,
  complete: ["test", "list", "approve", "decline"],
  arity: [1, Number.POSITIVE_INFINITY],
  async run(args, io) {
    const [what = "", id] = args.positionals
    switch (what) {
      case "test":
        if (id === undefined) throw new UsageError(`Name the operation: "approvals test task.add".`)
        return await testCall(id, args, io)
      case "list":
        return await listWaiting(args, io)
      case "approve":
      case "decline":
        if (id === undefined || args.positionals.length > 2)
          throw new UsageError(`Name one approval of "approvals list": "approvals ${what} 41f0".`)
        return await answerWaiting(id, what === "approve", args, io)
      default:
        throw new UsageError(
          `Write "approvals test", "approvals list", "approvals approve" or "approvals decline"; got "${oneLine(what)}".`,
        )
    }
  },
}

async function testCall(name: string, args: CommandArgs, io: CommandIO): Promise<number> {
  const via = args.text("via")
  if (via !== undefined && !(CALL_WAYS as readonly string[]).includes(via)) {
    throw new UsageError(`--via takes ${listed(CALL_WAYS)}; got "${oneLine(via)}".`)
  }
  await using target = await openTarget(args, io)
  const spec = await target.find(name)
  printFailures(io, target)
  const { value: input } = await readInput(
    {
      arguments: args.positionals.slice(2),
      inputs: args.texts("input"),
      schema: spec.inputSchema,
    },
    io,
  )
  const operationId = `${spec.namespace}.${spec.name}`
  const tested = await target.testApproval({
    ...{ operationId, input, via: via as CallWay | undefined, caller: args.text("caller") },
    scopes: args.text("scopes")?.split(","),
  })
  if (args.flag("json")) printJson(io, { operationId, ...tested })
  else showTest(tested, io)
  return 0
}

function showTest({ decision, rules }: ApprovalTest, io: CommandIO): void {
  const { dim } = styled(io)
  print(io, decisionText(decision))
  const rows = rules.map((outcome) => {
    const { rule, state, decide } = outcome
    const line = [`  ${rule}`, decide ?? "", textOf(outcome)].map((cell) => oneLine(cell))
    return state === "applies" ? line : line.map(dim)
  })
  if (rows.length > 0) print(io, table(rows))
}

function textOf({ state, field, decide, reason }: RuleOutcome): string {
  switch (state) {
    case "applies":
      return reason === undefined ? "applies" : `applies: ${reason}`
    case "later":
      return "comes after the one that applies"
    case "differs":
      if (field !== undefined) return `does not apply: ${field}`
      return decide === undefined ? "decides nothing about this call" : "does not apply"
  }
}

async function listWaiting(args: CommandArgs, io: CommandIO): Promise<number> {
  const { waiting } = await listOf(hubFor(args, io), io)
  if (args.flag("json")) printJson(io, waiting)
  else if (waiting.length === 0) note(io, "No call waits.")
  else print(io, table(waiting.map((call) => rowOf(call, io))))
  return 0
}

function rowOf(
  { id, operationId, caller, via, input, expiresAt }: WaitingApprovals["waiting"][number],
  io: CommandIO,
): string[] {
  const { bold, dim } = styled(io)
  const left = formatDuration(Math.max(0, expiresAt - wallTimeOf(systemClock)))
  const about = `${caller ?? "anonymous"} by ${via}, ${left} left`
  return [id, bold(oneLine(operationId)), dim(oneLine(about)), oneLine(input, 200)]
}

async function answerWaiting(
  name: string,
  approve: boolean,
  args: CommandArgs,
  io: CommandIO,
): Promise<number> {
  const [session, always] = [args.flag("session"), args.flag("always")]
  if (!approve && (session || always)) {
    throw new UsageError(`--${session ? "session" : "always"} is for "approvals approve".`)
  }
  const hub = hubFor(args, io)
  const found = (await listOf(hub, io)).waiting.filter(({ id }) => id.startsWith(name))
  const [call] = found
  if (call === undefined || found.length > 1) {
    const why = call === undefined ? "No call waits for" : "Several calls wait for"
    throw new CallError("NOT_FOUND", `${why} the approval "${oneLine(name, 200)}".`)
  }
  const path = `/hub/approvals/${encodeURIComponent(call.id)}`
  const body = { approve, ...(session && { session }), ...(always && { always }) }
  const answer = await getFromHub(hub, path, io.signal, body)
  if (args.flag("json")) printJson(io, answer)
  else {
    const what = approve ? "Approved" : "Declined"
    note(io, `${what}: ${oneLine(call.operationId)} ${oneLine(call.input, 200)}`)
    if (approve) note(io, "It runs when its caller makes the call again.")
  }
  return 0
}

function hubFor(args: CommandArgs, io: CommandIO): HubAddress {
  const hub = hubAddress(args, io)
  if (hub !== undefined) return hub
  throw new UsageError("Calls wait in a running hub: say which with --hub <url> or OPERATIONS_HUB.")
}

async function listOf(hub: HubAddress, io: CommandIO): Promise<WaitingApprovals> {
  return (await getFromHub(hub, "/hub/approvals", io.signal)) as WaitingApprovals
}
