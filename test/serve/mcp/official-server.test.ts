// The server of the official SDK as a referee: odd requests are answered with the same statuses and codes.
import { createMcpHandler, Server } from "@modelcontextprotocol/server"
import { describe, expect, test } from "vitest"
import { toMCP } from "../../../src/to-mcp.ts"
import { greet, quietRegistry } from "../../support/operations.ts"
import { initialize, legacyRequest, messagesOf, rawRequest } from "./support/clients.ts"
import type { RawRequest } from "./support/clients.ts"

const VERSION = "io.modelcontextprotocol/protocolVersion"
const CLIENT = "io.modelcontextprotocol/clientInfo"
const CAPABILITIES = "io.modelcontextprotocol/clientCapabilities"
const LEVEL = "io.modelcontextprotocol/logLevel"

const official = createMcpHandler(() => {
  const server = new Server(
    { name: "operations", version: "1.0.0" },
    {
      capabilities: {
        extensions: { "io.modelcontextprotocol/skills": {} },
        tools: { listChanged: true },
        resources: { subscribe: true, listChanged: true },
        prompts: { listChanged: true },
        completions: {},
        logging: {},
      },
    },
  )
  server.setRequestHandler("tools/list", () => ({ tools: [] }))
  server.setRequestHandler("tools/call", () => ({ content: [{ type: "text", text: "Hello" }] }))
  return server
})

const params = { name: "demo_greet", arguments: { name: "Ada" } }
const call = rawRequest("tools/call", { params })
const legacyCall = legacyRequest("tools/call", params)
const bodyOf = ({ body }: RawRequest): Record<string, unknown> & { params: object } =>
  JSON.parse(body) as never

/** A request with another body. */
function having(request: RawRequest, body: unknown): RawRequest {
  return { ...request, body: JSON.stringify(body) }
}

function withMeta(meta: Record<string, unknown>): RawRequest {
  return rawRequest("tools/call", { params, meta })
}

function withHeaders(request: RawRequest, changed: Record<string, string | undefined>): RawRequest {
  const headers = new Headers(request.headers)
  for (const [name, value] of Object.entries(changed)) {
    if (value === undefined) headers.delete(name)
    else headers.set(name, value)
  }
  return { ...request, headers: Object.fromEntries(headers) }
}

const OPENING = bodyOf(initialize())
const ENVELOPE = { [VERSION]: "2026-07-28", [CAPABILITIES]: {} }

