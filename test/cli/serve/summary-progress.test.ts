import { createHash } from "node:crypto"
import { describe, expect, onTestFinished, test, vi } from "vitest"
import { commandLogger } from "../../../src/cli/serve/logger.ts"
import { noteSlowSources, printProgress } from "../../../src/cli/serve/summary.ts"
import { printSummary } from "../../../src/cli/serve/summary.ts"
import type { Places } from "../../../src/cli/serve/summary.ts"
import { resolveConfig } from "../../../src/config/resolve.ts"
import { createHub } from "../../../src/hub/create-hub.ts"
import type { Hub, SourceStatus } from "../../../src/hub/model.ts"
import { testIO } from "../support/run.ts"

const base = import.meta.dirname
const url = "http://127.0.0.1:4000"
const nowhere: Places = { url, consoleUrl: undefined, mcpUrl: undefined, wsUrl: undefined }
const everywhere: Places = {
  url,
  consoleUrl: `${url}/console`,
  mcpUrl: `${url}/mcp`,
  wsUrl: "ws://127.0.0.1:4000/ws",
}

function status(fields: Partial<SourceStatus>): SourceStatus {
  return {
    name: "pets",
    kind: "openapi",
    namespace: "pets",
    origin: "./pets.yaml",
    state: "ready",
    operations: 2,
    attempts: 0,
    ...fields,
  }
}

function emptyHub(server: object = {}): Hub {
  return createHub(resolveConfig({ sources: {}, server }, { baseDir: base }), { env: {} })
}

function register(hub: Hub, name: string): void {
  hub.registry.register({
    namespace: "dice",
    name,
    version: "1.0.0",
    type: "query",
    description: `Does ${name}.`,
    accessControl: { requiredScopes: [] },
    inputSchema: { type: "object" },
    outputSchema: {},
    handler: () => 1,
  })
}

/** A hub whose sources are as they are said to be. */
function withSources(hub: Hub, sources: readonly SourceStatus[]): Hub {
  return { ...hub, registry: hub.registry, config: hub.config, sources }
}

describe("the summary of serve", () => {
  test("names only the places that there are", async () => {
    await using hub = emptyHub()
    const io = testIO()
    printSummary(hub, nowhere, false, io)
    expect(io.stdout.text).toContain(`The hub is at ${url}\n0 operations of 0 sources.\n`)
    expect(io.stdout.text).toContain(`${url}/openapi.json`)
    expect(io.stdout.text).not.toMatch(/Console|MCP|WebSocket/)
    expect(io.stdout.text).toContain("Try, in another terminal:")
    expect(io.stdout.text).toMatch(/Ctrl-C stops it\.\n$/)
  })

  test("names each place, a title that a terminal does not obey, and the key", async () => {
    const apiKeys = [
      { hash: createHash("sha256").update("k").digest("hex"), id: "me", scopes: ["play"] },
    ]
    await using hub = emptyHub({ title: "Pets\u001B[2J", apiKeys })
    const io = testIO()
    printSummary(hub, everywhere, false, io)
    expect(io.stdout.text).toContain(String.raw`Pets\u001b[2J is at `)
    expect(io.stdout.text).toMatch(/Console +http.*\n.*HTTP.*\n.*OpenAPI.*\n.*MCP.*\n.*WebSocket/)
    expect(io.stdout.text).toContain("Try, with your key in OPERATIONS_TOKEN:")
  })

  test("counts one as one, and names what is not there but was wanted", async () => {
    await using hub = emptyHub()
    register(hub, "roll")
    const io = testIO()
    const sources = [
      status({}),
      status({ name: "gone", state: "failed" }),
      status({ name: "away\u0007", state: "lost" }),
      status({ name: "off", state: "disabled" }),
    ]
    printSummary(withSources(hub, sources), nowhere, false, io)
    expect(io.stdout.text).toContain(
      `1 operation of 1 source; not there: gone, ${String.raw`away\u0007`}.`,
    )
    expect(io.stdout.text).toContain("dice.roll")
  })

  test("suggests the same whatever the order of registration", async () => {
    const texts: string[] = []
    for (const names of [
      ["b", "a", "c"],
      ["c", "b", "a"],
    ]) {
      await using hub = emptyHub()
      for (const name of names) register(hub, name)
      const io = testIO()
      printSummary(hub, nowhere, false, io)
      texts.push(io.stdout.text)
    }
    expect(texts[0]).toContain("3 operations")
    expect(texts[0]).toBe(texts[1])
  })

  test("is JSON for a program, with null for a place that is not there", async () => {
    await using hub = emptyHub()
    const io = testIO()
    printSummary(hub, nowhere, true, io)
    printSummary(hub, everywhere, true, io)
    const [first, second] = io.stdout.text.trim().split("\n")
    const openapiUrl = `${url}/openapi.json`
    expect(JSON.parse(first ?? "")).toEqual({
      ...{ url, consoleUrl: null, openapiUrl, mcpUrl: null, wsUrl: null },
      ...{ operations: 0, sources: [] },
    })
    expect(JSON.parse(second ?? "")).toEqual({
      ...everywhere,
      ...{ openapiUrl, operations: 0, sources: [] },
    })
  })
})

