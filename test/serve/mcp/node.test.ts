import { EventEmitter } from "node:events"
import { describe, expect, test, vi } from "vitest"
import type { HTTPAnswer, HTTPIncoming } from "../../../src/serve/exchange.ts"
import { answerFrom } from "../../../src/serve/fetch.ts"
import { answerNode } from "../../../src/serve/node.ts"
import type { NodeRequestLike } from "../../../src/serve/node-types.ts"
import { rejection } from "../../support/operations.ts"
import { waitFor } from "../../support/wait-for.ts"

class Asked extends EventEmitter {
  readonly resume = vi.fn()
  readonly headers: NodeRequestLike["headers"]
  readonly method: string | undefined
  readonly url: string | undefined

  constructor(parts: Partial<Pick<NodeRequestLike, "headers" | "method" | "url">> = {}) {
    super()
    this.headers = parts.headers ?? {}
    this.method = parts.method
    this.url = parts.url
  }
}

class Answered extends EventEmitter {
  writableFinished = false
  destroyed = false
  /** Whether there is room for more. */
  hasRoom = true
  text = ""
  isEnded = false
  head: unknown[] = []
  readonly flushHeaders = vi.fn()

  writeHead(...head: unknown[]): void {
    this.head = head
  }

  get writableNeedDrain(): boolean {
    return !this.hasRoom
  }

  write(chunk: string | Uint8Array): boolean {
    this.text += typeof chunk === "string" ? chunk : new TextDecoder().decode(chunk)
    return this.hasRoom
  }

  end(text = ""): void {
    this.text += text
    this.isEnded = true
  }

  destroy(error?: Error): void {
    throw error ?? new Error("The response was destroyed.")
  }
}

const EVENTS = { headers: { "content-type": "text/event-stream" } }

/** A response with events, or with a text. */
async function answerOf(response: Response): Promise<HTTPAnswer> {
  const made = answerFrom(response)
  const isText = made.body !== undefined && made.headers["content-type"] !== "text/event-stream"
  return isText ? { ...made, body: await response.text() } : made
}

/** Answers a request with what a handler says, and tells what the handler got. */
async function answer(
  asked: Asked,
  answered: Answered,
  handle: (incoming: HTTPIncoming) => Promise<Response> | Response = () => new Response(null),
): Promise<HTTPIncoming> {
  let got: HTTPIncoming | undefined
  await answerNode(asked, answered, async (incoming) => {
    got = incoming
    return await answerOf(await handle(incoming))
  })
  if (got === undefined) throw new Error("The handler was not called.")
  return got
}

describe("a request of Node", () => {
  test("is handed on with its method, its path and its headers", async () => {
    const headers = { ":path": "/x", accept: "a", "x-many": ["1", "2"], "x-none": undefined }
    const asked = new Asked({ headers, method: "DELETE", url: "/mcp?a=1" })

    const incoming = await answer(asked, new Answered())

    expect(incoming.like).toBe(asked)
    expect(incoming).toMatchObject({ method: "DELETE", path: "/mcp", query: "a=1" })
    expect(["accept", "x-many", "x-none"].map((name) => incoming.header(name))).toEqual([
      "a",
      "1, 2",
      undefined,
    ])
  })
})

describe("a body", () => {
  function read(
    headers: NodeRequestLike["headers"],
    send: (asked: Asked) => void,
    most = 8,
  ): Promise<string | undefined> {
    const asked = new Asked({ headers })
    return new Promise((resolve, reject) => {
      answer(asked, new Answered(), async (incoming) => {
        const reading = incoming.readBody(most)
        send(asked)
        resolve(await reading)
        return new Response(null)
      }).catch(reject)
    })
  }

  test("is put together, also where a character is in two pieces", async () => {
    const bytes = new TextEncoder().encode("aé")
    const text = await read({ "content-length": "3" }, (asked) => {
      asked.emit("data", bytes.subarray(0, 2))
      asked.emit("data", bytes.subarray(2))
      asked.emit("end")
    })
    expect(text).toBe("aé")
  })

  test("is not read where it says that it is too long, and no further where it is", async () => {
    expect(await read({ "content-length": "9" }, () => undefined)).toBeUndefined()
    const chunked = { "transfer-encoding": "chunked" }
    expect(await read(chunked, (asked) => asked.emit("data", new Uint8Array(9)))).toBeUndefined()
  })

  test("that breaks off is an error", async () => {
    for (const event of ["error", "close"]) {
      const reading = read({ "content-length": "3" }, (asked) => asked.emit(event))
      expect(await rejection(reading)).toMatchObject({ code: "ABORTED" })
    }
  })
})