const REQUESTS: Record<string, RawRequest> = {
  "a call": call,
  "a legacy call": legacyCall,
  "a list": rawRequest("tools/list"),
  "a legacy list without parameters": having(legacyCall, {
    jsonrpc: "2.0",
    id: 1,
    method: "tools/list",
  }),
  "a legacy ping": legacyRequest("ping"),
  "a modern ping": rawRequest("ping"),
  "an unknown method": rawRequest("unknown/method"),
  "an unknown legacy method": legacyRequest("unknown/method"),
  "the name of a member of all objects": legacyRequest("constructor"),
  "a method of the other era": legacyRequest("server/discover"),
  discover: rawRequest("server/discover"),
  initialize: initialize(),
  "initialize of an unknown version": legacyRequest("initialize", {
    ...OPENING.params,
    protocolVersion: "1999-01-01",
  }),
  "initialize of the oldest version": legacyRequest("initialize", {
    ...OPENING.params,
    protocolVersion: "2024-10-07",
  }),
  "initialize with a modern header": withHeaders(initialize(), {
    "mcp-protocol-version": "2026-07-28",
  }),
  "initialize with an envelope": rawRequest("initialize", { params: OPENING.params as never }),
  "initialize with an old envelope": having(initialize(), {
    ...OPENING,
    params: { ...OPENING.params, _meta: { [VERSION]: "2025-06-18" } },
  }),
  "a level that there is": legacyRequest("logging/setLevel", { level: "info" }),
  "a batch of two": having(legacyCall, [bodyOf(legacyCall), { ...bodyOf(legacyCall), id: 2 }]),
  "a batch of one": having(legacyCall, [bodyOf(legacyCall)]),
  "a batch of notifications": having(legacyCall, [
    { jsonrpc: "2.0", method: "notifications/initialized" },
  ]),
  "an empty batch": having(legacyCall, []),
  "a batch of too many": having(
    legacyCall,
    Array.from({ length: 101 }, () => bodyOf(legacyCall)),
  ),
  "a batch with something modern": having(legacyCall, [bodyOf(legacyCall), bodyOf(call)]),
  "a batch with something invalid": having(legacyCall, [bodyOf(legacyCall), 7]),
  "a batch with initialize": having(legacyCall, [bodyOf(legacyCall), OPENING]),
  nothing: having(call, null),
  "an empty object": having(call, {}),
  "a text": having(call, "text"),
  "a notification": having(legacyCall, { jsonrpc: "2.0", method: "notifications/initialized" }),
  "a modern notification": having(call, {
    jsonrpc: "2.0",
    method: "tools/call",
    params: { _meta: ENVELOPE },
  }),
  "a modern notification of another method": having(call, {
    jsonrpc: "2.0",
    method: "notifications/x",
  }),
  "a notification whose version is no text": having(legacyCall, {
    jsonrpc: "2.0",
    method: "notifications/x",
    params: { _meta: { [VERSION]: 7 } },
  }),
  "a response": having(legacyCall, { jsonrpc: "2.0", id: 1, result: {} }),
  "an error": having(legacyCall, { jsonrpc: "2.0", id: 1, error: { code: 1, message: "no" } }),
  "an error without an id": having(legacyCall, {
    jsonrpc: "2.0",
    error: { code: 1, message: "no" },
  }),
  "a response with a modern header": having(call, { jsonrpc: "2.0", id: 1, result: {} }),
  "a response that is no object": having(legacyCall, { jsonrpc: "2.0", id: 1, result: 7 }),
  "an error without a text": having(legacyCall, { jsonrpc: "2.0", id: 1, error: { code: 1 } }),
  "a response that is both": having(legacyCall, {
    jsonrpc: "2.0",
    id: 1,
    result: {},
    error: { code: 1, message: "" },
  }),
  "an id that is null": having(call, { ...bodyOf(call), id: null }),
  "an id that is not whole": having(call, { ...bodyOf(call), id: 1.5 }),
  "an id that is an object": having(call, { ...bodyOf(call), id: {} }),
  "an id that is a text": having(call, { ...bodyOf(call), id: "one" }),
  "another version of JSON-RPC": having(call, { ...bodyOf(call), jsonrpc: "1.0" }),
  "a member that is unknown": having(call, { ...bodyOf(call), extra: 1 }),
  "a parameter that is unknown": having(call, {
    ...bodyOf(call),
    params: { ...bodyOf(call).params, task: {} },
  }),
  "parameters in a list": having(legacyCall, { ...bodyOf(legacyCall), params: [] }),
  "metadata in a list": having(legacyCall, {
    ...bodyOf(legacyCall),
    params: { ...params, _meta: [] },
  }),
  "a token of progress that is an object": withMeta({ progressToken: {} }),
  "a token of progress": withMeta({ progressToken: "p" }),
  "no envelope": having(call, { ...bodyOf(call), params }),
  "half an envelope": having(call, {
    ...bodyOf(call),
    params: { ...params, _meta: { [CAPABILITIES]: {} } },
  }),
  "an envelope without capabilities": having(call, {
    ...bodyOf(call),
    params: { ...params, _meta: { [VERSION]: "2026-07-28" } },
  }),
  "capabilities that are a list": withMeta({ [CAPABILITIES]: [] }),
  "a capability that is no object": withMeta({ [CAPABILITIES]: { sampling: true } }),
  "a client without a name": withMeta({ [CLIENT]: { version: "1" } }),
  "a client without a version": withMeta({ [CLIENT]: { name: "1" } }),
  "a client with icons": withMeta({ [CLIENT]: { name: "raw", version: "1.0.0", icons: [] } }),
  "no client": having(call, { ...bodyOf(call), params: { ...params, _meta: ENVELOPE } }),
  "a level that there is not": withMeta({ [LEVEL]: "loud" }),
  "a level": withMeta({ [LEVEL]: "info" }),
  "a version that is no text": withMeta({ [VERSION]: 7 }),
  "a newer version": withHeaders(withMeta({ [VERSION]: "2099-01-01" }), {
    "mcp-protocol-version": "2099-01-01",
  }),
  "an older version in an envelope": withHeaders(withMeta({ [VERSION]: "2025-06-18" }), {
    "mcp-protocol-version": "2025-06-18",
  }),
  "what is unknown of the protocol": withMeta({ "io.modelcontextprotocol/new": 1 }),
  "a header of another version": withHeaders(call, { "mcp-protocol-version": "2025-06-18" }),
  "a header of a newer version": withHeaders(call, { "mcp-protocol-version": "2027-01-01" }),
  "a header of no version": withHeaders(call, { "mcp-protocol-version": undefined }),
  "a header of another method": withHeaders(call, { "mcp-method": "tools/list" }),
  "no header of the method": withHeaders(call, { "mcp-method": undefined }),
  "a header of another name": withHeaders(call, { "mcp-name": "other" }),
  "a name in Base64": withHeaders(call, { "mcp-name": "=?base64?ZGVtb19ncmVldA==?=" }),
  "a name in broken Base64": withHeaders(call, { "mcp-name": "=?base64?!?=" }),
  "no header of the name": withHeaders(call, { "mcp-name": undefined }),
  "spaces around headers": withHeaders(call, {
    "mcp-name": " demo_greet\t",
    "mcp-method": " tools/call ",
  }),
  "a legacy version": withHeaders(legacyCall, { "mcp-protocol-version": "2025-03-26" }),
  "a legacy version that there is not": withHeaders(legacyCall, {
    "mcp-protocol-version": "1999-01-01",
  }),
  "a subscription to nothing": rawRequest("subscriptions/listen", {
    params: { notifications: {} },
  }),
  "a subscription without a filter": rawRequest("subscriptions/listen"),
  "a subscription with an odd filter": rawRequest("subscriptions/listen", {
    params: { notifications: { toolsListChanged: 7 } },
  }),
}

async function read(response: Response) {
  const isEmpty = response.status === 202
  const messages = isEmpty ? [] : await messagesOf(response)
  return {
    status: response.status,
    messages: messages.map(({ id, method, error, result }) => ({
      id,
      method,
      code: (error as { code: number } | undefined)?.code,
      result: result === undefined ? undefined : shapeOf(result as Record<string, unknown>),
    })),
  }
}

/** What does not depend on the tools. */
function shapeOf(result: Record<string, unknown>): unknown {
  const OWN = ["tools", "content", "structuredContent", "instructions", "cacheScope"]
  return Object.fromEntries(Object.entries(result).filter(([key]) => !OWN.includes(key)))
}

describe("an odd request is answered as by the server of the SDK", () => {
  test.each(Object.keys(REQUESTS))("%s", async (what) => {
    const request = (): Request => new Request("http://localhost/mcp", REQUESTS[what])
    await using server = toMCP(quietRegistry([greet]), { sessions: false, ttlMs: 0 })
    const [ours, theirs] = [await server.fetch(request()), await official.fetch(request())]
    expect(await read(ours)).toEqual(await read(theirs))
  })
})
