import { afterAll, beforeAll, describe, expect, test } from "vitest"
import type { MCPClientConfig } from "../../../../src/sources/mcp/config.ts"
import { serveAwkward } from "../awkward/http.ts"
import { ALL_BLOCKS } from "../awkward/answers.ts"
import { awkward } from "../support/awkward.ts"
import { definitionOf, failure, open, textOf, until } from "./support.ts"
import type { TestConnection } from "./support.ts"

type Way = readonly [
  name: string,
  start: () => Promise<{ config: MCPClientConfig } & AsyncDisposable>,
]

function overStdio(faults: Parameters<typeof awkward>[0]): Way[1] {
  return async () => ({ config: awkward(faults), async [Symbol.asyncDispose]() {} })
}

function overHttp(faults: Parameters<typeof serveAwkward>[0]): Way[1] {
  return async () => {
    const remote = await serveAwkward(faults)
    return {
      config: { url: remote.url },
      [Symbol.asyncDispose]: () => remote[Symbol.asyncDispose](),
    }
  }
}

const WAYS: readonly Way[] = [
  ["stdio, legacy", overStdio({ era: "legacy" })],
  ["stdio, modern", overStdio({ era: "modern" })],
  ["http, legacy", overHttp({ era: "legacy" })],
  ["http, legacy, plain JSON", overHttp({ era: "legacy", json: true, noGet: true })],
  ["http, modern", overHttp({ era: "modern", strictHeaders: true })],
  ["old transport", overHttp({ era: "legacy", sse: true })],
]

/** A connection for all tests of a block that leave it as it was; it is there once they run. */
function shared(start: Way[1]): () => TestConnection {
  let way: Awaited<ReturnType<Way[1]>>
  let server: TestConnection
  beforeAll(async () => {
    way = await start()
    server = open(way.config)
  })
  afterAll(async () => {
    await server[Symbol.asyncDispose]()
    await way[Symbol.asyncDispose]()
  })
  return () => server
}

describe.each(WAYS)("calling tools over %s", (name, start) => {
  const connected = shared(start)
  // A single JSON value has no room for notices.
  const hasProgress = !name.includes("JSON")

  test("gives results as they came", async () => {
    const server = connected()

    expect(await server.call("blocks")).toMatchObject({
      content: ALL_BLOCKS,
      _meta: { "example.com/trace": "abc" },
    })
    expect((await server.call("unknown_block"))["content"]).toEqual([
      { type: "text", text: "before" },
      { type: "hologram", depth: 3, _meta: { a: 1 } },
      { type: "text", text: "after" },
    ])
    expect((await server.call("malformed_blocks"))["content"]).toHaveLength(8)
    expect(await server.call("error_result")).toMatchObject({ isError: true })
    expect((await server.call("many_blocks", { count: 2000 }))["content"]).toHaveLength(2000)
    const none = await server.call("no_content")
    expect([none["content"], none["structuredContent"]]).toEqual([undefined, undefined])
  })

  test.each([0, "", false, null, [], { __proto__: null, a: 1 }])(
    "keeps the structured result %o",
    async (value) => {
      const server = connected()

      expect((await server.call("structured", { value }))["structuredContent"]).toEqual(value)
    },
  )

  test("takes results that do not fit what their tools declare", async () => {
    const server = connected()
    for (const tool of ["mismatch", "text_json", "text_prose", "error_mismatch"]) {
      const definition = await definitionOf(server.connection, tool)
      const result = await server.connection.callTool(definition, {}, {})

      expect(definition.outputSchema).toBeDefined()
      expect(result.content).toHaveLength(1)
    }
  })

  test("outlives what is no answer to anything", async () => {
    const server = connected()
    const seen: unknown[] = []

    const odd = await server.call("odd_progress", {}, { progress: (update) => seen.push(update) })

    expect(textOf(odd)).toBe("odd")
    const updates = [{ progress: 2 }, { progress: 1 }, { progress: 3, message: "three" }]
    expect(seen).toEqual(hasProgress ? updates : [])
    expect(textOf(await server.call("twice"))).toBe("first")
    expect(textOf(await server.call("echo", { text: "well" }))).toBe("well")
  })

  test("refuses a result that is none", async () => {
    await using way = await start()
    await using server = open({ ...way.config, timeout: 1000 })

    const error = await failure(server.call("null_result"))

    expect(error.mayHaveExecuted).toBe(true)
    expect(error).toMatchObject({ code: "EXECUTION_ERROR", details: { reason: "INVALID_RESULT" } })
    expect(error.message).not.toContain("invalid_")
    expect(error.message).toContain('"null_result"')
  })

  test("hands on errors of the protocol with code and data", async () => {
    const server = connected()

    expect(
      await failure(server.call("rpc_error", { code: -32050, message: "No.", data: [1] })),
    ).toMatchObject({
      code: "EXECUTION_ERROR",
      details: { code: -32050, message: "No.", data: [1] },
    })
    expect(await failure(server.call("rpc_error", { code: -32601 }))).toMatchObject({
      code: "OPERATION_NOT_FOUND",
    })
  })

  test("gives up on silence, but not while there is progress", async () => {
    await using way = await start()
    await using server = open({ ...way.config, timeout: 400 })

    const lively = await server.call("slow_progress", { count: hasProgress ? 12 : 2, ms: 60 })
    expect(textOf(lively)).toMatch(/steps$/)
    const error = await failure(server.call("hang"))

    expect(error).toMatchObject({ code: "TIMEOUT", mayHaveExecuted: true })
    expect(error.message).toContain("400 ms")
    expect(textOf(await server.call("echo", { text: "next" }))).toBe("next")
  })

  test("ends at a deadline whatever happens", async () => {
    await using way = await start()
    const server = connected()
    await server.connection.connect()
    const input = { count: 1000, ms: 10 }

    const byDeadline = server.call("slow_progress", input, { deadline: Date.now() + 200 })
    await using limited = open({ ...way.config, maxTotalTimeout: 1500 })

    expect(await failure(byDeadline)).toMatchObject({
      code: "TIMEOUT",
      details: { reason: "deadline" },
    })
    expect(await failure(limited.call("slow_progress", input))).toMatchObject({
      code: "TIMEOUT",
      details: { reason: "total" },
    })
    expect(await failure(server.call("echo", {}, { deadline: Date.now() - 1 }))).toMatchObject({
      code: "TIMEOUT",
      mayHaveExecuted: false,
    })
  })

  test("does not mix up calls that run at the same time", async () => {
    const server = connected()

    const texts = await Promise.all(
      Array.from({ length: 40 }, async (_, at) =>
        textOf(await server.call("echo", { text: `${at}` })),
      ),
    )

    expect(texts).toEqual(Array.from({ length: 40 }, (_, at) => `${at}`))
  })

  test("sends trace context and input untouched", async () => {
    const server = connected()

    const { structuredContent } = await server.call(
      "anything",
      { unknown: { nested: [1, null] } },
      { meta: { traceparent: "00-1-2-01" } },
    )

    expect(structuredContent).toMatchObject({
      args: { unknown: { nested: [1, null] } },
      meta: { traceparent: "00-1-2-01" },
    })
  })

  test("refuses results and messages that are too large", async () => {
    await using way = await start()
    await using small = open({ ...way.config, maxResultBytes: 1000 })
    await using tight = open({ ...way.config, maxMessageBytes: 100_000 })

    expect(await failure(small.call("big", { bytes: 2000 }))).toMatchObject({
      code: "PAYLOAD_TOO_LARGE",
      mayHaveExecuted: true,
    })
    expect(textOf(await small.call("echo", { text: "small" }))).toBe("small")
    const error = await failure(tight.call("big", { bytes: 200_000 }))
    expect(error).toMatchObject({ code: "PAYLOAD_TOO_LARGE" })
    expect(error.message).toContain("maxMessageBytes")
    expect(textOf(await tight.call("echo", { text: "again" }))).toBe("again")
  })
})

