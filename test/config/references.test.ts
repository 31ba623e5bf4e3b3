import fc from "fast-check"
import { describe, expect, test } from "vitest"
import { splitCommandLine } from "../../src/config/command-line.ts"
import { parseReferences, referencesIn } from "../../src/config/references.ts"
import { sourceName } from "./source-name.ts"

describe("parseReferences", () => {
  test.each<[string, readonly unknown[]]>([
    ["", []],
    ["plain", [{ kind: "text", text: "plain" }]],
    ["${env:A}", [{ kind: "env", name: "A", fallback: undefined }]],
    ["${A:-x}", [{ kind: "env", name: "A", fallback: "x" }]],
    ["${env:A:-}", [{ kind: "env", name: "A", fallback: "" }]],
    ["${env:A:-${env:B}}", [{ kind: "env", name: "A", fallback: "${env:B}" }]],
    [
      "Bearer ${file: ./t } ",
      [
        { kind: "text", text: "Bearer " },
        { kind: "file", name: "./t" },
        { kind: "text", text: " " },
      ],
    ],
    ['${command:node -e "f({})"}', [{ kind: "command", name: 'node -e "f({})"' }]],
    ["$${env:A}", [{ kind: "text", text: "${env:A}" }]],
    ["pa$$word $5 ${} ${a b} }", [{ kind: "text", text: "pa$$word $5 ${} ${a b} }" }]],
    ["${vault:x}", [{ kind: "unknown", name: "vault" }]],
    [
      "a${env:A",
      [
        { kind: "text", text: "a" },
        { kind: "open", name: "env" },
      ],
    ],
    ["${userHome}", [{ kind: "place", name: "userHome" }]],
  ])("%s", (text, parts) => {
    expect(parseReferences(text)).toEqual(parts)
  })

  test("a text without a dollar sign is itself", () => {
    fc.assert(
      fc.property(fc.string({ unit: "grapheme" }), (text) => {
        fc.pre(!text.includes("$") && text !== "")
        expect(parseReferences(text)).toEqual([{ kind: "text", text }])
      }),
    )
  })

  test("a large text with many braces takes no time to speak of", () => {
    expect(referencesIn("${".repeat(20_000))).toEqual([])
  })
})

describe("referencesIn", () => {
  test("names what a value needs, and where", () => {
    const found = referencesIn({
      headers: { "X-Key": "${env:KEY:-${env:OTHER}}" },
      list: ["${file:./a}"],
      call: () => "${env:NO}",
    })

    expect(found).toEqual([
      { path: "headers.X-Key", kind: "env", name: "KEY", hasDefault: true },
      { path: "headers.X-Key", kind: "env", name: "OTHER", hasDefault: false },
      { path: "list[0]", kind: "file", name: "./a", hasDefault: false },
    ])
  })
})

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
    [{ mcp: "uvx mcp-server-git --repository ." }, "git"],
    [{ mcp: { command: ["npx", "weather-mcp"] } }, "weather"],
    [{ mcp: { url: "https://mcp.linear.app/sse" } }, "linear"],
    [{ mcp: "node" }, "server"],
    [{ remote: "wss://hub.internal/ws" }, "hub"],
  ])("%j is called %s", (source, name) => {
    expect(sourceName(source)).toBe(name)
  })
})
