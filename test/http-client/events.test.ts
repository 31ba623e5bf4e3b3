import fc from "fast-check"
import { describe, expect, test } from "vitest"
import { readEvents } from "../../src/http-client/events.ts"
import type { ReadEventsOptions, StreamEvent } from "../../src/http-client/events.ts"
import { exchange } from "../../src/http-client/exchange.ts"
import type { StreamKind } from "../../src/http-client/media-type.ts"
import { bodyOf, collect, failureOf, get, options, serve, until } from "./server.ts"
import { runs } from "../support/nightly.ts"

const RS = "\u001E"

function settings(more: Partial<ReadEventsOptions> = {}): ReadEventsOptions {
  return { signal: new AbortController().signal, secrets: [], operationId: "demo.watch", ...more }
}

async function eventsOf(
  chunks: readonly (string | Uint8Array)[],
  kind: StreamKind,
  more?: Partial<ReadEventsOptions>,
): Promise<StreamEvent[]> {
  return await collect(readEvents(bodyOf(chunks), kind, settings(more)))
}

async function datasOf(text: string, kind: StreamKind): Promise<unknown[]> {
  return (await eventsOf([text], kind)).map(({ data }) => data)
}

/** A body that is never over. */
function unending(...chunks: string[]): ReadableStream<Uint8Array> {
  return new ReadableStream({
    start(controller) {
      for (const chunk of chunks) controller.enqueue(new TextEncoder().encode(chunk))
    },
  })
}

describe("server-sent events", () => {
  test("carry data, name, id and retry", async () => {
    const text = 'retry: 3000\nevent: add\nid: 7\ndata: {"a":1}\n\ndata: plain\n\n'

    expect(await eventsOf([text], "sse")).toEqual([
      { data: { a: 1 }, raw: '{"a":1}', event: "add", id: "7", retry: 3000 },
      { data: "plain", raw: "plain" },
    ])
  })

  test.each([
    ["\uFEFFdata: 1\n\n", [1]],
    ["data: a\r\ndata: b\r\n\r\n", ["a\nb"]],
    ["data: a\rdata: b\r\r", ["a\nb"]],
    [": comment\n\ndata:x\n\n:\n\n", ["x"]],
    ["data\n\ndata:\n\ndata: y\n\n", ["y"]],
    ["event: ping\ndata:\n\n", [""]],
    ["event: ping\n\n", []],
    ["unknown: 1\ndata: z\n\n", ["z"]],
    ["data: é😀\n\n", ["é😀"]],
    ['data: {\ndata: "a":1}\n\n', [{ a: 1 }]],
    ["data: 1\n\ndata: [DONE]\n\ndata: 2\n\n", [1]],
    ['data: {"__proto__":1}\n\n', [JSON.parse('{"__proto__":1}')]],
    ["", []],
    ["\n\n\n", []],
  ])("%j gives %j", async (text, expected) => {
    expect(await datasOf(text, "sse")).toEqual(expected)
  })

  test("an id with NUL and a retry that is no number are ignored", async () => {
    expect(await eventsOf(["id: a\0b\nretry: 1s\ndata: x\n\n"], "sse")).toEqual([
      { data: "x", raw: "x" },
    ])
  })

  test("a last event without its blank line is given, one that was cut off is not", async () => {
    expect(await datasOf("data: 1\n\ndata: last", "sse")).toEqual([1, "last"])
    expect(await datasOf('data: 1\n\ndata: {"a":2}\n', "sse")).toEqual([1, { a: 2 }])
    expect(await datasOf('data: 1\n\ndata: {"a":', "sse")).toEqual([1])
    expect(await datasOf("data: 1\n\ndata: [DONE]", "sse")).toEqual([1])
  })

  test("a carriage return ends its line at once, wherever the chunks were cut", async () => {
    const events = readEvents(unending("data: [1\n", "\r"), "sse", settings())
    expect((await events.next()).value).toMatchObject({ data: "[1" })
    await events.return("end")

    expect(await eventsOf(["data: a\r", "\ndata: b\r", "", "\n\r", "\n"], "sse")).toEqual([
      { data: "a\nb", raw: "a\nb" },
    ])
    expect(await eventsOf("data:[1\n\rdata".split(""), "sse")).toEqual([{ data: "[1", raw: "[1" }])
  })

  test("says how it ended", async () => {
    const endOf = async (text: string): Promise<unknown> => {
      const events = readEvents(bodyOf([text]), "sse", settings())
      for (let next = await events.next(); ; next = await events.next()) {
        if (next.done) return next.value
      }
    }

    expect(await endOf("data: 1\n\n")).toBe("end")
    expect(await endOf("data: 1\n\ndata: [DONE]\n\n")).toBe("done")
  })

  test("a secret that comes back is masked", async () => {
    const secret = "canary-5f0d1a77"
    const text = `event: ${secret}\nid: ${secret}\ndata: "x ${secret}"\n\n`

    const events = await eventsOf([text.slice(0, 40), text.slice(40)], "sse", { secrets: [secret] })

    expect(events).toEqual([{ data: "x ***", raw: '"x ***"', event: "***", id: "***" }])
  })

  test("JSON that is nested too deep is a clean error", async () => {
    await expect(datasOf(`data: ${"[".repeat(1000)}\n\n`, "sse")).rejects.toMatchObject({
      code: "PAYLOAD_TOO_LARGE",
    })
  })
})

