import { Type } from "typebox"
import { describe, expect, test } from "vitest"
import type { OperationContext } from "../../../src/index.ts"
import { plainCallOf } from "../../../src/serve/mcp/plain-call.ts"
import { toMCP } from "../../../src/to-mcp.ts"
import type { MCPServer } from "../../../src/to-mcp.ts"
import { serveHTTP } from "../../../src/node.ts"
import { operation, quietRegistry } from "../../support/operations.ts"
import { until } from "../../http-client/server.ts"
import { headed, rawRequest } from "./support/clients.ts"
import type { RawOptions } from "./support/clients.ts"
import { fixture } from "./support/fixture.ts"

const CLIENT = "io.modelcontextprotocol/clientInfo"
const CAPABILITIES = "io.modelcontextprotocol/clientCapabilities"
/** Harmless, but not plain: the SDK answers such a call. */
const ICONS = { [CLIENT]: { name: "raw", version: "1.0.0", icons: [] } }

const ask = operation("demo.ask", {
  inputSchema: Type.Object({}),
  handler: async (_input: never, context: OperationContext) =>
    await context.requestInput({ type: "form", message: "Sure?", schema: { type: "object" } }),
})

function serverOf(): MCPServer {
  const { registry } = fixture()
  registry.registerAll([ask])
  return toMCP(registry, { name: "shop", version: "3.1.0", title: "The shop" })
}

async function answerTo(server: MCPServer, options: RawOptions) {
  const request = new Request("http://localhost/mcp", rawRequest("tools/call", options))
  return await read(await server.fetch(request))
}

async function read(response: Response) {
  const text = await response.text()
  return { status: response.status, headers: Object.fromEntries(response.headers), text }
}

/** Headers of Node's about the connection and the length of the text. */
const FRAMING = ["connection", "content-length", "date", "keep-alive", "transfer-encoding"]

/** Ways to a server: a web request, a request of Node, and one through a server that it is mounted in. */
async function waysTo(server: MCPServer) {
  const http = await serveHTTP(quietRegistry(), { port: 0, mounts: { "/mcp": server } })
  const listening = await server.listen({ port: 0 })
  const over = (url: string) => async (options: RawOptions) => {
    const answer = await read(await fetch(url, rawRequest("tools/call", options)))
    for (const name of FRAMING) delete answer.headers[name]
    return answer
  }
  return {
    ways: [
      (options: RawOptions) => answerTo(server, options),
      over(listening.url),
      over(`${http.url}/mcp`),
    ],
    [Symbol.asyncDispose]: () => http.close(),
  }
}

describe("a plain call of a modern client", () => {
  test.each<[string, Record<string, unknown>, Record<string, unknown>]>([
    ["a result", { name: "demo_greet", arguments: { name: "Ada" } }, {}],
    ["a result of no arguments", { name: "demo_look" }, {}],
    ["an invalid input", { name: "demo_greet", arguments: { name: 7 } }, {}],
    ["an unknown tool", { name: "demo_nothing", arguments: {} }, {}],
    ["a tool that is not allowed", { name: "demo_secret", arguments: {} }, {}],
    ["a question that its client cannot answer", { name: "demo_ask", arguments: {} }, {}],
    ["progress that nobody wants", { name: "demo_steps", arguments: {} }, {}],
    ["log messages that nobody wants", { name: "demo_chat", arguments: {} }, {}],
    ["a missing header of an argument", { name: "demo_region", arguments: { region: "eu" } }, {}],
    ["an empty name", { name: "", arguments: {} }, {}],
    [
      "a trace",
      { name: "demo_greet", arguments: { name: "Ada" } },
      { traceparent: "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01" },
    ],
  ])("is answered as the SDK answers it: %s", async (_what, params, meta) => {
    await using server = serverOf()
    await using served = await waysTo(server)
    const [first] = served.ways
    const expected = withoutIds((await first?.({ params, meta }))?.text ?? "")
    for (const send of served.ways) {
      const plain = await send({ params, meta })
      const other = await send({ params, meta: { ...meta, ...ICONS } })

      expect(plain.status).toBe(other.status)
      expect(plain.headers).toEqual(other.headers)
      expect(withoutIds(plain.text)).toEqual(withoutIds(other.text))
      expect(withoutIds(plain.text)).toEqual(expected)
    }
  })

  test("is answered with the questions of its handler", async () => {
    await using server = serverOf()
    const params = { name: "demo_ask", arguments: {} }
    const meta = { [CAPABILITIES]: { elicitation: { form: {} } } }
    const plain = JSON.parse((await answerTo(server, { params, meta })).text)
    const other = JSON.parse((await answerTo(server, { params, meta: { ...meta, ...ICONS } })).text)

    expect(plain.result).toMatchObject({ resultType: "input_required" })
    expect({ ...plain.result, requestState: "" }).toEqual({ ...other.result, requestState: "" })
    const inputResponses = { input: { action: "accept", content: {} } }
    const { requestState } = plain.result
    const again = { ...params, inputResponses, requestState }
    const { text } = await answerTo(server, { params: again, meta })
    expect(JSON.parse(text).result).toMatchObject({ resultType: "complete" })
    expect(text).toContain("accept")
  })

  test("is aborted when its client leaves, and when the server closes", async () => {
    const { registry, seen } = fixture()
    const server = toMCP(registry, { drainMs: 0 })
    const leaving = new AbortController()
    const request = rawRequest("tools/call", { params: { name: "demo_wait", arguments: {} } })
    const calls = [leaving.signal, undefined].map((signal) =>
      server.fetch(new Request("http://localhost/mcp", { ...request, ...(signal && { signal }) })),
    )
    await until(() => seen.runs === 2)
    leaving.abort()
    await until(() => seen.aborted.length === 1)
    await server.close()
    expect(seen.aborted).toHaveLength(2)
    expect(await (await calls[1])?.clone().text()).toContain("the server was closed")
    expect((await Promise.all(calls)).map(({ status }) => status)).toEqual([499, 200])
  })
})

