import { describe, expect, test } from "vitest"
import { resolveServer } from "../../../../src/sources/mcp/config-resolve.ts"
import type { MCPClientConfig, ResolvedServer } from "../../../../src/sources/mcp/config.ts"
import type { MCPEra } from "../../../../src/mcp/model.ts"
import { firstAttempt, nextAttempt, statusOf } from "../../../../src/sources/mcp/client/era.ts"
import type { Attempt } from "../../../../src/sources/mcp/client/era.ts"

type Parts = Pick<MCPClientConfig, "era" | "type">

const process = (parts: Parts = {}): ResolvedServer =>
  resolveServer("srv", { command: "x", ...parts })
const web = (parts: Parts = {}): ResolvedServer =>
  resolveServer("srv", { url: "http://localhost:1/", ...parts })

function failed(parts: Record<string, unknown>, message = "no"): Error {
  return Object.assign(new Error(message), parts)
}

describe("how to connect first", () => {
  test.each<[string, ResolvedServer, MCPEra | undefined, Attempt]>([
    ["a process", process(), undefined, { kind: "stream", mode: "legacy" }],
    ["a process that was modern", process(), "modern", { kind: "stream", mode: "modern" }],
    [
      "a process that is said to be",
      process({ era: "modern" }),
      "legacy",
      { kind: "stream", mode: "modern" },
    ],
    ["a server", web(), undefined, { kind: "http", mode: "auto" }],
    ["a server that was modern", web(), "modern", { kind: "http", mode: "auto" }],
    ["a server that was legacy", web(), "legacy", { kind: "http", mode: "legacy" }],
    [
      "a server that is said to be modern",
      web({ era: "modern" }),
      undefined,
      { kind: "http", mode: "modern" },
    ],
    ["a server of the old kind", web({ type: "sse" }), "modern", { kind: "sse", mode: "legacy" }],
  ])("to %s", (_, settled, known, attempt) => {
    expect(firstAttempt(settled, known)).toEqual(attempt)
  })
})

describe("after a failure", () => {
  const after = (
    settled: ResolvedServer,
    kind: Attempt["kind"],
    mode: Attempt["mode"],
    thrown: unknown,
  ) => nextAttempt(settled, [{ attempt: { kind, mode }, thrown }])

  const modernStream: Attempt = { kind: "stream", mode: "modern" }
  test.each<[string, unknown, Attempt | undefined]>([
    ["a version it does not know", failed({ code: -32022 }), modernStream],
    ["an unknown method", failed({ code: -32601 }), modernStream],
    [
      "parameters without a version",
      failed({ code: -32602 }, "missing protocolVersion"),
      modernStream,
    ],
    [
      "a request it does not take",
      failed({ code: -32600 }, "initialize is not supported"),
      modernStream,
    ],
    ["other parameters", failed({ code: -32602 }, "bad cursor"), undefined],
    ["a code in words", failed({}, "error -32022"), modernStream],
    ["a version in words", failed({ data: { text: "use 2026-07-28" } }), modernStream],
    ["something else", failed({ data: { text: 7 } }), undefined],
    ["what is no error", "gone", undefined],
  ])("of a legacy start with %s", (_, thrown, next) => {
    expect(after(process(), "stream", "legacy", thrown)).toEqual(next)
    expect(after(process({ era: "legacy" }), "stream", "legacy", thrown)).toBeUndefined()
    expect(after(web(), "http", "legacy", thrown)).toEqual(next && { kind: "http", mode: "auto" })
    expect(after(web({ era: "legacy" }), "http", "legacy", thrown)).toBeUndefined()
  })

  test("of a modern start, a process that is none is asked the old way", () => {
    const thrown = failed({ code: "ERA_NEGOTIATION_FAILED" })
    expect(after(process(), "stream", "modern", thrown)).toEqual({ kind: "stream", mode: "legacy" })
    expect(after(process(), "stream", "modern", failed({ code: "ELSE" }))).toBeUndefined()
  })

  const legacyHttp: Attempt = { kind: "http", mode: "legacy" }
  test.each<[string, unknown, Attempt | undefined]>([
    ["a server that broke", failed({ data: { status: 500 } }), legacyHttp],
    ["a server that refuses", failed({ data: { status: 401 } }), undefined],
    ["no answer in time", failed({ code: "REQUEST_TIMEOUT" }), legacyHttp],
    ["an answer of another kind", failed({ code: "CLIENT_HTTP_UNEXPECTED_CONTENT" }), legacyHttp],
    [
      "an answer that cannot be read",
      failed({ code: "ERA_NEGOTIATION_FAILED", cause: new SyntaxError("x") }),
      legacyHttp,
    ],
    [
      "the same, given elsewhere",
      failed({ code: "ERA_NEGOTIATION_FAILED", data: { cause: new SyntaxError("x") } }),
      legacyHttp,
    ],
    [
      "nobody there",
      failed({ code: "ERA_NEGOTIATION_FAILED", cause: new TypeError("fetch failed") }),
      undefined,
    ],
    ["no cause", failed({ code: "ERA_NEGOTIATION_FAILED" }), undefined],
    ["another code", failed({ code: "ELSE" }), undefined],
  ])("of the question whether it is modern, with %s", (_, thrown, next) => {
    expect(after(web(), "http", "auto", thrown)).toEqual(next)
  })

  test("that there is no such address, the old way is tried where it may be there", () => {
    for (const status of [404, 405]) {
      const thrown = failed({ data: { status } })
      expect(after(web(), "http", "auto", thrown)).toEqual({ kind: "sse", mode: "legacy" })
      expect(after(web({ era: "modern" }), "http", "modern", thrown)).toBeUndefined()
      expect(after(web(), "sse", "legacy", thrown)).toBeUndefined()
    }
  })

  test("of a transport that can be used once, there is nothing to try", () => {
    const transport = { async start() {}, async send() {}, async close() {} }
    const once = resolveServer("srv", { transport })
    const often = resolveServer("srv", { transport: () => transport })
    const thrown = failed({ code: -32601 })

    expect(after(once, "stream", "legacy", thrown)).toBeUndefined()
    expect(after(often, "stream", "legacy", thrown)).toEqual(modernStream)
  })

  test("nothing is tried twice, and nothing follows on nothing", () => {
    const thrown = failed({ code: -32601 })
    const first = { attempt: modernStream, thrown }
    const last = { attempt: { kind: "stream", mode: "legacy" } as const, thrown }

    expect(nextAttempt(process(), [first, last])).toBeUndefined()
    expect(nextAttempt(process(), [])).toBeUndefined()
  })
})

test.each<[string, unknown, number | undefined]>([
  ["as data", failed({ data: { status: 418 } }), 418],
  ["in words", failed({}, "Error POSTing (HTTP 405): no"), 405],
  ["as a code", failed({ code: 404 }), 404],
  ["not by a code of JSON-RPC", failed({ code: -32601 }), undefined],
  ["not by a code of the system", failed({ code: "ECONNREFUSED" }), undefined],
  ["not by a number that is too large", { code: 600 }, undefined],
])("the status of an answer is known %s", (_, thrown, status) => {
  expect(statusOf(thrown)).toBe(status)
})
