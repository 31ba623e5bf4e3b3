import { runInNewContext } from "node:vm"
import fc from "fast-check"
import { Type } from "typebox"
import { describe, expect, test } from "vitest"
import { commandInput } from "../../../src/schema/read/sample/command-input.ts"
import { shellLine, shellWord } from "../../../src/internal/shell.ts"
import { snippetsOf } from "../../../console/src/read/snippets/snippets.ts"
import type { Snippet } from "../../../console/src/read/snippets/snippets.ts"
import { sourceText } from "../../../console/src/read/snippets/source-text.ts"

const place = {
  baseUrl: "http://127.0.0.1:3000/",
  needsToken: false,
  mcp: "tools",
  websocket: true,
} as const
const inputSchema = Type.Object({
  title: Type.String(),
  hours: Type.Optional(Type.Integer()),
  isDone: Type.Optional(Type.Boolean()),
  labels: Type.Optional(Type.Array(Type.String())),
  owner: Type.Optional(Type.Object({ name: Type.String() })),
  any: Type.Optional(Type.Unknown()),
  either: Type.Optional(Type.Union([Type.String(), Type.Integer()])),
})
const spec = { namespace: "task", name: "create", type: "mutation" as const, inputSchema }

function codeOf(id: Snippet["id"], snippets: readonly Snippet[]): string {
  return snippets.find((snippet) => snippet.id === id)?.code ?? ""
}

describe("snippets", () => {
  const input = { title: "Buy Ada's milk", hours: 2 }

  test("of a call", () => {
    const snippets = snippetsOf(spec, input, place)
    expect(codeOf("typescript", snippets)).toBe(`import { createClient } from "@alkdev/operations"
import { createWebSocketTransport } from "@alkdev/operations/websocket"

const client = createClient(createWebSocketTransport("ws://127.0.0.1:3000/ws"))

const { data } = await client.task.create({ title: "Buy Ada's milk", hours: 2 })
console.log(data)
await client.close()`)
    expect(codeOf("curl", snippets))
      .toBe(`curl -s -X POST http://127.0.0.1:3000/operations/task.create \\
  -H 'Content-Type: application/json' \\
  --data-raw '{"title":"Buy Ada'\\''s milk","hours":2}'`)
    expect(codeOf("command", snippets)).toBe(
      `npx @alkdev/operations call task.create \\
  'title=Buy Ada'\\''s milk' \\
  hours=2 \\
  --hub http://127.0.0.1:3000`,
    )
    expect(JSON.parse(codeOf("mcp", snippets))).toEqual({
      mcpServers: { operations: { type: "http", url: "http://127.0.0.1:3000/mcp" } },
    })
    expect(JSON.parse(codeOf("vscode", snippets))).toEqual({
      servers: { operations: { type: "http", url: "http://127.0.0.1:3000/mcp" } },
    })
  })

  test("of a subscription, under a path, over TLS", () => {
    const at = { ...place, baseUrl: "https://hub.example/v1" }
    const snippets = snippetsOf({ ...spec, type: "subscription" }, { title: "x" }, at)
    expect(codeOf("typescript", snippets)).toContain(
      `for await (const { data } of client.task.create({ title: "x" })) {`,
    )
    expect(codeOf("typescript", snippets)).toContain('"wss://hub.example/v1/ws"')
    expect(codeOf("curl", snippets)).toContain("-sN")
    expect(codeOf("curl", snippets)).toContain("-H 'Accept: text/event-stream'")
    expect(codeOf("command", snippets)).toBe(
      "npx @alkdev/operations watch task.create title=x --hub https://hub.example/v1",
    )
  })

  test("name the token, and never hold one", () => {
    const snippets = snippetsOf(spec, input, { ...place, needsToken: true })
    expect(codeOf("typescript", snippets)).toContain('token: process.env["OPERATIONS_TOKEN"]')
    expect(codeOf("curl", snippets)).toContain('-H "Authorization: Bearer $TOKEN"')
    expect(codeOf("command", snippets)).toMatch(
      /^OPERATIONS_TOKEN="\$TOKEN" npx @alkdev\/operations call task.create/,
    )
    expect(codeOf("mcp", snippets)).toContain("Bearer ${OPERATIONS_TOKEN}")
    expect(codeOf("vscode", snippets)).toContain("Bearer ${input:operations-token}")
  })

  test("promise only what the hub serves", () => {
    const notes = (given: Partial<typeof place> | { mcp: "search" | undefined }): string =>
      snippetsOf(spec, input, { ...place, ...given })
        .map(({ id, note }) => `${id}: ${note}`)
        .join("\n")
    expect(notes({})).toContain("the operation is one of its tools")
    const many = notes({ mcp: "search" })
    expect(many).not.toContain("one of its tools")
    expect(many).toContain('finds "task.create" with search_operations')
    expect(notes({ mcp: undefined })).not.toMatch(/^(?:mcp|vscode):/m)
    expect(snippetsOf(spec, input, { ...place, websocket: false })[0]?.id).toBe("curl")
  })

  test("keep the digits of large integers", () => {
    const large = { title: "x", hours: 9007199254740993n }
    const snippets = snippetsOf(spec, large, place)
    for (const id of ["curl", "command"] as const)
      expect(codeOf(id, snippets)).toContain("9007199254740993")
  })

  test.each([
    ["shop", "orders.get", "client.shop.orders.get({})"],
    ["task", "set-title", 'client.call("task.set-title", {})'],
    ["task", "then", 'client.call("task.then", {})'],
    ["close", "door", 'client.call("close.door", {})'],
  ])("of %s.%s call a member of the client only if it can have one", (namespace, name, text) => {
    const snippets = snippetsOf({ ...spec, namespace, name }, {}, place)
    expect(codeOf("typescript", snippets)).toContain(text)
  })

  test("of an operation that takes nothing have no input", () => {
    const snippets = snippetsOf({ ...spec, inputSchema: Type.Void() }, undefined, place)
    expect(codeOf("typescript", snippets)).toContain("client.task.create()")
    expect(codeOf("curl", snippets)).toBe(
      "curl -s -X POST http://127.0.0.1:3000/operations/task.create",
    )
    expect(codeOf("command", snippets)).toBe(
      "npx @alkdev/operations call task.create --hub http://127.0.0.1:3000",
    )
  })
})

