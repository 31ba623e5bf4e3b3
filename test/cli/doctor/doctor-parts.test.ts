import { homedir } from "node:os"
import { createServer } from "node:http"
import type { AddressInfo } from "node:net"
import { join } from "node:path"
import { expect, test } from "vitest"
import { readArgs } from "../../../src/cli/args.ts"
import { checkCredentials } from "../../../src/cli/doctor/credentials.ts"
import { examine, examineHub } from "../../../src/cli/doctor/examine.ts"
import { countsText, reportLines } from "../../../src/cli/doctor/report-lines.ts"
import { printDiagnosis } from "../../../src/cli/doctor/print-diagnosis.ts"
import type { Diagnosis, SourceCheck } from "../../../src/cli/doctor/examine.ts"
import type { CommandArgs } from "../../../src/cli/model.ts"
import type { ResolvedConfig } from "../../../src/config/model.ts"
import type { ReportItem, SourceReport } from "../../../src/hub/model.ts"
import { folderWith, moduleText } from "../support/folder.ts"
import { testIO } from "../support/run.ts"

const EMPTY: SourceReport = {
  kept: 0,
  widened: 0,
  skipped: 0,
  filtered: 0,
  items: [],
  warnings: [],
}

const NOTHING = { credentials: [], missingPackages: [], sources: [] }

function source(state: SourceCheck["state"], more: Partial<SourceCheck> = {}): SourceCheck {
  const origin = "node x.js"
  const base = { name: "it", kind: "mcp", namespace: "it", origin, operations: 0, attempts: 0 }
  return { ...base, state, ...more } as SourceCheck
}

function printed(diagnosis: Partial<Diagnosis>): string {
  const io = testIO()
  printDiagnosis({ ok: false, node: "1.2.3", ...NOTHING, ...diagnosis }, io)
  return io.stdout.text
}

function args(...argv: string[]): CommandArgs {
  const texts = ["config", "openapi", "mcp", "scan", "remote", "base-url", "header", "source"]
  const option = { type: "string", description: "" } as const
  return readArgs(argv, Object.fromEntries(texts.map((name) => [name, option])))
}

test("countsText omits counts of zero", () => {
  expect(countsText(EMPTY)).toBe("0 kept")
  expect(countsText({ ...EMPTY, kept: 1, widened: 2, skipped: 3, filtered: 4 })).toBe(
    "1 kept, 2 widened, 3 skipped, 4 left out by include and exclude",
  )
})

test("packages that are missing are named with one command that installs them", () => {
  const missingPackages = [
    { name: "ws", users: ["WebSocket (/ws)"], isOptional: true },
    { name: "jose", users: ["server.jwt"], isOptional: false },
  ]
  expect(printed({ missingPackages })).toContain(
    [
      "Packages",
      '! WebSocket (/ws) is not served without the package "ws", which is not installed.',
      '✗ server.jwt needs the package "jose", which is not installed.',
      "  Install them: npm install ws jose",
      "",
      "1 thing is wrong.",
    ].join("\n"),
  )
})

test("of many notes some are shown, and all under --verbose", () => {
  const notes = ["a", "b", "c", "d\u0007"]
  const skipped = Array.from({ length: 12 }, (_, at): ReportItem => {
    return { origin: `GET /${at}`, status: "skipped", notes: ["why"] }
  })
  const items: ReportItem[] = [
    { id: "x.kept", origin: "kept", status: "kept", notes: ["fine"] },
    { id: "x.wide", origin: "wide", status: "widened", notes },
    { id: "x.silent", origin: "silent", status: "widened", notes: [] },
    ...skipped,
  ]
  const report = { ...EMPTY, items, warnings: ["be\nware"] }
  const lines = reportLines(report, testIO())
  expect(lines.slice(0, 3)).toEqual(["! be ware", "skipped GET /0", "  why"])
  expect(lines).toContain("and 2 more skipped; --verbose shows them")
  expect(lines.slice(-5)).toEqual(["widened x.wide (wide)", "  a", "  b", "  c", "  and 1 more"])
  const all = reportLines(report, { ...testIO(), verbose: true })
  expect(all).toContain("skipped GET /11")
  expect(all).toContain("  d\\u0007")
  expect(all.slice(-2)).toEqual(["kept x.kept (kept)", "  fine"])
})

