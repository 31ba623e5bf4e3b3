import {
  ProtocolError,
  SdkError,
  SdkErrorCode,
  SdkHttpError,
  UnauthorizedError,
} from "@modelcontextprotocol/client"
import { describe, expect, test } from "vitest"
import { CallError } from "../../../../src/core/errors.ts"
import {
  capabilityRequired,
  isCapabilityRequired,
  mcpError,
  type MCPErrorAbout,
} from "../../../../src/mcp/errors.ts"

const CALL: MCPErrorAbout = { server: "files", tool: "read", phase: "call" }
const LIST: MCPErrorAbout = { server: "files", phase: "list" }
const CONNECT: MCPErrorAbout = { server: "files", phase: "connect" }

const system = (code: string) => Object.assign(new Error(`connect ${code}`), { code })
const fetchFailed = (code: string) => new TypeError("fetch failed", { cause: system(code) })
const named = (name: string, more: object = {}) => Object.assign(new Error(name), { name }, more)
const http = (status: number, text?: string) =>
  new SdkHttpError(SdkErrorCode.ClientHttpNotImplemented, "Error POSTing", { status, text })

describe("mcpError", () => {
  test.each<[string, unknown, MCPErrorAbout, object]>([
    [
      "a tool that is gone",
      new ProtocolError(-32602, "Unknown tool: read"),
      CALL,
      { code: "OPERATION_NOT_FOUND", mayHaveExecuted: false },
    ],
    [
      "the same of an older server",
      new ProtocolError(-32602, "MCP error -32602: Tool read not found"),
      CALL,
      { code: "OPERATION_NOT_FOUND" },
    ],
    [
      "a method that is gone",
      new ProtocolError(-32601, "Method not found"),
      CALL,
      { code: "OPERATION_NOT_FOUND" },
    ],
    [
      "arguments that are wrong",
      new ProtocolError(-32602, "Invalid arguments for tool read: path not found"),
      CALL,
      { code: "EXECUTION_ERROR", mayHaveExecuted: false },
    ],
    [
      "another tool that is gone",
      new ProtocolError(-32602, "Unknown tool: write"),
      CALL,
      { code: "EXECUTION_ERROR" },
    ],
    [
      "a method that cannot be listed",
      new ProtocolError(-32601, "Method not found"),
      LIST,
      { code: "EXECUTION_ERROR", mayHaveExecuted: false },
    ],
    [
      "a fault of the server",
      new ProtocolError(-32603, "fetch failed", { a: 1 }),
      CALL,
      {
        code: "EXECUTION_ERROR",
        mayHaveExecuted: true,
        retryable: false,
        details: { code: -32603, message: "fetch failed", data: { a: 1 } },
      },
    ],
    [
      "a code of the server's own",
      new ProtocolError(7, "odd"),
      CALL,
      { code: "EXECUTION_ERROR", details: { code: 7 } },
    ],
    [
      "a capability that is missing",
      new ProtocolError(-32021, "sampling", { requiredCapabilities: { sampling: {} } }),
      CALL,
      {
        code: "UNAVAILABLE",
        retryable: false,
        mayHaveExecuted: false,
        details: { reason: "CAPABILITY_REQUIRED", requiredCapabilities: { sampling: {} } },
      },
    ],
    [
      "no credentials",
      new UnauthorizedError("Unauthorized"),
      CALL,
      { code: "UNAUTHENTICATED", mayHaveExecuted: false },
    ],
    [
      "credentials that are refused",
      new SdkHttpError(SdkErrorCode.ClientHttpAuthentication, "401", { status: 401 }),
      CONNECT,
      { code: "UNAUTHENTICATED" },
    ],
    [
      "credentials that are too little",
      named("InsufficientScopeError", { requiredScope: "files:write" }),
      CALL,
      { code: "ACCESS_DENIED", details: { scope: "files:write" } },
    ],
    ["403", http(403), CALL, { code: "ACCESS_DENIED", mayHaveExecuted: false }],
    ["404", http(404), CONNECT, { code: "UNAVAILABLE", retryable: false }],
    ["413", http(413), CALL, { code: "PAYLOAD_TOO_LARGE", mayHaveExecuted: false }],
    [
      "429",
      http(429),
      { ...CALL, retryAfterMs: 2000 },
      { code: "RATE_LIMITED", retryable: true, retryAfterMs: 2000 },
    ],
    [
      "429 with words of JSON-RPC",
      http(429, '{"jsonrpc":"2.0","id":1,"error":{"code":-32000,"message":"Too many"}}'),
      { ...CALL, retryAfterMs: 2000 },
      { code: "RATE_LIMITED", retryable: true, mayHaveExecuted: false, retryAfterMs: 2000 },
    ],
    [
      "503 with words of JSON-RPC",
      http(503, '{"jsonrpc":"2.0","id":1,"error":{"code":-32000,"message":"Busy"}}'),
      CALL,
      { code: "UNAVAILABLE", retryable: true, mayHaveExecuted: false },
    ],
    [
      "413 with words of JSON-RPC",
      http(413, '{"jsonrpc":"2.0","id":1,"error":{"code":-32000,"message":"Too large"}}'),
      CALL,
      { code: "PAYLOAD_TOO_LARGE", mayHaveExecuted: false },
    ],
    ["503", http(503), CALL, { code: "UNAVAILABLE", retryable: true, mayHaveExecuted: false }],
    [
      "500 of a call",
      http(500),
      CALL,
      { code: "UNAVAILABLE", retryable: false, mayHaveExecuted: true },
    ],
    [
      "500 of a list",
      http(500),
      LIST,
      { code: "UNAVAILABLE", retryable: true, mayHaveExecuted: false },
    ],
    ["418", http(418), CALL, { code: "EXECUTION_ERROR" }],
    [
      "a status with words of JSON-RPC",
      http(400, '{"jsonrpc":"2.0","id":1,"error":{"code":-32020,"message":"Header mismatch"}}'),
      CALL,
      { code: "EXECUTION_ERROR", mayHaveExecuted: false, details: { code: -32020 } },
    ],
    [
      "an old transport's status",
      named("SseError", { code: 404 }),
      CONNECT,
      { code: "UNAVAILABLE" },
    ],
    [
      "no answer",
      new SdkError(SdkErrorCode.RequestTimeout, "Request timed out"),
      CALL,
      { code: "TIMEOUT", mayHaveExecuted: true, retryable: false },
    ],
    [
      "no answer to a list",
      new SdkError(SdkErrorCode.RequestTimeout, "Request timed out"),
      LIST,
      { code: "TIMEOUT", mayHaveExecuted: false, retryable: true },
    ],
    ["a timeout of the platform", named("TimeoutError"), CALL, { code: "TIMEOUT" }],
    ["an abort", named("AbortError"), CALL, { code: "ABORTED", mayHaveExecuted: true }],
    [
      "a connection that closed",
      new SdkError(SdkErrorCode.ConnectionClosed, "Connection closed"),
      CALL,
      { code: "UNAVAILABLE", mayHaveExecuted: true, retryable: false },
    ],
    [
      "one that closed before anything was sent",
      new SdkError(SdkErrorCode.ConnectionClosed, "Connection closed"),
      { ...CALL, isUnsent: true },
      { code: "UNAVAILABLE", mayHaveExecuted: false, retryable: true },
    ],
    [
      "one that was never there",
      new SdkError(SdkErrorCode.NotConnected, "Not connected"),
      CALL,
      { code: "UNAVAILABLE", mayHaveExecuted: false, retryable: true },
    ],
    [
      "nobody at the port",
      fetchFailed("ECONNREFUSED"),
      CALL,
      { code: "UNAVAILABLE", mayHaveExecuted: false, retryable: true },
    ],
    ["nobody of that name", fetchFailed("ENOTFOUND"), CONNECT, { code: "UNAVAILABLE" }],
    [
      "nobody at any address",
      new TypeError("fetch failed", { cause: new AggregateError([system("ECONNREFUSED")]) }),
      CALL,
      { code: "UNAVAILABLE", retryable: true },
    ],
    [
      "a socket that broke",
      fetchFailed("UND_ERR_SOCKET"),
      CALL,
      { code: "UNAVAILABLE", mayHaveExecuted: true, retryable: false },
    ],
    [
      "an answer that is not MCP",
      new SdkError(SdkErrorCode.InvalidResult, "bad"),
      CALL,
      { code: "EXECUTION_ERROR", details: { reason: "INVALID_RESULT" } },
    ],
    [
      "what is not supported",
      new SdkError(SdkErrorCode.UnsupportedResultType, "task"),
      CALL,
      { code: "EXECUTION_ERROR", details: { reason: "UNSUPPORTED" } },
    ],
    [
      "anything else while connecting",
      new Error("no"),
      CONNECT,
      { code: "UNAVAILABLE", retryable: false, mayHaveExecuted: false },
    ],
    ["anything else", new Error("no"), CALL, { code: "EXECUTION_ERROR", mayHaveExecuted: true }],
    ["what is no error", "no", CALL, { code: "EXECUTION_ERROR" }],
    ["nothing", undefined, CALL, { code: "EXECUTION_ERROR" }],
  ])("%s", (_, thrown, about, expected) => {
    const error = mcpError(thrown, about)

    expect(error).toMatchObject(expected)
    expect(error.cause).toBe(thrown)
    expect(error.message).toContain('"files"')
    expect(error.message.includes('"read"')).toBe(about.tool !== undefined)
  })

  test("an error of ours stays as it is", () => {
    const error = new CallError("PAYLOAD_TOO_LARGE", "too much")

    expect(mcpError(error, CALL)).toBe(error)
  })

  test("a crash tells how it ended and what was written last, without secrets", () => {
    const error = mcpError(new SdkError(SdkErrorCode.ConnectionClosed, "Connection closed"), {
      ...CALL,
      exit: { code: 3, signal: null },
      stderrTail: "x".repeat(5000) + "\nError: token=hunter2hunter2 was refused\n",
    })

    expect(error.message).toContain("ended with code 3")
    expect(error.message).toContain("was refused")
    expect(JSON.stringify([error.message, error.details])).not.toContain("hunter2")
    expect(error.details).toMatchObject({ exit: { code: 3, signal: null } })
    expect(
      mcpError(named("x"), { ...CONNECT, exit: { code: null, signal: "SIGKILL" } }).message,
    ).toContain("ended by SIGKILL")
  })

  test("secrets in the words of others are masked", () => {
    const error = mcpError(new Error("Authorization: Bearer abcdef123456 is bad"), CALL)

    expect(error.message).not.toContain("abcdef123456")
  })

  test("something that cannot be read is still an error", () => {
    const hostile = new Proxy(
      {},
      {
        get() {
          throw new Error("no")
        },
      },
    )

    expect(mcpError(hostile, CALL)).toMatchObject({ code: "EXECUTION_ERROR" })
  })
})

describe("capabilityRequired", () => {
  test("is recognised, and so is a server's own", () => {
    const ours = capabilityRequired({ elicitation: {} }, "Nobody can be asked.")
    const theirs = mcpError(new ProtocolError(-32021, "sampling"), CALL)

    expect(ours).toMatchObject({ code: "UNAVAILABLE", retryable: false, mayHaveExecuted: false })
    expect([ours, theirs].map(isCapabilityRequired)).toEqual([true, true])
    expect(isCapabilityRequired(new CallError("UNAVAILABLE", "down"))).toBe(false)
    expect(isCapabilityRequired({ details: { reason: "CAPABILITY_REQUIRED" } })).toBe(false)
  })
})