describe("plainCallOf", () => {
  const request = rawRequest("tools/call", { params: { name: "demo_greet", arguments: {} } })
  const body = JSON.parse(request.body) as {
    params: Record<string, unknown> & { _meta: Record<string, unknown> }
  } & Record<string, unknown>
  const withMeta = (meta: Record<string, unknown>): unknown => ({
    ...body,
    params: { ...body.params, _meta: { ...body.params._meta, ...meta } },
  })

  test("reads a plain call", () => {
    const { _meta: meta, ...params } = body.params
    expect(plainCallOf(body, headed(request.headers))).toEqual({
      ...{ id: 1, meta },
      params: { ...params, _meta: meta },
    })
  })

  test.each<[string, unknown]>([
    ["nothing", undefined],
    ["a batch", [body]],
    ["a notification", { jsonrpc: "2.0", method: "tools/call", params: body.params }],
    ["an id that is null", { ...body, id: null }],
    ["an id that is not whole", { ...body, id: 1.5 }],
    ["another method", { ...body, method: "tools/list" }],
    ["another version of JSON-RPC", { ...body, jsonrpc: "1.0" }],
    ["a member that is unknown", { ...body, extra: 1 }],
    ["a parameter that is unknown", { ...body, params: { ...body.params, task: {} } }],
    ["no name", { ...body, params: { ...body.params, name: undefined } }],
    ["arguments in a list", { ...body, params: { ...body.params, arguments: [] } }],
    ["an answer", { ...body, params: { ...body.params, inputResponses: {} } }],
    ["no envelope", { ...body, params: { ...body.params, _meta: undefined } }],
    ["another revision", withMeta({ "io.modelcontextprotocol/protocolVersion": "2026-01-01" })],
    ["no capabilities", withMeta({ [CAPABILITIES]: undefined })],
    ["an invalid capability", withMeta({ [CAPABILITIES]: { sampling: true } })],
    ["a client without a name", withMeta({ [CLIENT]: { version: "1" } })],
    ["progress", withMeta({ progressToken: 1 })],
    ["log messages", withMeta({ "io.modelcontextprotocol/logLevel": "info" })],
    ["what is unknown of the protocol", withMeta({ "io.modelcontextprotocol/new": 1 })],
  ])("leaves to the SDK: %s", (_what, value) => {
    expect(plainCallOf(value, headed(request.headers))).toBeUndefined()
  })

  test.each(["Mcp-Name", "Mcp-Method", "MCP-Protocol-Version"])(
    "leaves to the SDK a call with another header %s",
    (name) => {
      for (const value of ["other", undefined]) {
        const headers: Record<string, string> = { ...request.headers }
        for (const key of Object.keys(headers)) {
          if (key.toLowerCase() === name.toLowerCase()) delete headers[key]
        }
        if (value !== undefined) headers[name] = value
        expect(plainCallOf(body, headed(headers))).toBeUndefined()
      }
    },
  )
})

/** An answer without what differs between two calls. */
function withoutIds(text: string): unknown {
  return JSON.parse(text.replaceAll(/"requestId":"[^"]*"/g, '"requestId":""')) as unknown
}