describe("JSON lines", () => {
  test.each([
    ['{"a":1}\n[2]\r\n\n  \n"3"\n', [{ a: 1 }, [2], "3"]],
    ["\uFEFF1\n2", [1, 2]],
    ["null\nfalse\n0\n", [null, false, 0]],
    ['{"a":"\\u2028\u2028"}\n', [{ a: "\u2028\u2028" }]],
    ["1\n[DONE]\n2\n", [1]],
    ["", []],
  ])("%j gives %j", async (text, expected) => {
    expect(await datasOf(text, "ndjson")).toEqual(expected)
  })

  test("a line that is no JSON is named, after those before it were given", async () => {
    const events = readEvents(bodyOf(["1\n\n<html>oops\n4\n"]), "ndjson", settings())

    expect((await events.next()).value).toMatchObject({ data: 1 })
    const error = await failureOf(events.next())

    expect(error).toMatchObject({ code: "EXECUTION_ERROR", operationId: "demo.watch" })
    expect((error as Error).message).toBe(
      'Line 3 of the stream of "demo.watch" is not JSON: <html>oops',
    )
  })

  test("a line that was cut off is a loss", async () => {
    await expect(datasOf('1\n{"a":', "ndjson")).rejects.toMatchObject({
      code: "DATA_LOSS",
      message: 'The stream of "demo.watch" ended in the middle of line 2: {"a":',
    })
  })
})

describe("JSON sequences", () => {
  test.each([
    [`${RS}{"a":1}\n${RS}[2]\n`, [{ a: 1 }, [2]]],
    [`${RS}{\n"a":1\n}\n${RS}${RS}\n${RS}2`, [{ a: 1 }, 2]],
    [`1\n${RS}2\n`, [1, 2]],
    ["", []],
  ])("%j gives %j", async (text, expected) => {
    expect(await datasOf(text, "json-seq")).toEqual(expected)
  })

  test("a broken item is named", async () => {
    await expect(datasOf(`${RS}1\n${RS}{"a\n${RS}3\n`, "json-seq")).rejects.toThrow("Item 2 of")
    await expect(datasOf(`${RS}1\n${RS}{"a`, "json-seq")).rejects.toMatchObject({
      code: "DATA_LOSS",
    })
  })
})

describe("JSON values in a row", () => {
  test.each([
    ['{"a":1}\n{"a":2}\n', [{ a: 1 }, { a: 2 }]],
    ['{"a":1}{"a":2}[3]', [{ a: 1 }, { a: 2 }, [3]]],
    ['{\n  "a": [\n    1\n  ]\n}\r\n\r\n{\n}', [{ a: [1] }, {}]],
    ['{"a":"}{\\"\\\\"}{"b":"\\\\"}', [{ a: '}{"\\' }, { b: "\\" }]],
    ['1\n"x"\nnull\ntrue', [1, "x", null, true]],
    ["", []],
    ["\n \n", []],
  ])("%j gives %j", async (text, expected) => {
    expect(await datasOf(text, "json-values")).toEqual(expected)
  })

  test("a broken item is named", async () => {
    await expect(datasOf("{}{a}", "json-values")).rejects.toThrow("Item 2 of")
    await expect(datasOf("{}]{}", "json-values")).rejects.toThrow("Item 2 of")
    await expect(datasOf('{}{"a":', "json-values")).rejects.toMatchObject({ code: "DATA_LOSS" })
  })
})

describe("any chunking gives the same events (OA40)", () => {
  const word = fc.oneof(
    fc.constantFrom(
      "data",
      "event",
      "id",
      "retry",
      ":",
      ": ",
      "x",
      '{"a":1}',
      "[1",
      "é😀",
      "\uFEFF",
    ),
    fc.constantFrom("\n", "\r", "\r\n", "\n\n", "\r\n\r\n", "data: ", "5", "\0", RS, "1\n"),
  )

  test.each(["sse", "ndjson", "json-seq", "json-values"] as const)("%s", async (kind) => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(word, { maxLength: 40 }),
        fc.array(fc.integer({ min: 1, max: 7 }), { minLength: 1 }),
        async (words, sizes) => {
          const bytes = new TextEncoder().encode(words.join(""))
          const chunks: Uint8Array[] = []
          for (let at = 0, turn = 0; at < bytes.length; turn++) {
            const size = sizes[turn % sizes.length] ?? 1
            chunks.push(bytes.slice(at, at + size))
            at += size
          }

          expect(await outcome(chunks, kind)).toEqual(await outcome([bytes], kind))
        },
      ),
      { numRuns: runs(100) },
    )
  })

  async function outcome(chunks: readonly Uint8Array[], kind: StreamKind): Promise<unknown> {
    const events: StreamEvent[] = []
    try {
      for await (const event of readEvents(bodyOf(chunks), kind, settings())) events.push(event)
      return { events }
    } catch (error) {
      return { events, error: (error as Error).message }
    }
  }
})

