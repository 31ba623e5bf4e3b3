import { readFileSync } from "node:fs"
import type {
  OAuthClientProvider,
  StreamableHTTPClientTransport,
  Transport,
} from "@modelcontextprotocol/client"
import type { StdioClientTransport } from "@modelcontextprotocol/client/stdio"
import { describe, expect, expectTypeOf, test } from "vitest"
import { consoleLogger, silentLogger } from "../../../../src/internal/logger.ts"
import { resolveServer } from "../../../../src/sources/mcp/config-resolve.ts"
import type { MCPClientConfig, ResolvedServer } from "../../../../src/sources/mcp/config.ts"
import { memoryPins } from "../../../../src/sources/mcp/pins.ts"
import { thrown } from "../../../support/operations.ts"

const SECRET = "hunter2-hunter2"

/** Also what the types would not allow: files are not typed. */
function settle(config: unknown, name = "files"): ResolvedServer {
  return resolveServer(name, config as MCPClientConfig)
}

describe("resolveServer", () => {
  test.each([
    ["node", 30_000],
    ["uvx", 120_000],
    ["/usr/bin/docker", 120_000],
    ["C:\\bin\\npx.cmd", 120_000],
    ["./npx-like", 30_000],
  ])("gives %s %d ms to start", (command, connectTimeout) => {
    expect(settle({ command }).connectTimeout).toBe(connectTimeout)
    expect(settle({ command, connectTimeout: 5 }).connectTimeout).toBe(5)
  })

  test("fills in every default", () => {
    expect(settle({ command: "npx", args: ["-y", "x"] })).toEqual({
      name: "files",
      channel: {
        kind: "stdio",
        command: "npx",
        args: ["-y", "x"],
        env: {},
        cwd: undefined,
        inheritEnv: undefined,
      },
      version: "1.0.0",
      era: "auto",
      trust: false,
      tools: new Map(),
      filter: undefined,
      timeout: 60_000,
      maxTotalTimeout: 600_000,
      connectTimeout: 120_000,
      maxConcurrency: 64,
      maxMessageBytes: 67_108_864,
      maxResultBytes: 67_108_864,
      maxTools: 10_000,
      maxPages: 100,
      pin: "warn",
      pins: undefined,
      resources: false,
      prompts: false,
      elicitation: undefined,
      sampling: undefined,
      roots: undefined,
      accessControl: { requiredScopes: [] },
      visibility: undefined,
      normalize: undefined,
      output: undefined,
      sessions: "shared",
      disabled: false,
      forwardInput: false,
      logger: consoleLogger,
      clientInfo: { name: "@alkdev/operations", version: packageVersion() },
      approve: undefined,
    })
  })

  test("takes what it is given", async () => {
    const pins = memoryPins()
    const approve = () => true
    const settled = settle({
      url: new URL("https://example.com/mcp?k=v"),
      headers: { Authorization: "Bearer x" },
      type: "sse",
      tools: JSON.parse('{"__proto__":{"type":"query","timeout":5}}') as unknown,
      timeout: Infinity,
      maxMessageBytes: 1000,
      pin: approve,
      pins,
      roots: [{ uri: "file:///a" }],
      logger: silentLogger,
      approve,
    })

    expect(settled.channel).toMatchObject({
      kind: "http",
      headers: { Authorization: "Bearer x" },
      sse: "only",
    })
    expect(settled).toMatchObject({ timeout: Infinity, maxResultBytes: 1000, pin: approve, pins })
    expect(settled.tools.get("__proto__")).toEqual({ type: "query", timeout: 5 })
    expect(await settled.roots?.({ server: "files" })).toEqual([{ uri: "file:///a" }])
  })

  test("a command may be a list, and its rest comes before the arguments", () => {
    expect(settle({ command: ["node", "a.js"], args: ["--b"] }).channel).toMatchObject({
      command: "node",
      args: ["a.js", "--b"],
    })
  })

  test("a transport of the user's is used once, a function as often as needed", async () => {
    const transport = { start: async () => {}, send: async () => {}, close: async () => {} }

    const once = settle({ transport }).channel
    const often = settle({ transport: () => transport }).channel

    expect(once).toMatchObject({ kind: "own", isRepeatable: false })
    expect(often).toMatchObject({ kind: "own", isRepeatable: true })
    expect(once.kind === "own" && (await once.make())).toBe(transport)
  })

  test("folders may be a function, and the client may have a name of its own", async () => {
    const roots = () => [{ uri: "file:///projects" }]
    const clientInfo = { name: "me", version: "2.0.0" }
    const settled = settle({ command: "x", roots, clientInfo, inheritEnv: true })

    expect(settled).toMatchObject({ roots, clientInfo, channel: { inheritEnv: true } })
  })

  test("a name is a text", () => {
    expect(thrown(() => settle({ command: "x" }, 7 as never))).toBeInstanceOf(TypeError)
  })

  test.each([
    ["http", "fallback"],
    ["streamable-http", "fallback"],
    ["streamableHttp", "fallback"],
    ["remote", "fallback"],
    ["sse", "only"],
  ])("type %s is known", (type, sse) => {
    expect(settle({ url: "http://localhost:1/", type }).channel).toMatchObject({ sse })
  })

  test.each<[string, unknown, string, string?]>([
    ["nothing", {}, 'give either "command" (stdio) or "url" (HTTP); got neither.'],
    ["both", { command: "x", url: "https://x.example" }, 'got "command" and "url".'],
    ["not an object", null, 'must be an object with "command" or "url"'],
    ["a list", [], "must be an object"],
    [
      "an empty command",
      { command: "" },
      '"command" must be a string that is not empty',
      "command",
    ],
    ["an empty list", { command: [] }, '"command" must name a program', "command"],
    ["NUL in an argument", { command: "x", args: ["a\0b"] }, '"args[0]"', "args[0]"],
    ["arguments as a text", { command: "x", args: "-y x" }, '"args" must be an array', "args"],
    ["an argument that is null", { command: "x", args: [null] }, '"args[0]"', "args[0]"],
    ["env that is a list", { command: "x", env: [] }, '"env"', "env"],
    ["env with a number", { command: "x", env: { A: 1 } }, '"env.A"', "env.A"],
    ["env with an odd name", { command: "x", env: { "A=B": "" } }, '"env"', "env"],
    ["an address that is none", { url: SECRET }, '"url" must be an absolute URL', "url"],
    ["a file", { url: "file:///etc/passwd" }, 'not "file:"', "url"],
    ["a script", { url: "javascript:alert(1)" }, '"url"', "url"],
    ["a password in the address", { url: `https://me:${SECRET}@x.example/` }, '"headers"', "url"],
    [
      "two lines",
      { url: "https://x.example", headers: { A: `${SECRET}\n` } },
      "one line",
      "headers.A",
    ],
    [
      "an odd header",
      { url: "https://x.example", headers: { "a b": SECRET } },
      '"headers"',
      "headers",
    ],
    ["a header that is no text", { url: "https://x.example", headers: { A: 1 } }, '"headers.A"'],
    [
      "an unknown type",
      { command: "x", type: "carrier-pigeon" },
      'must be "stdio", "local", "http"',
      "type",
    ],
    ["a type of others", { command: "x", type: "toString" }, '"type"', "type"],
    ["a type for the other way", { command: "x", type: "http" }, '"url"', "type"],
    [
      "the same the other way round",
      { url: "https://x.example", type: "stdio" },
      '"command"',
      "type",
    ],
    ["no transport", { transport: { send() {} } }, "start()", "transport"],
    ["a timeout of nothing", { command: "x", timeout: 0 }, "milliseconds", "timeout"],
    ["a timeout in words", { command: "x", timeout: "60" }, "milliseconds", "timeout"],
    ["half a page", { command: "x", maxPages: 1.5 }, "whole number", "maxPages"],
    ["no calls at all", { command: "x", maxConcurrency: 0 }, "at least 1", "maxConcurrency"],
    ["an era that is none", { command: "x", era: "stone" }, '"auto", "legacy" or "modern"', "era"],
    ["trust in words", { command: "x", trust: "yes" }, "true or false", "trust"],
    ["a policy that is none", { command: "x", pin: "maybe" }, '"off", "warn" or "block"', "pin"],
    ["a store that is none", { command: "x", pins: {} }, "load()", "pins"],
    ["a version that is none", { command: "x", version: "new" }, '"1.0.0"', "version"],
    ["tools as a list", { command: "x", tools: ["a"] }, "must be an object", "tools"],
    [
      "a stream of a tool",
      { command: "x", tools: { a: { type: "subscription" } } },
      '"tools.a.type"',
    ],
    ["access that is none", { command: "x", accessControl: {} }, "is not valid", "accessControl"],
    ["roots that are none", { command: "x", roots: ["/a"] }, "must be an object", "roots[0]"],
    ["a filter that is none", { command: "x", filter: ["a"] }, "a function", "filter"],
    ["a logger that is none", { command: "x", logger: { info() {} } }, "debug()", "logger"],
    ["a provider that is none", { url: "https://x.example", authProvider: {} }, "token()"],
    ["a tool that is none", { command: "x", tools: { a: true } }, "an object", "tools.a"],
    [
      "a client without a version",
      { command: "x", clientInfo: { name: "me" } },
      "is required",
      "clientInfo.version",
    ],
    [
      "a client that is none",
      { command: "x", clientInfo: "me" },
      "must be an object",
      "clientInfo",
    ],
    [
      "three ways",
      { command: "x", url: "https://x.example", transport: {} },
      'got "command", "url", "transport".',
    ],
    ["NUL in env", { command: "x", env: { A: `${SECRET}\0` } }, '"env.A"', "env.A"],
    ["env without a value", { command: "x", env: { A: undefined } }, '"env.A"', "env.A"],
    [
      "a header without a value",
      { url: "https://x.example", headers: { A: undefined } },
      '"headers.A"',
      "headers.A",
    ],
    ["a tool without a value", { command: "x", tools: { a: undefined } }, "an object", "tools.a"],
    ["NUL in a folder", { command: "x", cwd: "/\0" }, "NUL", "cwd"],
    ["a number for an address", { url: 7 }, "an absolute URL", "url"],
  ])("refuses %s, and says what to do", (_, config, words, field) => {
    const error = thrown(() => settle(config))

    expect(error).toMatchObject({
      code: "VALIDATION_ERROR",
      message: expect.stringContaining(words),
      details: { server: "files", ...(field && { field }) },
    })
    expect((error as Error).message).toMatch(/^MCP server "files":/)
    expect(JSON.stringify(error)).not.toContain(SECRET)
  })

  test.each([
    ["my server", "my_server"],
    ["github.com", "github-com"],
    ["-x", "x"],
    ["", "server"],
    ["工", "server"],
    ["a".repeat(200), "a".repeat(128)],
  ])('the name "%s" is no namespace; one that is near is suggested', (name, near) => {
    const error = thrown(() => settle({ command: "x" }, name))

    expect(error).toMatchObject({ code: "VALIDATION_ERROR" })
    expect((error as Error).message).toContain(`Use "${near}"`)
  })

  test("what the SDK has can be given, without a cast", () => {
    type Given = NonNullable<MCPClientConfig["transport"]>
    type Provider = NonNullable<MCPClientConfig["authProvider"]>
    expectTypeOf<Transport>().toExtend<Given>()
    expectTypeOf<StdioClientTransport>().toExtend<Given>()
    expectTypeOf<StreamableHTTPClientTransport>().toExtend<Given>()
    expectTypeOf<OAuthClientProvider>().toExtend<Provider>()
    expectTypeOf<{ token(): Promise<string | undefined> }>().toExtend<Provider>()
  })
})

function packageVersion(): string {
  const text = readFileSync(new URL("../../../../package.json", import.meta.url), "utf8")
  return (JSON.parse(text) as { version: string }).version
}