describe("an answer", () => {
  test("is written with its status, its headers and its body", async () => {
    const answered = new Answered()
    await answer(new Asked(), answered, () => new Response("text", { status: 201 }))

    const headers = ["content-type", "text/plain;charset=UTF-8", "content-length", "4"]
    expect(answered.head).toEqual([201, headers])
    expect(answered).toMatchObject({ text: "text", isEnded: true })
    expect(answered.flushHeaders).not.toHaveBeenCalled()
    expect(answered.eventNames()).toEqual([])
  })

  test("of events is written with its head at once", async () => {
    const answered = new Answered()
    await answer(new Asked(), answered, () => new Response("data: 1\n\n", EVENTS))

    expect(answered.head).toEqual([200, ["content-type", "text/event-stream"]])
    expect(answered).toMatchObject({ text: "data: 1\n\n", isEnded: true })
    expect(answered.flushHeaders).toHaveBeenCalledOnce()
  })

  test("without a body ends with its head", async () => {
    const answered = new Answered()
    await answer(new Asked(), answered, () => new Response(null, { status: 202 }))

    const head = [202, ["content-length", "0"]]
    expect(answered).toMatchObject({ head, text: "", isEnded: true })
    expect(answered.flushHeaders).not.toHaveBeenCalled()
  })

  test("a response without a client is not written, and its body is cancelled", async () => {
    const cancelled = vi.fn()
    for (const body of [new ReadableStream({ cancel: cancelled }), null]) {
      const answered = new Answered()
      const onLeave = vi.fn()
      await answer(new Asked(), answered, (incoming) => {
        incoming.onGone(onLeave)
        answered.destroyed = true
        answered.emit("close")
        expect(onLeave).toHaveBeenCalledOnce()
        return new Response(body, EVENTS)
      })
      expect(answered.head).toEqual([])
    }
    expect(cancelled).toHaveBeenCalledOnce()
  })

  test("that was finished is not taken for one that was left", async () => {
    const answered = new Answered()
    const onLeave = vi.fn()
    await answer(new Asked(), answered, (incoming) => {
      incoming.onGone(onLeave)
      answered.writableFinished = true
      answered.emit("close")
      return new Response(null)
    })
    expect(onLeave).not.toHaveBeenCalled()
  })

  test("waits for room", async () => {
    const answered = new Answered()
    answered.hasRoom = false
    let at = 0
    const body = new ReadableStream<Uint8Array>(
      {
        pull(controller) {
          if (at === 2) controller.close()
          else controller.enqueue(new TextEncoder().encode(String(at++)))
        },
      },
      { highWaterMark: 0 },
    )
    const done = answer(new Asked(), answered, () => new Response(body, EVENTS))

    await waitFor(() => expect(answered.listenerCount("drain")).toBe(1))
    expect(answered.text).toBe("0")
    answered.hasRoom = true
    answered.emit("drain")
    await done

    expect(answered).toMatchObject({ text: "01", isEnded: true })
    expect(answered.listenerCount("drain")).toBe(0)
  })

  test("ends with whoever leaves, whether there was no room or nothing to say", async () => {
    for (const hasRoom of [true, false]) {
      const answered = new Answered()
      answered.hasRoom = hasRoom
      const cancelled = vi.fn()
      const body = new ReadableStream<Uint8Array>({
        start: (controller) => controller.enqueue(new TextEncoder().encode("first")),
        cancel: cancelled,
      })
      const done = answer(new Asked(), answered, () => new Response(body, EVENTS))
      await waitFor(() => expect(answered.text).toBe("first"))

      answered.emit("close")
      await done

      expect(answered.isEnded).toBe(true)
      expect(cancelled).toHaveBeenCalledOnce()
      expect(answered.listenerCount("drain")).toBe(0)
    }
  })
})
