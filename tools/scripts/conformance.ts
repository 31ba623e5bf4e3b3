/**
 * Runs the official MCP conformance suite on a served registry, on one that is imported and served again, and
 * on a client.
 *
 *   npm run conformance                                   everything, by both revisions
 *   npm run conformance -- server 2026-07-28              a part of it
 *   npm run conformance -- client --scenario tools_call   one scenario
 *
 * Fails if something fails that is not in test/conformance-mcp/known-gaps.ts, if something there passes, and
 * if there is a warning about something in the profile.
 */
import { createServer } from "node:http"
import type { AddressInfo } from "node:net"
import { resolve } from "node:path"
import { parseArgs } from "node:util"
import { createMCPClient } from "../../src/from-mcp.ts"
import { createRegistry } from "../../src/index.ts"
import { silentLogger } from "../../src/testing.ts"
import type { AnyRegistry } from "../../src/index.ts"
import { toMCP } from "../../src/to-mcp.ts"
import { KNOWN_GAPS } from "../../test/conformance-mcp/known-gaps.ts"
import { PROFILES, REVISIONS, SIDES } from "../../test/conformance-mcp/profiles.ts"
import type { Revision, Side } from "../../test/conformance-mcp/profiles.ts"
import { conformanceRegistry } from "../../test/conformance-mcp/registry.ts"
import { program } from "../../test/sources/mcp/support/program.ts"
import { runReferee, type ScenarioResult } from "./lib/referee.ts"

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { scenario: { type: "string" }, verbose: { type: "boolean", default: false } },
})
const { scenario } = values

const EXAMINERS: Readonly<Record<Side, (revision: Revision) => Promise<ScenarioResult[]>>> = {
  async server(revision) {
    await using served = await serve(conformanceRegistry())
    return await runReferee({ leg: "server", revision, target: served.url, scenario })
  },

  async gateway(revision) {
    await using upstream = await serve(conformanceRegistry())
    const all = { forwardInput: true, resources: true, prompts: true }
    const config = { url: upstream.url, ...all, logger: silentLogger }
    await using client = await createMCPClient("upstream", config)
    const registry = createRegistry([], { logger: silentLogger })
    client.registerAll(registry)
    await using served = await serve(registry)
    return await runReferee({ leg: "server", revision, target: served.url, scenario })
  },

  /** All scenarios run at the same time: on a busy machine a good client can be late. Those run again alone. */
  async client(revision) {
    const client = program(resolve(import.meta.dirname, "../../test/conformance-mcp/client.ts"))
    const subject = { leg: "client", revision, target: `${process.execPath} ${client}` } as const
    const results = await runReferee({ ...subject, scenario })
    if (scenario !== undefined) return results
    const settled: ScenarioResult[] = []
    for (const result of results) {
      const isNeeded = result.isScored || PROFILES.client[revision].includes(result.name)
      const isLate = !result.isOk && isNeeded
      const [again] = isLate ? await runReferee({ ...subject, scenario: result.name }) : []
      settled.push(again === undefined ? result : { ...again, isScored: result.isScored })
    }
    return settled
  },
}

const rows: string[] = []
for (const side of SIDES.filter((one) => isWanted(one, SIDES))) {
  for (const revision of REVISIONS.filter((one) => isWanted(one, REVISIONS))) {
    rows.push(await examine(side, revision))
  }
}
console.log(rows.join("\n"))

function isWanted(one: string, all: readonly string[]): boolean {
  const named = positionals.filter((positional) => all.includes(positional))
  return named.length === 0 || named.includes(one)
}

/** Examines one side by one revision; returns the line of the table. */
async function examine(side: Side, revision: Revision): Promise<string> {
  const results = await EXAMINERS[side](revision)
  const gaps = KNOWN_GAPS[side][revision]
  const profile = PROFILES[side][revision]
  for (const result of results) {
    const isInProfile = profile.includes(result.name)
    const isNeeded = result.isScored || isInProfile
    const isGap = Object.hasOwn(gaps, result.name)
    const isLax = isInProfile && result.warnings.length > 0
    if ((isNeeded && result.isOk === isGap) || isLax) fail(`${side} ${revision}`, result)
    if (values.verbose) printResult(result)
  }
  const missing = profile.filter((name) => !results.some((result) => result.name === name))
  if (scenario === undefined && missing.length > 0) {
    process.exitCode = 1
    console.log(`${side} ${revision}: the referee does not know ${missing.join(", ")}`)
  }
  const own = results.filter(({ name }) => profile.includes(name))
  const scored = results.filter(({ isScored }) => isScored)
  const empty = own.filter(({ isOk, passed }) => isOk && passed === 0).map(({ name }) => name)
  const vacuous = empty.length === 0 ? "" : `; nothing was checked in ${empty.join(", ")}`
  return `${side} ${revision}: ${score(own)} of the profile, ${score(scored)} of all that is scored${vacuous}`
}

function score(results: readonly ScenarioResult[]): string {
  return `${results.filter(({ isOk }) => isOk).length}/${results.length}`
}

function fail(where: string, result: ScenarioResult): void {
  process.exitCode = 1
  const problems = [...result.failures, ...result.warnings]
  const passes = problems.length > 0 ? "could be better" : "passes: take it out of known-gaps.ts"
  console.log(`${where} ${result.name} ${result.isOk ? passes : "fails"}`)
  for (const problem of problems) console.log(`  ${problem}`)
}

function printResult({ name, isOk, isScored, passed, failures, warnings }: ScenarioResult): void {
  const count = `${passed} checks${isScored ? "" : ", not scored"}`
  console.log(`${isOk ? "ok  " : "FAIL"} ${name} (${count})`)
  for (const line of failures) console.log(`     ${line}`)
  for (const line of warnings) console.log(`     could be better: ${line}`)
}

async function serve(registry: AnyRegistry): Promise<AsyncDisposable & { readonly url: string }> {
  const served = toMCP(registry, { logger: silentLogger, naming: "raw" })
  const server = createServer((request, response) => void served.node(request, response))
  await new Promise<void>((done) => server.listen(0, "127.0.0.1", done))
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/mcp`,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections()
      server.close()
      await served.close()
      await registry.close()
    },
  }
}
