import { EventEmitter } from "node:events"
import { describe, expect, test } from "vitest"
import type { HTTPAnswer, HTTPIncoming, HTTPSink } from "../../../src/serve/exchange.ts"
import { answerNode } from "../../../src/serve/node.ts"
import type { HTTPRequestLike } from "../../../src/serve/node-types.ts"

/** A response that keeps what it is told. */
class Kept extends EventEmitter {
  writableFinished = false
  writableNeedDrain = false
  destroyed = false
  status = 0
  lines: string[] = []
  text = ""
  isEnded = false
  error: Error | undefined
  writeHead(status: number, lines: string[]): void {
    this.status = status
    this.lines = lines
  }
  flushHeaders(): void {}
  write(chunk: string): boolean {
    this.text += chunk
    return !this.writableNeedDrain
  }
  end(chunk?: string | Uint8Array): void {
    this.text += String(chunk ?? "")
    this.isEnded = true
  }
  destroy(error?: Error): void {
    this.destroyed = true
    this.error = error
  }
}

type Given = Partial<Omit<HTTPRequestLike, "on">>

function request(given: Given = {}): HTTPRequestLike & EventEmitter {
  return Object.assign(new EventEmitter(), { headers: {}, ...given }) as never
}

function ask(
  given: Given,
  handle: (incoming: HTTPIncoming) => HTTPAnswer | Promise<HTTPAnswer>,
): Kept {
  const response = new Kept()
  void answerNode(request(given), response, handle)
  return response
}

function seenOf(given: Given): HTTPIncoming {
  let seen: HTTPIncoming | undefined
  ask(given, (incoming) => {
    seen = incoming
    return { status: 204, headers: {} }
  })
  return seen as HTTPIncoming
}

function turn(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve))
}

test("a request without method and address is one for the root", () => {
  expect(seenOf({})).toMatchObject({ method: "GET", path: "/", query: "" })
  const full = seenOf({ method: "POST", url: "/a?b?c", headers: { x: ["1", "2"], y: "3" } })
  expect(full).toMatchObject({ method: "POST", path: "/a", query: "b?c" })
  expect([full.header("x"), full.header("y"), full.header("z")]).toEqual(["1, 2", "3", undefined])
})

describe("a body that other code has read", () => {
  const read = (body: unknown, given: Given = {}, length = "20"): Promise<string | undefined> =>
    seenOf({ headers: { "content-length": length }, readableEnded: true, body, ...given }).readBody(
      100,
    )

  test.each([
    ["an object", { a: 1, b: [null] }, '{"a":1,"b":[null]}'],
    ["an object without a prototype", Object.assign(Object.create(null), { a: 1 }), '{"a":1}'],
    ["a key named __proto__", JSON.parse('{"__proto__":{"a":1}}'), '{"__proto__":{"a":1}}'],
    ["a list", [1, 2], "[1,2]"],
    ["null", null, "null"],
    ["a number", 0, "0"],
    ["false", false, "false"],
    ["bytes", new TextEncoder().encode('{"a":"é"}'), '{"a":"é"}'],
    ["a buffer", Buffer.from('{"a":1}'), '{"a":1}'],
    ["text as long as the body", '{"abcdefghijk": true}', '{"abcdefghijk": true}'],
    ["a parsed string, shorter than the body", '{"a":1}', '"{\\"a\\":1}"'],
  ])("is taken from req.body: %s", async (_, body, text) => {
    expect(await read(body)).toBe(text)
  })

  test.each([
    ["nothing", undefined],
    ["a function", () => 1],
    ["a placeholder", {}],
    ["a form", new FormData()],
    ["parameters", new URLSearchParams("a=1")],
    ["a map", new Map([["a", 1]])],
    ["a buffer without a view", new ArrayBuffer(8)],
    ["a bigint", { a: 1n }],
    ["a symbol", Symbol("a")],
  ])("is refused where req.body is no body: %s", async (_, body) => {
    await expect(read(body)).rejects.toMatchObject({
      code: "EXECUTION_ERROR",
      mayHaveExecuted: false,
      retryable: false,
      message: expect.stringContaining(
        "node(request.raw, reply.raw, { body: request.body })",
      ) as string,
    })
  })

  test("is held to the same limits", async () => {
    expect(await read({ a: "x".repeat(93) })).toBeUndefined()
    expect(await read({ a: "é".repeat(50) })).toBeUndefined()
    expect(await read({ a: "x".repeat(92) })).toHaveLength(100)
    expect(await read(Buffer.alloc(101, 32))).toBeUndefined()
    expect(await read({ a: 1 }, {}, "101")).toBeUndefined()
    await expect(read(Buffer.from([0xff]))).rejects.toThrow("not UTF-8")
    const deep = JSON.parse("[".repeat(100_000) + "]".repeat(100_000)) as unknown
    await expect(read(deep)).rejects.toMatchObject({ code: "VALIDATION_ERROR" })
  })

  test("is refused when only a part of it was read", async () => {
    const partly = { readableEnded: false, readableDidRead: true }
    await expect(read(undefined, partly)).rejects.toThrow("other code has read the request body")
    expect(await read({ a: 1 }, partly)).toBe('{"a":1}')
  })

  test("is not looked for where there was none", async () => {
    expect(await read({}, {}, "0")).toBe("")
    expect(await read({}, { headers: {} })).toBe("")
    expect(await read(undefined, { headers: {} })).toBe("")
  })

  test("may be empty braces, with some space in them", async () => {
    expect(await read({}, {}, "2")).toBe("{}")
    expect(await read({}, {}, "3")).toBe("{}")
    expect(await read({}, { headers: { "transfer-encoding": "chunked" } })).toBe("{}")
  })
})