describe("limits", () => {
  test.each([
    ["sse", "data: "],
    ["sse", ": "],
    ["ndjson", '"'],
    ["json-seq", `${RS}"`],
    ["json-values", '{"a":"'],
    ["json-values", ""],
  ] as const)("%s: an item without an end is stopped", async (kind, start) => {
    let sent = 0
    let isCancelled = false
    const chunk = new Uint8Array(64 * 1024).fill(0x78)
    const body = new ReadableStream<Uint8Array>({
      start: (controller) => controller.enqueue(new TextEncoder().encode(start)),
      pull(controller) {
        sent += chunk.length
        controller.enqueue(chunk)
      },
      cancel: () => void (isCancelled = true),
    })

    const error = await failureOf(
      collect(readEvents(body, kind, settings({ maxItemBytes: 1024 * 1024 }))),
    )

    expect(error).toMatchObject({ code: "PAYLOAD_TOO_LARGE" })
    expect(sent).toBeLessThan(2 * 1024 * 1024)
    expect(isCancelled).toBe(true)
  })

  test.each(["sse", "ndjson", "json-values"] as const)(
    "%s: what fits comes before what does not",
    async (kind) => {
      const line =
        kind === "sse" ? (text: string) => `data: ${text}\n\n` : (text: string) => `${text}\n`
      const text = line("1") + line("2".repeat(100)) + line("3".repeat(101))
      const events = readEvents(bodyOf([text]), kind, settings({ maxItemBytes: 100 }))

      expect((await events.next()).value).toMatchObject({ data: 1 })
      expect((await events.next()).value).toMatchObject({ raw: "2".repeat(100) })
      await expect(events.next()).rejects.toMatchObject({ code: "PAYLOAD_TOO_LARGE" })
    },
  )
})

describe("over a real connection", () => {
  test("leaving the loop closes it at once", async () => {
    await using server = await serve((_request, response) => {
      const timer = setInterval(() => response.write("data: 1\n\n"), 5)
      response.on("close", () => clearInterval(timer))
    })
    const { body } = await exchange(get(server.url), options())

    let count = 0
    for await (const event of readEvents(body ?? bodyOf([]), "sse", settings())) {
      expect(event.data).toBe(1)
      if (++count === 3) break
    }

    await until(() => server.open() === 0)
    expect(count).toBe(3)
  })

  test("an abort while it is silent closes it and is thrown", async () => {
    await using server = await serve((_request, response) => response.write("data: 1\n\n"))
    const controller = new AbortController()
    const { signal } = controller
    const { body } = await exchange(get(server.url), options({ signal }))
    const events = readEvents(body ?? bodyOf([]), "sse", settings({ signal }))
    await events.next()
    const waiting = events.next()

    controller.abort()

    await expect(waiting).rejects.toMatchObject({ code: "ABORTED" })
    await until(() => server.open() === 0)
  })

  test("a lost connection is a failure, not an end", async () => {
    await using server = await serve((_request, response) => {
      response.write("data: 1\n\ndata: 2", () => response.socket?.resetAndDestroy())
    })
    const { body } = await exchange(get(server.url), options())
    const events = readEvents(body ?? bodyOf([]), "sse", settings())

    expect((await events.next()).value).toMatchObject({ data: 1 })
    await expect(events.next()).rejects.toMatchObject({ code: "UNAVAILABLE" })
  })

  test("the consumer's pace holds back the server", async () => {
    let sent = 0
    const line = `data: ${"x".repeat(60_000)}\n\n`
    await using server = await serve((_request, response) => {
      const write = (): void => {
        while (sent < 200_000_000 && !response.destroyed) {
          sent += line.length
          if (!response.write(line)) break
        }
      }
      response.on("drain", write)
      write()
    })
    const { body } = await exchange(get(server.url), options())
    const events = readEvents(body ?? bodyOf([]), "sse", settings())
    await events.next()

    let before = -1
    while (before !== sent) {
      before = sent
      await new Promise((resolve) => setTimeout(resolve, 100))
    }

    expect(sent).toBeLessThan(50_000_000)
    await events.return("end")
  })
})