test("doctor counts everything that is wrong", () => {
  const places = ["server.token", "sources.a"]
  const text = printed({
    config: { ok: false, error: "one\ntwo", faults: [], warnings: ["odd"] },
    credentials: [
      { kind: "env", name: "KEY", places, state: "missing" },
      { kind: "file", name: "./key", places, state: "missing" },
      { kind: "env", name: "OTHER", places, state: "there" },
      { kind: "command", name: "pass", places, state: "unknown" },
    ],
    sources: [
      source("failed"),
      source("loading", { reason: "slow" }),
      source("lost", { reason: "gone\u0007" }),
      source("disabled"),
      source("ready"),
      source("ready", { report: { ...EMPTY, kept: 2, warnings: ["hm"] } }),
    ],
  })
  expect(text).toContain("✗ Configuration\n  one\n  two\n! odd\n")
  expect(text).toContain("✗ KEY is not set: export KEY=… (server.token, sources.a)\n")
  expect(text).toContain("✗ file ./key does not exist (")
  expect(text).toContain("✓ OTHER (")
  expect(text).toContain("? command pass is run when it is needed (")
  expect(text).toContain("✗ it (mcp node x.js)\n  no reason given\n")
  expect(text).toContain("✗ it (mcp node x.js)\n  slow\n")
  expect(text).toContain("! it (mcp node x.js)\n  gone\\u0007\n")
  expect(text).toContain("- it (mcp node x.js) is disabled\n✓ it (mcp node x.js)\n✓ it")
  expect(text).toContain("\n  2 kept\n  ! hm\n")
  expect(text.endsWith("\n6 things are wrong.\n")).toBe(true)
})

test("doctor counts one problem as one, and none as well", () => {
  expect(printed({ sources: [source("failed")] })).toContain("\n1 thing is wrong.\n")
  expect(printed({ config: { ok: false, file: "c.json", faults: [], warnings: [] } })).toContain(
    "✗ Configuration c.json\n",
  )
  const config = { ok: true, faults: [], warnings: [] }
  expect(printed({ ok: true, hub: "http://h", config })).toBe(
    "✓ Node 1.2.3\n✓ Hub http://h\n✓ Configuration of the command line\n\nEverything is well.\n",
  )
})

test("doctor does not say that everything is well after a warning", () => {
  const config = { ok: true, faults: [], warnings: ["policies[1]: no operation matches"] }
  expect(printed({ ok: true, config })).toMatch(
    /\n! policies\[1\]: no operation matches\n\nNothing is wrong, with 1 warning\.\n$/,
  )
  const sources = [source("ready", { report: { ...EMPTY, kept: 2, warnings: ["a", "b"] } })]
  expect(printed({ ok: true, sources })).toMatch(/\n\nNothing is wrong, with 2 warnings\.\n$/)
})

test("credentials are looked for by name, each once, with all its places", async () => {
  await using folder = await folderWith({ key: "secret" })
  const config = {
    baseDir: folder.path,
    server: { tokens: ["${env:KEY}", "${EMPTY}", "${env:NONE:-x}"] },
    sources: [
      { name: "off", disabled: true, config: { auth: "${env:IGNORED}" } },
      {
        name: "on",
        disabled: false,
        config: {
          auth: "${env:KEY}",
          a: "${file:key}",
          b: "${file:.git}",
          c: "${file:~/no-such-file-of-operations}",
          d: "${command:pass show it}",
          e: "${command:}",
        },
      },
      { name: "text", disabled: false, config: "${env:WHOLE}" },
    ],
  } as unknown as ResolvedConfig
  const checks = await checkCredentials(config, { KEY: "k", EMPTY: "" })
  expect(checks.map(({ kind, name, state }) => `${kind} ${name} ${state}`)).toEqual([
    "env KEY there",
    "file key there",
    "file .git missing",
    "file ~/no-such-file-of-operations missing",
    "command pass unknown",
    "command  unknown",
    "env WHOLE missing",
    "env EMPTY missing",
    "env NONE there",
  ])
  expect(checks[0]?.places).toEqual(["sources.on.auth", "server.tokens[0]"])
  expect(checks.find(({ name }) => name === "WHOLE")?.places).toEqual(["sources.text"])
  expect(JSON.stringify(checks)).not.toContain(join(homedir(), "no-such"))
})

