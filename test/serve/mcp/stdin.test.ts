import { PassThrough } from "node:stream"
import { describe, expect, test, vi } from "vitest"
import { silentLogger } from "../../../src/testing.ts"
import { openLines, serveLines } from "../../../src/serve/mcp/stdio.ts"
import { Responder } from "../../../src/serve/mcp/responder.ts"
import { ToolSurface } from "../../../src/tools/surface.ts"
import { operation, quietRegistry } from "../../support/operations.ts"
import { waitFor } from "../../support/wait-for.ts"

interface Ends {
  readonly lines: ReturnType<typeof openLines>
  readonly input: PassThrough
  readonly output: PassThrough
  readonly got: string[]
  readonly errors: string[]
  readonly closed: ReturnType<typeof vi.fn<() => void>>
}

function started({ max = 1000, input = new PassThrough() } = {}): Ends {
  const output = new PassThrough()
  const got: string[] = []
  const errors: string[] = []
  const closed = vi.fn<() => void>()
  const lines = openLines(input, output as never, {
    write: (text) => output.write(text),
    maxBytes: max,
    onLine: (line) => got.push(line),
    onClose: closed,
    report: (error) => errors.push(error.message),
  })
  return { lines, input, output, got, errors, closed }
}

describe("lines over standard input and output", () => {
  test("come from chunks that end anywhere, also within a character", async () => {
    const { input, got } = started()
    const bytes = Buffer.from('{"a":"ä"}\r\nno JSON\n\n{"a":12345678901234567890}\n')
    for (const byte of bytes) input.write(Buffer.of(byte))
    await waitFor(() => expect(got).toHaveLength(3))
    expect(got).toEqual(['{"a":"ä"}', "no JSON", '{"a":12345678901234567890}'])
  })

  test("end after one that is too large, and only after that", async () => {
    const { input, got, errors, closed } = started({ max: 13 })
    input.write('{"a":')
    for (let at = 0; at < 5; at++) input.write('1}\n{"a":')
    await waitFor(() => expect(got).toHaveLength(5))
    expect(closed).not.toHaveBeenCalled()
    input.write("123456789")
    await waitFor(() => expect(closed).toHaveBeenCalledOnce())
    expect(errors).toEqual(["A message has more than 13 bytes."])
  })

  test("end with their input, once, and are read no longer", async () => {
    const { lines, input, output, closed } = started()
    input.end()
    await waitFor(() => expect(closed).toHaveBeenCalled())
    lines.close()
    lines.write("too late")
    expect(closed).toHaveBeenCalledOnce()
    expect(input.listenerCount("data")).toBe(0)
    expect(output.readableLength).toBe(0)
  })

  test("end with an input that ended before", async () => {
    const input = new PassThrough()
    input.destroy()
    const { closed } = started({ input })
    await waitFor(() => expect(closed).toHaveBeenCalledOnce())
  })

  test("end with an output that fails, whose later failures harm nobody", async () => {
    const output = new PassThrough()
    const report = vi.fn()
    for (let turn = 0; turn < 20; turn++) {
      const closed = vi.fn<() => void>()
      const write = (): boolean => true
      const options = { write, maxBytes: 1000, onLine: () => undefined, onClose: closed, report }
      openLines(new PassThrough(), output as never, options)
      output.emit("error", new Error("EPIPE"))
      expect(closed).toHaveBeenCalledOnce()
      output.emit("error", new Error("EPIPE"))
    }
    expect(report).toHaveBeenCalledTimes(20)
    expect(output.listenerCount("error")).toBe(1)
  })
})

describe("a client at the other end", () => {
  /** What is written in answer to lines. */
  async function answers(...lines: string[]): Promise<Record<string, unknown>[]> {
    const seen = operation("demo.seen", { handler: (input: never) => input })
    const surface = new ToolSurface(quietRegistry([seen]))
    const responder = new Responder(surface, {}, silentLogger)
    const written: string[] = []
    const client = serveLines(responder, { identity: undefined }, (text) => written.push(text))
    for (const line of lines) client.receive(line)
    client.receive('{"jsonrpc":"2.0","id":"last","method":"ping"}')
    await waitFor(() => expect(written.at(-1)).toContain('"last"'))
    client.close()
    surface.close()
    return written.slice(0, -1).map((text) => JSON.parse(text) as Record<string, unknown>)
  }

  test("hears that an integer is too long, if it is part of a request", async () => {
    const digits = "9".repeat(41)
    const message = expect.stringContaining("Invalid params: The integer 999") as string
    expect(
      await answers(
        `{"method":"a","params":${digits}}`,
        `{"id":7,"method":"a","params":${digits}}`,
        `{"id":8,"params":${digits}}`,
      ),
    ).toEqual([{ jsonrpc: "2.0", id: 7, error: { code: -32602, message } }])
  })

  test.each([
    "no JSON",
    "{}",
    "[]",
    "null",
    '[{"jsonrpc":"2.0","id":1,"method":"ping"}]',
    '{"jsonrpc":"2.0","id":null,"method":"ping"}',
    '{"jsonrpc":"2.0","id":1,"result":{}}',
    '{"jsonrpc":"2.0","id":"__proto__","error":{"code":1,"message":""}}',
    '{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":"__proto__"}}',
    '{"jsonrpc":"2.0","method":"notifications/unknown"}',
  ])("hears nothing of %s", async (line) => {
    expect(await answers(line)).toEqual([])
  })

  test.each([
    ['{"jsonrpc":"1.0","id":1,"method":"ping"}', -32600],
    ['{"jsonrpc":"2.0","id":1,"method":"ping","more":1}', -32600],
    ['{"jsonrpc":"2.0","id":1,"method":"ping","params":[]}', -32600],
    ['{"jsonrpc":"2.0","id":1,"method":"constructor"}', -32601],
    ['{"jsonrpc":"2.0","id":1,"method":"server/discover"}', -32601],
    ['{"jsonrpc":"2.0","id":1,"method":"initialize","params":{}}', -32602],
    [
      '{"jsonrpc":"2.0","id":1,"method":"tools/list","params":{"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28"}}}',
      -32602,
    ],
    [
      '{"jsonrpc":"2.0","id":1,"method":"tools/list","params":{"_meta":{"io.modelcontextprotocol/protocolVersion":"2099-01-01","io.modelcontextprotocol/clientCapabilities":{}}}}',
      -32022,
    ],
  ])("hears what is wrong with %s", async (line, code) => {
    expect(await answers(line)).toEqual([
      { jsonrpc: "2.0", id: 1, error: expect.objectContaining({ code }) as object },
    ])
  })
})
