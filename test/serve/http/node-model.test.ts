import { EventEmitter } from "node:events"
import { expect, test } from "vitest"
import type { HTTPAnswer, HTTPIncoming, HTTPSink } from "../../../src/serve/http/model.ts"
import { answerNode } from "../../../src/serve/http/node.ts"
import type { HTTPRequestLike } from "../../../src/serve/http/node.ts"

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
  answerNode(request(given), response, handle)
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

test("bodies that were parsed before are taken as they are", async () => {
  const headers = { "content-length": "2" }
  const read = (body: unknown): Promise<string | undefined> =>
    seenOf({ headers, readableEnded: true, body }).readBody(10)
  expect(await read(undefined)).toBe("")
  expect(await read("text")).toBe("text")
  expect(await read({ a: 1 })).toBe('{"a":1}')
  expect(await read(() => 1)).toBe("")
  expect(await seenOf({}).readBody(10)).toBe("")
  expect(await seenOf({ headers: { "content-length": "11" } }).readBody(10)).toBeUndefined()
})

test("bodies are collected, refused when too long, and may be cut off", async () => {
  const open = (): [HTTPRequestLike & EventEmitter, Promise<string | undefined>] => {
    const one = request({ headers: { "transfer-encoding": "chunked" } })
    let body: Promise<string | undefined> = Promise.resolve("")
    answerNode(one, new Kept(), (incoming) => {
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
  answerNode(request(), response, () => Promise.resolve({ status: 200, headers: {} }))
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
  answerNode(request(), left, (incoming) => {
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
  answerNode(request(), response, () => ({ status: 200, headers: {}, body: { run } }))
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

test("a response that was finished has nobody who left", () => {
  const response = new Kept()
  let isGone = false
  answerNode(request(), response, (incoming) => {
    incoming.onGone(() => (isGone = true))
    return { status: 204, headers: {} }
  })
  response.writableFinished = true
  response.emit("close")
  expect(isGone).toBe(false)
})