describe("the words that give a command its input", () => {
  test.each<[unknown, readonly string[]]>([
    [{}, []],
    [{ title: "@home" }, ["title=@@home"]],
    [{ title: "" }, ["title="]],
    [{ title: "5" }, ["title=5"]],
    [{ labels: ["a", "@b"] }, ["'labels[]=a'", "'labels[]=@@b'"]],
    [{ labels: [] }, ["'labels:=[]'"]],
    [{ owner: { name: "Ada" } }, ["owner.name=Ada"]],
    [{ owner: {} }, ["'owner:={}'"]],
    [{ owner: { name: "Ada", "a b": 1 } }, [`'owner:={"name":"Ada","a b":1}'`]],
    [{ isDone: false }, ["isDone=false"]],
    [{ any: "5" }, [`'any:="5"'`]],
    [{ either: "5" }, [`'either:="5"'`]],
    [{ hours: 1e21 }, ["hours:=1e+21"]],
    [{ undeclared: 1 }, ["--input", `'{"undeclared":1}'`]],
    ["text", ["--input", `'"text"'`]],
    [null, ["--input", "null"]],
    [[1], ["--input", "'[1]'"]],
    [undefined, []],
  ])("%j", (input, words) => {
    expect(commandInput(input, inputSchema)).toEqual(words)
  })

  test("many are read better as JSON", () => {
    const labels = Array.from({ length: 9 }, (_, at) => `l${at}`)
    expect(commandInput({ labels }, inputSchema)[0]).toBe("--input")
  })
})

describe("quoting", () => {
  test("a word is left alone only where it means nothing to a shell", () => {
    expect(shellWord("a=b/c.d:1")).toBe("a=b/c.d:1")
    for (const text of [
      "",
      "a b",
      "$HOME",
      "`x`",
      "a;b",
      "*",
      "~",
      "a!b",
      "a\nb",
      "{a,b}",
      "a#",
      "[]",
      "é",
    ]) {
      expect(shellWord(text)).toBe(`'${text}'`)
    }
    expect(shellWord("it's")).toBe(`'it'\\''s'`)
  })

  test("long lines are broken between an option with its value and the next", () => {
    const line = shellLine(["a b", "id", `x='${"y".repeat(90)}'`, "--hub", "http://x"])
    expect(line.split(" \\\n  ")).toEqual(["a b id", `x='${"y".repeat(90)}'`, "--hub http://x"])
  })
})

describe("a value as TypeScript", () => {
  const evaluated = (source: string): unknown => runInNewContext(`(${source})`)

  test("is that value, whatever it holds", () => {
    fc.assert(
      fc.property(fc.jsonValue(), (value) => {
        const same = JSON.parse(JSON.stringify(value)) as unknown
        expect(JSON.stringify(evaluated(sourceText(same)))).toBe(JSON.stringify(same))
      }),
    )
  })

  test("keeps __proto__ a name, and breaks long lines", () => {
    const value = JSON.parse('{"__proto__":{"a":1},"a-b":[],"c":{}}') as unknown
    expect(sourceText(value)).toBe('{ ["__proto__"]: { a: 1 }, "a-b": [], c: {} }')
    expect(JSON.stringify(evaluated(sourceText(value)))).toBe(JSON.stringify(value))
    expect(sourceText({ text: "x".repeat(90), list: [1] })).toBe(
      `{\n  text: "${"x".repeat(90)}",\n  list: [1],\n}`,
    )
  })
})
