import { resolve } from "node:path"
import { CallError } from "../../core/errors.ts"
import { fingerprint } from "../../hub/audit/input.ts"
import { parseLine, partsOf, readLines } from "../../hub/audit/chain.ts"
import { verifyAudit } from "../../hub/audit/verify.ts"
import { pathOf } from "../../hub/origin.ts"
import { Resolver } from "../../hub/references.ts"
import { compilePattern } from "../../internal/pattern.ts"
import { UsageError, type CommandDefinition, type CommandArgs, type CommandIO } from "../model.ts"
import { counted, note, oneLine, print, printError, printJson, styled, table } from "../output.ts"
import { configFor } from "../target/config.ts"

export const command: CommandDefinition = {
  usage: "<tail|search|verify> [file]",
  details: `Reads an audit log: the last lines, those of certain calls, or whether every line is as it was
written. Without a file it is that of the configuration. The key of a named file is read from
OPERATIONS_AUDIT_KEY. Exits with 1 if "verify" finds that something was changed.`,
  examples: [
    ["audit tail", "The last lines"],
    ["audit search --operation 'github.*' --identity ada", "What one caller did"],
    ["audit search --open", "Mutations whose end is unknown"],
    [
      "audit verify --head 120:dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk",
      "Also finds an end that was cut off",
    ],
  ],
  options: {
    operation: {
      type: "string",
      value: "pattern",
      description: "Calls of these operations: task.*",
    },
    identity: { type: "string", value: "id", description: "Calls of this caller" },
    request: { type: "string", value: "id", description: "The call with this request id" },
    code: { type: "string", value: "code", description: "Calls that ended with this error code" },
    since: {
      type: "string",
      value: "time",
      description: "From this time on: 2026-11-18, or with a time",
    },
    input: {
      type: "string",
      value: "json",
      description: "Mutations whose input has the fingerprint of this one",
    },
    open: {
      type: "boolean",
      description: "Mutations that have begun, and whose end was not written",
    },
    limit: {
      type: "string",
      short: "n",
      value: "count",
      description: "The last lines; tail: 20, search: 100",
    },
    head: {
      type: "string",
      value: "seq:seal",
      description: "A last line that was kept elsewhere, for verify",
    },
  },
  hasSources: true,
  complete: ["tail", "search", "verify"],
  arity: [1, 2],
  run,
}

type Line = Readonly<Record<string, unknown>>

async function run(args: CommandArgs, io: CommandIO): Promise<number> {
  const [what = ""] = args.positionals
  const { file, key } = await logOf(args, io)
  if (what === "verify") return await verify(file, key, args, io)
  if (what !== "tail" && what !== "search") {
    throw new UsageError(
      `Write "audit tail", "audit search" or "audit verify"; got "${oneLine(what)}".`,
    )
  }
  const limit = args.count("limit") ?? (what === "tail" ? 20 : 100)
  const lines = await matching(file, filterOf(args, key), args.flag("open"), limit)
  if (args.flag("json")) printJson(io, lines)
  else if (lines.length === 0) note(io, "No lines.")
  else print(io, table(lines.map(row)))
  return 0
}

/** The log that is named, or that of the configuration. */
async function logOf(
  args: CommandArgs,
  io: CommandIO,
): Promise<{ readonly file: string; readonly key: string | undefined }> {
  const named = args.positionals[1]
  const own = io.env["OPERATIONS_AUDIT_KEY"]
  if (named !== undefined)
    return { file: resolve(io.cwd, named), key: own === "" ? undefined : own }
  const { audit, baseDir } = await configFor(args, io)
  if (audit === undefined) {
    throw new UsageError(
      `The configuration has no "audit". Name the file: ${io.program} audit tail audit.jsonl`,
    )
  }
  const resolver = new Resolver({ env: io.env, baseDir })
  return {
    file: pathOf(await resolver.resolve(audit.file), baseDir),
    key: audit.key === undefined ? undefined : await resolver.resolve(audit.key),
  }
}

