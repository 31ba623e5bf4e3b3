import { spawn } from "node:child_process"
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs"
import { createRequire } from "node:module"
import { tmpdir } from "node:os"
import { dirname, join, resolve } from "node:path"
import { program } from "../../../test/sources/mcp/support/program.ts"

/** The side of the protocol that is tested. */
export type Leg = "server" | "client"

/** The address of a server, or the command that starts a client. */
export interface Subject {
  readonly leg: Leg
  readonly revision: string
  /** The URL of the server, or the command of the client. */
  readonly target: string
  /** Only this scenario. */
  readonly scenario?: string | undefined
}

/** The result of one scenario. */
export interface ScenarioResult {
  readonly name: string
  readonly passed: number
  readonly failed: number
  readonly isOk: boolean
  /** The referee counts it. */
  readonly isScored: boolean
  /** Failed checks, and warnings. */
  readonly failures: readonly string[]
  readonly warnings: readonly string[]
}

interface Check {
  readonly id: string
  readonly status: string
  readonly errorMessage?: string
}

const LINE = /^([✓✗]) (\S+): (\d+) passed, (\d+) failed/gm

/** Runs the conformance suite and reads its report. Scenarios are in the order of the suite. */
export async function runReferee(subject: Subject): Promise<ScenarioResult[]> {
  const folder = mkdtempSync(join(tmpdir(), "operations-referee-"))
  try {
    const text = await run(subject, folder)
    const results = readReport(text, folder, subject)
    if (results.length === 0 || text.includes("Unknown scenario"))
      throw new Error(`The referee did not report: ${text.slice(-2000)}`)
    return results
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

/** Parses a report of the conformance suite, with the checks that it wrote into a folder. */
export function readReport(
  text: string,
  folder: string,
  { leg, scenario }: Subject,
): ScenarioResult[] {
  const unscored = text.slice(text.lastIndexOf("Not scored"))
  const names = new Set([...unscored.matchAll(/^\s+[✓✗] (\S+) \(/gm)].map(([, name]) => name))
  if (scenario !== undefined) return [readAlone(scenario, folder, leg)]
  return [...text.matchAll(LINE)].map(([, mark, name = "", passed, failed]) => ({
    name,
    passed: Number(passed),
    failed: Number(failed),
    isOk: mark === "✓" && Number(failed) === 0,
    isScored: !names.has(name),
    ...problemsOf(checksOf(name, folder, leg)),
  }))
}

/** A scenario that was run alone has no line in the report: its result comes from its checks. */
function readAlone(name: string, folder: string, leg: Leg): ScenarioResult {
  const checks = checksOf(name, folder, leg)
  const problems = problemsOf(checks)
  const passed = checks.filter(({ status }) => status === "SUCCESS").length
  const failed = problems.failures.length
  const isOk = checks.length > 0 && failed === 0
  return { name, passed, failed, isOk, isScored: true, ...problems }
}

function problemsOf(checks: readonly Check[]): Pick<ScenarioResult, "failures" | "warnings"> {
  const those = (wanted: string): string[] =>
    checks
      .filter(({ status }) => status === wanted)
      .map(({ id, errorMessage = "" }) => `${id}: ${errorMessage}`)
  return { failures: those("FAILURE"), warnings: those("WARNING") }
}

function checksOf(name: string, folder: string, leg: Leg): Check[] {
  const start = leg === "server" ? `server-${name}-` : `${name}-`
  const parent = join(folder, dirname(start))
  const own = start.slice(start.lastIndexOf("/") + 1)
  const entries = existsSync(parent) ? readdirSync(parent) : []
  const found = entries.find(
    (entry) => entry.startsWith(own) && /^\d/.test(entry.slice(own.length)),
  )
  const report = join(parent, found ?? "", "checks.json")
  if (found === undefined || !existsSync(report)) return []
  return JSON.parse(readFileSync(report, "utf8")) as Check[]
}

async function run({ leg, revision, target, scenario }: Subject, folder: string): Promise<string> {
  const require = createRequire(import.meta.url)
  const manifest = require.resolve("@modelcontextprotocol/conformance/package.json")
  const shim = program(resolve(import.meta.dirname, "../../../test/conformance-mcp/node20.ts"))
  const only = ["--scenario", scenario ?? "", "--spec-version", revision, "--timeout", "90000"]
  const what = scenario === undefined ? ["--requirements", revision] : only
  const on = leg === "server" ? ["--url", target] : ["--command", target]
  const referee = join(dirname(manifest), "dist/index.js")
  const args = ["--import", shim, referee, leg, ...on, ...what, "--output-dir", folder]
  return await output(args, folder)
}

/** Everything that a program prints, whatever its exit code. */
async function output(args: readonly string[], cwd: string): Promise<string> {
  return await new Promise((done, failed) => {
    const child = spawn(process.execPath, args, { cwd, stdio: ["ignore", "pipe", "pipe"] })
    let text = ""
    const add = (chunk: Buffer): unknown => (text += chunk.toString("utf8"))
    child.stdout.on("data", add)
    child.stderr.on("data", add)
    child.on("error", failed)
    child.on("close", () => done(text))
  })
}
