import { describe, expect, test } from "vitest"
import { splitCommandLine } from "../../src/config/command-line.ts"
import { sourceName } from "./source-name.ts"

describe("splitCommandLine", () => {
  test.each<[string, readonly string[] | undefined]>([
    ["", []],
    ["  a  b ", ["a", "b"]],
    [`a "b c" 'd "e"'`, ["a", "b c", `d "e"`]],
    [`a "" b`, ["a", "", "b"]],
    [`a\\ b "c\\"d"`, ["a b", `c"d`]],
    ["C:\\tools\\x.exe /a", ["C:\\tools\\x.exe", "/a"]],
    ["a; rm -rf $(b) `c` | d", ["a;", "rm", "-rf", "$(b)", "`c`", "|", "d"]],
    [`a "b`, undefined],
  ])("%s", (line, words) => {
    expect(splitCommandLine(line)).toEqual(words)
  })
})

describe("the name of a source without one", () => {
  test.each([
    [{ scan: "." }, "source"],
    [{ scan: "../my operations" }, "my_operations"],
    [{ openapi: "./apis/petstore.openapi.yaml" }, "petstore"],
    [{ openapi: "https://raw.githubusercontent.com/x/y/openapi.json" }, "githubusercontent"],
    [{ openapi: "http://127.0.0.1:3000/openapi.json" }, "local"],
    [{ openapi: "https://" }, "source"],
    [{ mcp: "npx -y @scope/mcp-server-files@1.2.3 /data" }, "files"],
    [{ mcp: "node ./servers/notes.mjs" }, "notes"],
    [{ mcp: "node ../node_modules/@acme/server-files/dist/index.js stdio" }, "files"],
    [{ mcp: "node /opt/node_modules/weather-mcp/bin/cli.mjs" }, "weather"],
    [{ mcp: "node ./weather/dist/index.js" }, "weather"],
    [{ mcp: "C:\\\\tools\\\\github-mcp-server\\\\build\\\\main.exe" }, "github"],
    [{ mcp: "python server.py" }, "server"],
    [{ mcp: "./node_modules/.bin/mcp-server-git" }, "git"],
    [{ mcp: "uvx mcp-server-git --repository ." }, "git"],
    [{ mcp: { command: ["npx", "weather-mcp"] } }, "weather"],
    [{ mcp: { url: "https://mcp.linear.app/sse" } }, "linear"],
    [{ mcp: "node" }, "server"],
    [{ remote: "wss://hub.internal/ws" }, "hub"],
  ])("%j is called %s", (source, name) => {
    expect(sourceName(source)).toBe(name)
  })
})