async function verify(
  file: string,
  key: string | undefined,
  args: CommandArgs,
  io: CommandIO,
): Promise<number> {
  const [, seq, seal = ""] = /^(\d+):([\w-]+)$/.exec(args.text("head") ?? "") ?? []
  if (args.flag("head") && seq === undefined) {
    throw new UsageError("--head takes the number and the seal of a line: 120:dBjftJeZ4CVP….")
  }
  const head = seq === undefined ? undefined : { seq: Number(seq), seal }
  const report = await verifyAudit(file, { key, head })
  const { red, green, yellow } = styled(io)
  if (args.flag("json")) printJson(io, report)
  else {
    for (const { file: path, line, message } of report.problems) {
      print(io, `${red("✗")} ${oneLine(path)}, line ${line} ${oneLine(message)}`)
    }
    if (report.isTorn) print(io, `${yellow("!")} The last line is not complete.`)
    const { lines, head: last } = report
    if (report.ok)
      print(
        io,
        `${green("✓")} ${counted(lines, "line")} as written, up to ${last.seq}:${last.seal}`,
      )
  }
  if (key === undefined)
    printError(
      io,
      "Without a key, every program that can write the file can also compute its seals.",
    )
  return report.ok ? 0 : 1
}

/** The last lines that match. Lines that are not JSON are left to `verify`. */
async function matching(
  file: string,
  isWanted: (line: Line) => boolean,
  isOpen: boolean,
  limit: number,
): Promise<readonly Line[]> {
  const found = new Map<unknown, Line>()
  const parts = await partsOf(file)
  if (parts.length === 0)
    throw new CallError("VALIDATION_ERROR", `There is no audit log "${file}".`)
  for (const { path } of parts) {
    for await (const { lines } of readLines(path)) {
      for (const text of lines) {
        const line = parseLine(text)
        if (line === undefined) continue
        if (isOpen) found.delete(line["start"])
        if (isWanted(line) && (!isOpen || line["phase"] === "start")) found.set(line["seq"], line)
        const [oldest] = found.keys()
        // Which of the open ones remain is known only at the end.
        if (!isOpen && found.size > limit) found.delete(oldest)
      }
    }
  }
  return limit === 0 ? [] : [...found.values()].slice(-limit)
}

function filterOf(args: CommandArgs, key: string | undefined): (line: Line) => boolean {
  const pattern = args.text("operation")
  const matches = pattern === undefined ? undefined : compilePattern(pattern)
  const since = args.text("since")
  const from = since === undefined ? Number.NEGATIVE_INFINITY : Date.parse(since)
  if (Number.isNaN(from))
    throw new UsageError(`--since takes a time such as 2026-11-18T09:00Z; got "${since}".`)
  const input = inputOf(args, key)
  const equal = {
    identity: args.text("identity"),
    requestId: args.text("request"),
    code: args.text("code"),
    input,
  }
  const wanted = Object.entries(equal).filter(([, value]) => value !== undefined)
  return (line) =>
    (matches === undefined || matches(String(line["operation"]))) &&
    wanted.every(([name, value]) => line[name] === value) &&
    (since === undefined || Date.parse(String(line["at"])) >= from)
}

function inputOf(args: CommandArgs, key: string | undefined): string | undefined {
  const text = args.text("input")
  if (text === undefined) return undefined
  if (key === undefined)
    throw new UsageError("--input needs the key of the log: fingerprints are made with it.")
  try {
    return fingerprint(JSON.parse(text), key)
  } catch {
    throw new UsageError("--input takes JSON, as the operation got it.")
  }
}

function row(line: Line): string[] {
  const cells = ["at", "phase", "type", "operation", "identity", "outcome", "code", "requestId"]
  return cells.map((name) => oneLine(typeof line[name] === "string" ? line[name] : ""))
}