test("a body that is not read yet is read, whatever a parser left on the request", async () => {
  const one = request({ headers: { "content-length": "7" }, body: {} })
  let body: Promise<string | undefined> = Promise.resolve("")
  void answerNode(one, new Kept(), (incoming) => {
    body = incoming.readBody(10)
    return { status: 204, headers: {} }
  })
  one.emit("data", Buffer.from('{"a":1}'))
  one.emit("end")
  expect(await body).toBe('{"a":1}')
  expect(await seenOf({}).readBody(10)).toBe("")
  expect(await seenOf({ headers: { "content-length": "11" } }).readBody(10)).toBeUndefined()
})

test("a body of a connection that is gone is not waited for", async () => {
  const headers = { "content-length": "7" }
  const gone = seenOf({ headers, destroyed: true }).readBody(10)
  await expect(gone).rejects.toMatchObject({ code: "ABORTED" })
})

test("bodies are collected, refused when too long, and may be cut off", async () => {
  const open = (): [HTTPRequestLike & EventEmitter, Promise<string | undefined>] => {
    const one = request({ headers: { "transfer-encoding": "chunked" } })
    let body: Promise<string | undefined> = Promise.resolve("")
    void answerNode(one, new Kept(), (incoming) => {
      body = incoming.readBody(4)
      return { status: 204, headers: {} }
    })
    return [one, body]
  }
  const [whole, text] = open()
  whole.emit("data", Buffer.from("ab"))
  whole.emit("data", Buffer.from("cd"))
  whole.emit("end")
  expect(await text).toBe("abcd")
  const [long, none] = open()
  long.emit("data", Buffer.from("abcde"))
  expect(await none).toBeUndefined()
  const [wrong, refused] = open()
  wrong.emit("data", Buffer.from([0xff]))
  wrong.emit("end")
  await expect(refused).rejects.toThrow("not UTF-8")
  const [cut, aborted] = open()
  cut.emit("close")
  await expect(aborted).rejects.toMatchObject({ code: "ABORTED" })
  const [broken, failed] = open()
  broken.emit("error", new Error("reset"))
  await expect(failed).rejects.toMatchObject({ code: "ABORTED" })
})

test("answers with what is known, and without a body to HEAD", () => {
  const headers = { "x-a": "1" }
  const answer = { status: 200, headers, body: "é" }
  const given = ask({ headers: { "request-id": "abc" } }, () => answer)
  expect(given.lines).toEqual(["x-a", "1", "request-id", "abc", "content-length", "2"])
  expect(given.text).toBe("é")
  const head = ask({ method: "HEAD" }, () => answer)
  expect(head.lines).toEqual(["x-a", "1", "content-length", "2"])
  expect([head.text, head.isEnded]).toEqual(["", true])
  expect(ask({}, () => ({ status: 304, headers })).lines).toEqual(["x-a", "1"])
})

test("handlers that fail destroy the response", async () => {
  const error = new Error("broken")
  const thrown = ask({}, () => {
    throw error
  })
  expect(thrown.error).toBe(error)
  const rejected = ask({}, () => Promise.reject(error))
  const response = new Kept()
  response.writeHead = () => {
    throw error
  }
  void answerNode(request(), response, () => Promise.resolve({ status: 200, headers: {} }))
  await turn()
  expect([rejected.error, response.error]).toEqual([error, error])
})

test("streams go nowhere for HEAD and for clients that have left", () => {
  const sinks: HTTPSink[] = []
  const run = (sink: HTTPSink): Promise<void> => {
    sinks.push(sink)
    return Promise.resolve()
  }
  const answer = { status: 200, headers: {}, body: { run } }
  expect(ask({ method: "HEAD" }, () => answer).isEnded).toBe(true)
  const left = new Kept()
  left.destroyed = true
  let isGone = false
  void answerNode(request(), left, (incoming) => {
    incoming.onGone(() => (isGone = true))
    return answer
  })
  expect([left.status, isGone]).toEqual([0, true])
  expect(sinks.map((sink) => sink.isGone)).toEqual([true, true])
})

test("streams wait for room, or until the client leaves", async () => {
  const seen: unknown[] = []
  const response = new Kept()
  const run = async (sink: HTTPSink): Promise<void> => {
    sink.onGone(() => seen.push("gone"))
    await sink.drained()
    response.writableNeedDrain = true
    seen.push(sink.write("a"))
    await sink.drained()
    seen.push("drained", sink.isGone)
    await sink.drained()
    seen.push(sink.isGone, sink.write("b"))
    await sink.drained()
  }
  void answerNode(request(), response, () => ({ status: 200, headers: {}, body: { run } }))
  await turn()
  expect(seen).toEqual([false])
  response.emit("drain")
  await turn()
  expect(seen).toEqual([false, "drained", false])
  response.emit("close")
  await turn()
  expect(seen).toEqual([false, "drained", false, "gone", true, true])
  expect([response.text, response.isEnded]).toEqual(["a", true])
  expect(response.listenerCount("drain")).toBe(0)
})

test("a finished response reports no disconnect", () => {
  const response = new Kept()
  let isGone = false
  void answerNode(request(), response, (incoming) => {
    incoming.onGone(() => (isGone = true))
    return { status: 204, headers: {} }
  })
  response.writableFinished = true
  response.emit("close")
  expect(isGone).toBe(false)
})
