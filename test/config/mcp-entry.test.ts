import { describe, expect, test } from "vitest"
import type { SourceConfig } from "../../src/config.ts"
import { mcpEntry } from "../../src/config/kinds/mcp.ts"
import { toPlainEntry } from "../../src/sources/mcp/config-fields.ts"
import { isAddress } from "../../src/config/names.ts"
import { sourceName } from "./source-name.ts"

describe("an entry of an MCP server", () => {
  test.each([
    [{ command: "x", args: ["a", 1, true], env: { A: "b", B: 1, C: false } }],
    [{ command: ["x", "y"], cwd: "/", envFile: ".env", disabled: false, enabled: true }],
    [{ url: new URL("https://a.b"), headers: () => ({}) }],
    [{ serverUrl: "https://a.b", headers: { A: "${env:TOKEN}", B: "${input:token}" } }],
    [{ httpUrl: "https://a.b", transport: "sse" }],
    [{ transport: { start() {}, send() {}, close() {} } }],
    [{ command: "x", environment: { A: "b" }, theme: 1 }],
    [{ command: "x", url: null, env: null }],
    [{ url: "{env:URL}", headers: { A: "{env:TOKEN}" }, tools: ["*"] }],
    [{ url: "https://${env:HOST}/mcp", timeout: 5000, tools: { x: { type: "query" } } }],
    [{ command: "x", env: { CERT: "two\nlines", KEY: "literal", N: "${workspaceFolder}" } }],
  ])("is fine: %o", (entry) => {
    expect(faultsOf(entry)).toEqual([])
  })

  test.each([
    [null, "a", `must be an object with "command" or "url", got`],
    [["x"], "a", `must be an object with "command" or "url", got`],
    [{}, "a", "it has neither."],
    [{ command: "x", serverUrl: "https://a.b" }, "a", "it has both."],
    [{ url: "https://a.b", transport: () => ({}) }, "a", "it has both."],
    [{ transport: {} }, "a.transport", "must be a function or a transport"],
    [{ comand: "x" }, "a.comand", `"command"`],
    [{ command: "" }, "a.command", "must not be empty."],
    [{ command: [] }, "a.command", "must name a program."],
    [{ command: ["x", {}] }, "a.command.1", "must be a string"],
    [{ command: "x", args: "y" }, "a.args", "must be a list"],
    [{ command: "x", args: [null] }, "a.args.0", "must be a string"],
    [{ command: "x", env: { A: null } }, "a.env", "has a name without a value."],
    [{ command: "x", environment: "A=b" }, "a.environment", "must be an object"],
    [{ url: "https://a.b", headers: [] }, "a.headers", "must be a function, an object"],
    [{ url: 1 }, "a.url", "must be an absolute URL"],
    [{ httpUrl: "" }, "a.httpUrl", "must be an absolute URL"],
    [{ command: "x", cwd: 1 }, "a.cwd", "must be a string that is not empty"],
    [{ command: "x", envFile: "" }, "a.envFile", "must not be empty."],
    [{ command: "x", disabled: "yes" }, "a.disabled", "must be true or false"],
    [{ command: "x", enabled: 1 }, "a.enabled", "must be true or false"],
    [{ command: "x", env: { K: "${vault:x}" } }, "a.env.K", "uses ${vault:…}, which is not known."],
    [{ command: "x", environment: { K: "${fiel:x}" } }, "a.environment.K", "mean ${file:…}?"],
    [{ command: "x", timeout: "soon" }, "a.timeout", "must be a number of milliseconds"],
    [{ command: "x", pin: "bloc" }, "a.pin", `Did you mean "block"?`],
    [{ command: "x", tools: { t: { tipe: "query" } } }, "a.tools.t.tipe", `mean "type"?`],
    [{ command: "x", type: "htpp" }, "a.type", `Did you mean "http"?`],
    [{ url: "${vault:x}" }, "a.url", "uses ${vault:…}, which is not known."],
    [{ url: "https://a", serverUrl: "https://b" }, "a.serverUrl", `means the same as "url".`],
  ])("has a mistake: %j", (entry, path, message) => {
    expect(faultsOf(entry)).toEqual([[path, expect.stringContaining(message)]])
  })

  test("has all of its mistakes reported at once", () => {
    const tools = { t: { timeout: 0, disabled: "no" } }

    expect(faultsOf({ comand: "x", args: [{}], maxTools: 1.5, tools })).toEqual([
      ["a.comand", expect.any(String)],
      ["a.args.0", expect.any(String)],
      ["a.maxTools", expect.any(String)],
      ["a.tools.t.disabled", expect.any(String)],
      ["a.tools.t.timeout", expect.any(String)],
    ])
  })

  test("gets names of ours, and texts", () => {
    expect(
      toPlainEntry({
        command: "x",
        args: [1, true, "a", null],
        environment: { A: 1, B: false, C: "c" },
        headers: "odd",
        transport: "sse",
        cwd: null,
        url: undefined,
        enabled: false,
      }),
    ).toEqual({
      command: "x",
      args: ["1", "true", "a", null],
      env: { A: "1", B: "false", C: "c" },
      headers: "odd",
      type: "sse",
      disabled: true,
    })
    const transport = {}
    expect(toPlainEntry({ transport, enabled: true })).toEqual({ transport })
    expect(toPlainEntry({ transportType: "http", httpUrl: "u" })).toEqual({
      type: "http",
      url: "u",
    })
  })

  test("keeps names that objects have by themselves", () => {
    const entry = JSON.parse(`{ "__proto__": { "a": 1 }, "env": { "__proto__": 1 } }`) as {}
    const plain = toPlainEntry(entry)

    expect(Object.getPrototypeOf(plain)).toBe(Object.prototype)
    expect(JSON.stringify(plain)).toBe(`{"__proto__":{"a":1},"env":{"__proto__":"1"}}`)
  })
})

