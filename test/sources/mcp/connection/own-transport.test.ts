import { describe, expect, test, vi } from "vitest"
import { failure, open, textOf } from "./support.ts"

interface Message {
  readonly id?: number
  readonly method?: string
  readonly params?: { readonly name?: string }
}

/** A server in the same process that knows one tool, and ends when it is asked to. */
function transport() {
  const made = {
    onmessage: undefined as ((message: unknown) => void) | undefined,
    onclose: undefined as (() => void) | undefined,
    start: async () => {},
    async send(message: unknown) {
      const { id, method, params } = message as Message
      if (id === undefined) return
      if (params?.name === "end") {
        made.onclose?.()
        return
      }
      const result =
        method === "initialize"
          ? {
              protocolVersion: "2025-06-18",
              capabilities: { tools: {} },
              serverInfo: { name: "own", version: "1" },
            }
          : { content: [{ type: "text", text: method }] }
      // Ids come back as texts from some servers.
      const back = method === "initialize" ? id : String(id)
      queueMicrotask(() => made.onmessage?.({ jsonrpc: "2.0", id: back, result }))
    },
    async close() {
      made.onclose?.()
    },
  }
  return made
}

describe("a transport of the user's own", () => {
  test("is used as it is", async () => {
    await using server = open({ transport: transport() })

    expect(await server.connection.connect()).toMatchObject({ protocolVersion: "2025-06-18" })
    expect(textOf(await server.call("any"))).toBe("tools/call")
  })

  test("survives an answer that nests too deeply to be printed, and that nobody asked for", async () => {
    const own = transport()
    await using server = open({ transport: own })
    await server.connection.connect()
    let result: unknown = 1
    for (let level = 0; level < 100_000; level++) result = [result]

    expect(() => own.onmessage?.({ jsonrpc: "2.0", id: 4711, result, error: 1 })).not.toThrow()
    expect(textOf(await server.call("any"))).toBe("tools/call")
  })

  test("is made again after a loss, where it is a function", async () => {
    const make = vi.fn(transport)
    await using server = open({ transport: make })

    expect(await failure(server.call("end"))).toMatchObject({
      code: "UNAVAILABLE",
      mayHaveExecuted: true,
    })
    expect(textOf(await server.call("any"))).toBe("tools/call")
    expect(make).toHaveBeenCalledTimes(2)
  })

  test("is not used a second time, where it is not", async () => {
    await using server = open({ transport: transport() })
    await failure(server.call("end"))

    const error = await failure(server.call("any"))

    expect(error).toMatchObject({ code: "UNAVAILABLE", retryable: false })
    expect(error.message).toContain("function")
  })
})
