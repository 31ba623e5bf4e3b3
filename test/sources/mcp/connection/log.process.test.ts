import { describe, expect, test } from "vitest"
import type { MCPLogLine, MCPLogReader } from "../../../../src/sources/mcp/client/log-lines.ts"
import { serveAwkward } from "../awkward/http.ts"
import { awkward } from "../support/awkward.ts"
import { open, textOf, until } from "./support.ts"

const ERAS = ["legacy", "modern"] as const

/** Somebody who reads the log, for as long as `isReading` is set. */
function reader(): MCPLogReader & { isReading: boolean; readonly lines: MCPLogLine[] } {
  const lines: MCPLogLine[] = []
  return { isReading: true, lines, read: (line) => void lines.push(line) }
}

const caller = { requestId: "call-1" }

describe.each(ERAS)("what a %s server logs", (era) => {
  test.each(["stdio", "http"] as const)(
    "belongs to the only call that runs: over %s",
    async (by) => {
      const log = reader()
      await using remote = await serveAwkward({ era })
      const config = by === "http" ? { url: remote.url } : awkward({ era })
      await using server = open({ ...config, era }, { log })

      expect(textOf(await server.call("log", {}, { caller }))).toBe("logged")

      await until(() => log.lines.length > 0)
      expect(log.lines).toEqual([
        { level: "info", logger: "awkward", text: '{"said":"hello"}', requestId: "call-1" },
      ])
    },
  )

  test("belongs to no call if several run", async () => {
    const log = reader()
    await using server = open({ ...awkward({ era }), era }, { log })
    await server.connection.connect()
    const slow = server.call("slow", { ms: 300 }, { caller: { requestId: "call-2" } })

    await server.call("log", {}, { caller })

    expect(log.lines).toEqual([{ level: "info", logger: "awkward", text: '{"said":"hello"}' }])
    await slow
  })

  test("is dropped, and not even asked for, while nobody reads it", async () => {
    const log = reader()
    log.isReading = false
    await using server = open({ ...awkward({ era }), era }, { log })
    await using plain = open({ ...awkward({ era }), era })
    const expected = era === "modern" ? "nobody reads it" : "logged"

    expect(textOf(await server.call("log", {}, { caller }))).toBe(expected)
    expect(textOf(await plain.call("log", {}, { caller }))).toBe(expected)
    expect(log.lines).toEqual([])

    log.isReading = true
    await server.call("log", {}, { caller })
    expect(log.lines).toHaveLength(1)
  })
})

describe("a line of a log", () => {
  async function linesOf(params: unknown, more: object = {}): Promise<readonly MCPLogLine[]> {
    const log = reader()
    const config = { ...awkward({ era: "legacy" }), era: "legacy", env: { KEY: "s3cr3t-of-ours" } }
    await using server = open(config as Parameters<typeof open>[0], { log })
    await server.call("log", { params, ...more })
    return log.lines
  }

  test.each<[string, unknown, Partial<MCPLogLine>]>([
    ["a text", { level: "error", data: "it broke" }, { level: "error", text: "it broke" }],
    ["a number", { level: "debug", data: 7 }, { level: "debug", text: "7" }],
    ["nothing", {}, { level: "info", text: "" }],
    ["null", null, { level: "info", text: "" }],
    ["a list", [1], { level: "info", text: "" }],
    ["a level that is none", { level: "loud", data: null }, { level: "info", text: "null" }],
    ["a logger that is none", { logger: { a: 1 }, data: "x" }, { level: "info", text: "x" }],
    [
      "the prototype",
      JSON.parse('{"__proto__":{"level":"error"},"data":{"__proto__":1}}'),
      { level: "info", text: '{"__proto__":1}' },
    ],
  ])("may be %s", async (_, params, expected) => {
    expect(await linesOf(params)).toEqual([expected])
  })

  test("has no secrets of the configuration, and nothing that looks like one", async () => {
    const [line] = await linesOf({
      logger: "s3cr3t-of-ours",
      data: { password: "hunter2", note: "KEY is s3cr3t-of-ours, Bearer abcdefgh12345" },
    })
    expect(line).toEqual({
      level: "info",
      logger: "***",
      text: '{"password":"***","note":"KEY is ***, Bearer ***"}',
    })
  })

  test("is cut", async () => {
    const [line] = await linesOf({ logger: "l".repeat(500), data: "x".repeat(100_000) })
    expect(line?.text).toBe(`${"x".repeat(2000)}…`)
    expect(line?.logger).toBe(`${"l".repeat(100)}…`)
  })

  test("is one of at most a hundred in a second, and it is said when there were more", async () => {
    const started = performance.now()
    const lines = await linesOf({ data: "x" }, { times: 2000 })
    const seconds = Math.ceil((performance.now() - started) / 1000) + 1
    expect(lines.length).toBeLessThanOrEqual(101 * seconds)
    expect(lines.length).toBeLessThan(2000)
    // On a busy machine, fewer lines may arrive in the first second.
    expect(lines).toContainEqual({
      level: "warning",
      text: "More than 100 lines in a second: the rest of them is left out.",
    })
  })
})