test.each(["legacy", "modern"])("outlives lines that are no messages, %s", async (era) => {
  await using server = open(awkward({ era, noise: true, chunks: true }))

  expect(textOf(await server.call("bad_frames"))).toBe("still here")
})

describe("many calls at once", () => {
  test("as many run as are allowed, the others in their order, and whoever leaves is forgotten", async () => {
    await using server = open({ ...awkward(), maxConcurrency: 2 })
    await server.connection.connect()
    const order: string[] = []
    const controller = new AbortController()
    const run = (name: string, ms: number, signal?: AbortSignal): Promise<unknown> =>
      server.call("slow", { ms }, { signal }).then(
        () => order.push(name),
        () => order.push(`${name} left`),
      )

    const calls = [
      run("a", 150),
      run("b", 300),
      run("c", 1, controller.signal),
      run("d", 1),
      run("e", 1),
    ]
    controller.abort()
    await Promise.all(calls)

    // Without a limit, "d" and "e" would be over before "a"; "b" has its place to itself.
    expect(order.filter((name) => name !== "b")).toEqual(["c left", "a", "d", "e"])
    const { journal } = (await server.ask("journal")) as { journal: { method?: string }[] }
    expect(journal.filter(({ method }) => method === "tools/call")).toHaveLength(5)
  })

  test("an error names server and tool, and no secret of the environment", async () => {
    const secret = "hunter2-hunter2"
    await using server = open({ ...awkward(), env: { SECRET: secret } })

    const error = await failure(server.call("rpc_error", { message: `bad key ${secret}` }))

    expect(error.message).toContain('"srv"')
    expect(error.message).toContain('"rpc_error"')
    expect(JSON.stringify([error, error.details])).not.toContain(secret)
    expect(error.message).not.toContain(secret)
  })
})

// A single JSON value has no room for notices.
describe.each(WAYS.filter(([name]) => !name.includes("JSON")))(
  "notices during calls over %s",
  (_, start) => {
    const connected = shared(start)

    test("reports all progress, in order, before the result", async () => {
      const server = connected()
      for (let round = 0; round < 5; round++) {
        const seen: unknown[] = []

        const result = await server
          .call("progress", { count: 30 }, { progress: (update) => seen.push(update) })
          .finally(() => seen.push("result"))

        expect(textOf(result)).toBe("30 steps")
        expect(seen).toHaveLength(31)
        expect(seen[0]).toEqual({ progress: 1, total: 30, message: "step 1" })
        expect(seen.slice(-2)).toEqual([{ progress: 30, total: 30, message: "step 30" }, "result"])
      }
    })

    test("tells the server when a call is aborted, and ignores what comes late", async () => {
      const server = connected()
      const controller = new AbortController()
      const seen: unknown[] = []

      const call = failure(
        server.call(
          "slow_progress",
          { count: 1000, ms: 10 },
          {
            signal: controller.signal,
            progress: (update) => {
              seen.push(update)
              controller.abort()
            },
          },
        ),
      )

      expect(await call).toMatchObject({ code: "ABORTED", mayHaveExecuted: true })
      const count = seen.length
      await until(async () => {
        const { cancelled } = (await server.ask("cancelled")) as { cancelled: unknown[] }
        return cancelled.length === 1
      })
      expect(seen).toHaveLength(count)
    })
  },
)