describe("progress", () => {
  /** What is printed for these, one after the other. */
  function printed(
    statuses: readonly SourceStatus[],
    options: { verbose?: boolean; quiet?: boolean } = {},
  ): readonly string[] {
    const io = testIO()
    let listener: (status: SourceStatus) => void = () => {}
    const config = resolveConfig({ sources: { pets: { openapi: "./p.yaml" } } }, { baseDir: base })
    const hub = {
      config,
      onStatus(given: typeof listener) {
        listener = given
        return () => {}
      },
    } as unknown as Hub
    printProgress(hub, { ...io, ...options })
    for (const each of statuses) listener(each)
    return io.stderr.text.split("\n").slice(0, -1)
  }

  test("says a source that is ready once, with its number of operations", () => {
    expect(printed([status({}), status({}), status({ operations: 1 })])).toEqual([
      "✓ pets  2 operations    openapi ./pets.yaml",
      "✓ pets  1 operation     openapi ./pets.yaml",
    ])
  })

  test("prints a failure as a sentence, also with --quiet", () => {
    const failed = status({ state: "failed", reason: "No such\nfile", attempts: 1, retryAt: 5 })
    // Such as one whose variable of the environment is missing: only a restart helps.
    const given = { ...failed, retryAt: undefined }
    expect(printed([given])).toEqual(["✗ pets  No such file."])
    const lost = status({ state: "lost", reason: "Is it gone?" })
    expect(printed([status({}), failed, lost], { quiet: true })).toEqual([
      "✗ pets  No such file. It is tried again.",
      "! pets  Is it gone? Its calls fail until it is back.",
    ])
    expect(printed([status({ state: "lost" })])).toEqual([
      "! pets  no reason given. Its calls fail until it is back.",
    ])
  })

  test("prints later failures and openings only with --verbose", () => {
    const statuses = [
      status({ state: "loading" }),
      status({ state: "failed", reason: "Refused.", attempts: 2, retryAt: 5 }),
      status({ state: "disabled" }),
    ]
    expect(printed(statuses)).toEqual([])
    expect(printed(statuses, { verbose: true })).toEqual([
      "… pets  ./pets.yaml",
      "✗ pets  Refused. It is tried again.",
    ])
  })
})

describe("sources that take long to open", () => {
  test("are reported after three seconds, unless that is enough before", async () => {
    vi.useFakeTimers()
    onTestFinished(() => void vi.useRealTimers())
    await using hub = emptyHub()
    const mcp = { kind: "mcp", state: "loading" } as const
    const sources = [
      status({ ...mcp, name: "every", origin: "npx -y @example/every" }),
      status({ ...mcp, name: "own", origin: "node ./server.mjs\u001B[2J" }),
      status({ state: "loading" }),
      status({ name: "there" }),
    ]
    const io = testIO()
    const early = testIO()
    noteSlowSources(withSources(hub, sources), io)
    noteSlowSources(withSources(hub, sources), early)()
    vi.advanceTimersByTime(2999)
    expect(io.stderr.text).toBe("")
    vi.advanceTimersByTime(10_000)
    const lines = io.stderr.text.trim().split("\n")
    expect(lines[0]).toContain("every: installing… (npx -y @example/every)")
    expect(lines[1]).toContain("own: opening… (node ./server.mjs")
    expect(lines[2]).toContain("pets: opening… (./pets.yaml)")
    expect(lines).toHaveLength(3)
    expect(io.stderr.text).not.toContain("\u001B[2J")
    expect(early.stderr.text).toBe("")
  })
})

describe("log lines", () => {
  test("errors are always there, the rest when asked for", () => {
    const circular: Record<string, unknown> = {}
    circular["self"] = circular
    for (const verbose of [false, true]) {
      const io = testIO()
      const logger = commandLogger({ ...io, verbose })
      logger.debug("never")
      logger.info("an\ninfo", { at: 1 })
      logger.warn("a warning", circular)
      logger.error("an error\u001B[2J")
      const error = String.raw`an error\u001b[2J`
      const lines = verbose ? ['an info {"at":1}', "a warning", error] : [error]
      expect(io.stderr.text).toBe(`${lines.join("\n")}\n`)
    }
  })
})
