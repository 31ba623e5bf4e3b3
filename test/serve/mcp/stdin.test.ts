import { PassThrough } from "node:stream"
import { describe, expect, test, vi } from "vitest"
import { StdioServerTransport } from "@modelcontextprotocol/server/stdio"
import type { SDKTransport } from "../../../src/serve/mcp/sdk.ts"
import { exactInput } from "../../../src/serve/mcp/stdio.ts"
import { waitFor } from "../../support/wait-for.ts"

interface Ends {
  readonly transport: SDKTransport
  readonly input: PassThrough
  readonly output: PassThrough
  readonly messages: unknown[]
  readonly errors: string[]
  readonly closed: ReturnType<typeof vi.fn<() => void>>
}

async function started({ max = 1000, input = new PassThrough() } = {}): Promise<Ends> {
  const output = new PassThrough()
  const own = new StdioServerTransport(exactInput(input, max, () => transport) as never, output)
  const transport = own as unknown as SDKTransport
  const messages: unknown[] = []
  const errors: string[] = []
  const closed = vi.fn<() => void>()
  transport.onmessage = (message) => messages.push(message)
  transport.onerror = (error) => errors.push(error.message)
  transport.onclose = closed
  await own.start()
  return { transport, input, output, messages, errors, closed }
}

describe("a transport over exactInput", () => {
  test("reads messages from chunks that end anywhere, also within a character", async () => {
    const { input, messages } = await started()
    const bytes = Buffer.from('{"a":"ä"}\r\nno JSON\n{"a":12345678901234567890}\n')
    for (const byte of bytes) input.write(Buffer.of(byte))
    await waitFor(() => expect(messages).toHaveLength(2))
    expect(messages).toEqual([{ a: "ä" }, { a: 12345678901234567890n }])
  })

  test("closes after a message that is too large, and only after that", async () => {
    const { input, messages, errors, closed } = await started({ max: 13 })
    input.write('{"a":')
    for (let at = 0; at < 5; at++) input.write('1}\n{"a":')
    await waitFor(() => expect(messages).toHaveLength(5))
    expect(closed).not.toHaveBeenCalled()
    input.write("123456789")
    await waitFor(() => expect(closed).toHaveBeenCalledOnce())
    expect(errors).toEqual(["A message has more than 13 bytes."])
  })

  test("answers an integer that is too long, if it is part of a request", async () => {
    const { input, output, messages } = await started()
    const digits = "9".repeat(41)
    input.write(`{"method":"a","params":${digits}}\n{"id":7,"params":${digits}}\n`)
    await waitFor(() => expect(output.readableLength).toBeGreaterThan(0))
    const answers = String(output.read()).trimEnd().split("\n")
    expect(answers.map((line) => JSON.parse(line) as unknown)).toEqual([
      {
        jsonrpc: "2.0",
        id: 7,
        error: {
          code: -32602,
          message: expect.stringContaining("Invalid params: The integer 999"),
        },
      },
    ])
    expect(messages).toEqual([])
  })

  test("closes with its input, once, and reads no longer", async () => {
    const { transport, input, closed } = await started()
    input.end()
    await waitFor(() => expect(closed).toHaveBeenCalled())
    await transport.close()
    expect(closed).toHaveBeenCalledOnce()
    expect(input.listenerCount("data")).toBe(0)
  })

  test("closes with an input that ended before", async () => {
    const input = new PassThrough()
    input.destroy()
    const { closed } = await started({ input })
    await waitFor(() => expect(closed).toHaveBeenCalledOnce())
  })
})