test("credentials are found in lists and in defaults of others, and not in functions", async () => {
  const config = {
    headers: { "X-Key": "${env:KEY:-${env:OTHER}}" },
    list: ["${file:./a}"],
    call: () => "${env:NO}",
  }
  const api = { name: "api", disabled: false, config }
  const resolved = { sources: [api], server: {}, baseDir: "/" } as unknown as ResolvedConfig
  expect(await checkCredentials(resolved, {})).toEqual([
    { kind: "env", name: "KEY", places: ["sources.api.headers.X-Key"], state: "there" },
    { kind: "env", name: "OTHER", places: ["sources.api.headers.X-Key"], state: "missing" },
    { kind: "file", name: "./a", places: ["sources.api.list[0]"], state: "missing" },
  ])
})

test("doctor reports a broken configuration with its issues", async () => {
  await using folder = await folderWith({ "operations.config.json": '{"sources": 3}' })
  const { ok, config, sources } = await examine(args(), testIO({ cwd: folder.path }))
  expect(ok).toBe(false)
  expect(config?.ok).toBe(false)
  expect(config?.file).toContain("operations.config.json")
  expect(config?.faults.length).toBeGreaterThan(0)
  expect(config?.error).toContain("sources")
  expect(sources).toEqual([])
})

test("no configuration at all is a wrong command line", async () => {
  await using folder = await folderWith({})
  await expect(examine(args(), testIO({ cwd: folder.path }))).rejects.toThrow(
    "There is no operations.config.ts",
  )
})

test("doctor opens sources, and a failing one makes the result negative", async () => {
  await using folder = await folderWith({ "ops/a.mjs": moduleText("a", "b"), "bad.yaml": "x: 1" })
  const io = testIO({ cwd: folder.path })
  const well = await examine(args("--scan", "ops"), io)
  expect(well.ok).toBe(true)
  expect(well.config).toEqual({ ok: true, faults: [], warnings: [] })
  expect(well.sources[0]).toMatchObject({ state: "ready", report: { kept: 1 } })
  const ill = await examine(args("--openapi", "bad.yaml"), io)
  expect(ill.ok).toBe(false)
  expect(ill.sources[0]?.state).toBe("failed")
  expect(ill.sources[0]?.report).toBeUndefined()
})

test("doctor asks a hub for the reports of ready sources", async () => {
  const asked: string[] = []
  const sources = [source("ready", { name: "a b" }), source("failed", { reason: "no" })]
  let answer: unknown = { sources }
  const server = createServer((request, response) => {
    const path = request.url ?? ""
    asked.push(path)
    response.setHeader("content-type", "application/json")
    response.end(JSON.stringify(path.endsWith("/report") ? EMPTY : answer))
  })
  await new Promise<void>((done) => server.listen(0, "127.0.0.1", done))
  try {
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
    const ill = await examineHub({ url, token: undefined }, args(), testIO())
    expect(ill).toMatchObject({ ok: false, hub: url, credentials: [] })
    expect(ill.sources).toEqual([{ ...sources[0], report: EMPTY }, sources[1]])
    expect(asked).toEqual(["/hub/sources", "/hub/sources/a%20b/report"])
    for (answer of [{ sources: "none" }, []]) {
      const { ok, sources: none } = await examineHub({ url, token: undefined }, args(), testIO())
      expect([ok, none]).toEqual([true, []])
    }
  } finally {
    server.closeAllConnections()
    await new Promise((done) => server.close(done))
  }
})