describe("the name of a source", () => {
  test.each<[SourceConfig, string]>([
    [{ scan: "./src/operations/" }, "operations"],
    [{ scan: "." }, "source"],
    [{ scan: "..\\tools\\Mine.mts" }, "mine"],
    [{ openapi: "./apis/petstore-openapi.yaml" }, "petstore"],
    [{ openapi: "https://api.github.com/x.json" }, "github"],
    [{ openapi: "https://api.mcp.io" }, "api-mcp-io"],
    [{ remote: "wss://localhost:1" }, "localhost"],
    [{ remote: "http://127.0.0.1:1" }, "local"],
    [{ remote: "http://[::1]:1" }, "local"],
    [{ remote: "http://" }, "source"],
    [{ mcp: "https://mcp.linear.app/sse" }, "linear"],
    [{ mcp: "npx -y @modelcontextprotocol/server-files@1.2.3 ." }, "files"],
    [{ mcp: "npx 'open" }, "server"],
    [{ mcp: "npx -y" }, "server"],
    [{ mcp: "docker run -e A=b ghcr.io/github/github-mcp-server" }, "github"],
    [{ mcp: { url: "https://a.example.com" } }, "example"],
    [{ mcp: { url: new URL("https://www.example.com") } }, "example"],
    [{ mcp: { command: "/usr/bin/node", args: ["./tools/mine.js"] } }, "mine"],
    [{ mcp: { command: "C:\\Node\\node.exe", args: ["weather.py"] } }, "weather"],
    [{ mcp: { command: ["uvx", "mcp-server-git"] } }, "git"],
    [{ mcp: {} }, "server"],
    [{ mcp: { command: "@scope/" } }, "server"],
    [{ mcp: { command: "tool/" } }, "tool"],
    [{ mcp: { command: "mcp-" } }, "mcp"],
  ])("of %j is %s", (source, name) => {
    expect(sourceName(source)).toBe(name)
  })

  test("an address is of the web", () => {
    expect(["HTTP://a", "wss://a", "file:///a", "a.b", " http://a"].map(isAddress)).toEqual([
      true,
      true,
      false,
      false,
      false,
    ])
  })
})

function faultsOf(entry: unknown): unknown[] {
  const faults: unknown[] = []
  mcpEntry.check(entry, ["a"], {
    error: (keys, message) => void faults.push([keys.join("."), message]),
    warn: () => undefined,
  })
  return faults
}
