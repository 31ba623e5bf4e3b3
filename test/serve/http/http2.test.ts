// The API behind a server of HTTP/2, on Node's compatible request and response.
import { connect, createServer } from "node:http2"
import type { ClientHttp2Session, OutgoingHttpHeaders } from "node:http2"
import type { AddressInfo } from "node:net"
import { describe, expect, onTestFinished, test } from "vitest"
import { silentLogger } from "../../../src/internal/logger.ts"
import { toHTTP } from "../../../src/to-http.ts"
import type { HTTPServerOptions } from "../../../src/to-http.ts"
import { demo } from "./support.ts"

interface Answer {
  readonly status: number
  readonly text: string
}

/** The API behind a server of HTTP/2, and a connection to it. */
async function start(options: HTTPServerOptions = {}): Promise<ClientHttp2Session> {
  const api = toHTTP(demo().registry, { logger: silentLogger, ...options })
  const server = createServer((request, response) => api.node(request, response))
  await new Promise<void>((resolve) => {
    server.listen(0, "127.0.0.1", resolve)
  })
  const { port } = server.address() as AddressInfo
  const client = connect(`http://127.0.0.1:${port}`)
  onTestFinished(async () => {
    client.close()
    await new Promise((resolve) => server.close(resolve))
    await api.close()
  })
  return client
}

/** Sends a body in pieces, without a `content-length` unless one is given. */
function send(
  client: ClientHttp2Session,
  path: string,
  pieces: readonly string[] = [],
  headers: OutgoingHttpHeaders = {},
): Promise<Answer> {
  const method = pieces.length === 0 ? "GET" : "POST"
  const stream = client.request({
    ":method": method,
    ":path": path,
    ...(pieces.length > 0 && { "content-type": "application/json" }),
    ...headers,
  })
  for (const piece of pieces) stream.write(piece)
  stream.end()
  return new Promise((resolve, reject) => {
    let status = 0
    let text = ""
    stream.setEncoding("utf8")
    stream.on("response", (answer) => (status = answer[":status"] ?? 0))
    stream.on("data", (piece: string) => (text += piece))
    stream.on("end", () => resolve({ status, text }))
    stream.on("error", reject)
  })
}

describe("the API behind HTTP/2", () => {
  test("reads bodies, with and without their length", async () => {
    const client = await start()
    const whole = JSON.stringify({ text: "zwölf".repeat(20_000) })
    const pieces = whole.match(/[^]{1,5000}/g) ?? []
    const echoed = { data: JSON.parse(whole) as unknown }

    const streamed = await send(client, "/operations/demo.echo", pieces)
    expect(streamed.status).toBe(200)
    expect(JSON.parse(streamed.text)).toMatchObject(echoed)

    const length = String(Buffer.byteLength(whole))
    const measured = await send(client, "/api/demo/echo", pieces, { "content-length": length })
    expect(measured.status).toBe(200)
    expect(JSON.parse(measured.text)).toEqual(echoed.data)
  })

  test("runs many requests of one connection at the same time, each with its own body", async () => {
    const client = await start()
    const answers = await Promise.all(
      Array.from({ length: 50 }, (_, at) => send(client, "/api/demo/echo", [`${at}`])),
    )
    expect(answers.map(({ text }) => text)).toEqual(answers.map((_, at) => `${at}`))
  })

  test("refuses a body that is too large, and one from elsewhere", async () => {
    const client = await start({ maxBodyBytes: 1000 })
    const large = await send(client, "/operations/demo.echo", [`"${"x".repeat(2000)}"`])
    expect(large.status).toBe(413)
    const foreign = await send(client, "/operations/demo.echo", ["1"], {
      origin: "https://evil.test",
    })
    expect(foreign.status).toBe(403)
    const rebound = await send(client, "/operations/demo.echo", ["1"], {
      ":authority": "evil.test",
    })
    expect(rebound.status).toBe(403)
    expect((await send(client, "/operations/demo.echo", ["1"])).status).toBe(200)
  })
})
