import { describe, expect, test } from "vitest"
import { addToLiteral } from "../../../src/cli/edit/add-to-literal.ts"
import { addToYaml } from "../../../src/cli/edit/add-source.ts"
import { layoutOf, printLiteral, yamlLines } from "../../../src/cli/edit/print-value.ts"

const SOURCE = { openapi: "./a.json" }

describe("a source in a literal", () => {
  test.each<[string, "js" | "json", string]>([
    ["brackets that do not match", "js", "export default { "],
    ["two members called sources", "js", "export default { sources: {}, a: { sources: {} } }"],
    ["sources from elsewhere", "js", "export default { sources: shared }"],
    ["sources by their name only", "js", "export default { sources }"],
    ["sources by their name, and more", "js", "export default { a: 1, sources, b: 2 }"],
    ["members from elsewhere", "js", "export default { ...shared }"],
    ["a function with a body", "js", "export default () => { return {} }"],
    ["no configuration", "js", "const a = {}"],
    ["nothing behind default", "js", "export default config"],
    ["defineConfig that is not called", "js", "import { defineConfig } from 'a'"],
    ["a list", "json", "[]"],
    ["a text", "json", `"sources"`],
    ["nothing", "json", ""],
    ["sources that are null", "json", `{ "sources": null }`],
  ])("has no place in %s", (_, style, text) => {
    expect(addToLiteral(text, style, "a", SOURCE)).toBeUndefined()
  })

  test("goes behind others on their line, with or without a comma", () => {
    expect(addToLiteral(`{"sources":{"b":1}}`, "json", "a", SOURCE)).toBe(
      `{"sources":{"b":1, "a": { "openapi": "./a.json" }}}`,
    )
    expect(addToLiteral("export default { sources: { b: 1, } }", "js", "a", SOURCE)).toBe(
      `export default { sources: { b: 1, a: { openapi: "./a.json" }, } }`,
    )
    expect(addToLiteral(`{ "sources": [{}] }`, "json", "a", SOURCE)).toBe(
      `{ "sources": [{}, { "namespace": "a", "openapi": "./a.json" }] }`,
    )
  })

  test("gets lines of its own in what is empty or has lines", () => {
    expect(addToLiteral("{}", "json", "a", SOURCE)).toBe(
      `{\n  "sources": { "a": { "openapi": "./a.json" } }\n}`,
    )
    expect(addToLiteral(`{\n\t"sources": {\n\t\t"b": 1\n\t}\n}\n`, "json", "a", SOURCE)).toBe(
      `{\n\t"sources": {\n\t\t"b": 1,\n\t\t"a": { "openapi": "./a.json" }\n\t}\n}\n`,
    )
    expect(addToLiteral("export default {\n  a: 1,\n}\n", "js", "a-b", SOURCE)).toBe(
      `export default {\n  a: 1,\n  sources: { "a-b": { openapi: "./a.json" } },\n}\n`,
    )
  })

  test("deeper members called sources are not those of JSON", () => {
    expect(addToLiteral(`{ "a": { "sources": {} } }`, "json", "b", SOURCE)).toBe(
      `{ "a": { "sources": {} }, "sources": { "b": { "openapi": "./a.json" } } }`,
    )
  })
})

describe("a source in YAML", () => {
  test.each([
    ["", "sources:\n  a:\n    openapi: ./a.json\n"],
    ["name: x", "name: x\n\nsources:\n  a:\n    openapi: ./a.json\n"],
    ["sources: {} # none", "sources: # none\n  a:\n    openapi: ./a.json\n"],
    ["sources: ~\n", "sources:\n  a:\n    openapi: ./a.json\n"],
    [
      "sources:\r\n  # one\r\n  b: 1\r\n\r\nx: 1\r\n",
      "sources:\r\n  # one\r\n  b: 1\r\n  a:\r\n    openapi: ./a.json\r\n\r\nx: 1\r\n",
    ],
    [
      "'sources':\n- namespace: b\n",
      "'sources':\n- namespace: b\n- namespace: a\n  openapi: ./a.json\n",
    ],
    ["x:\n\t- a\nsources:", "x:\n\t- a\nsources:\n  a:\n    openapi: ./a.json\n"],
  ])("%j", (text, edited) => {
    expect(addToYaml(text, "a", SOURCE)).toBe(edited)
  })

  test("has no place in what is on one line", () => {
    expect(addToYaml("sources: { b: 1 }\n", "a", SOURCE)).toBeUndefined()
  })
})

describe("a value in print", () => {
  const layout = { newline: "\n", indent: "  " }
  const long = "x".repeat(60)

  test("is spread over lines where it is long, lists too", () => {
    expect(printLiteral([long, [long]], "json", layout, "")).toBe(
      `[\n  "${long}",\n  ["${long}"]\n]`,
    )
    expect(printLiteral({ "a-b": long, c: [null, {}, long] }, "js", layout, "")).toBe(
      `{\n  "a-b": "${long}",\n  c: [null, {}, "${long}"],\n}`,
    )
    expect(printLiteral(long + long, "js", layout, "")).toBe(`"${long}${long}"`)
    expect(printLiteral(null, "json", layout, " ".repeat(100))).toBe("null")
  })

  test("is quoted in YAML where it would be something else", () => {
    expect(yamlLines("yes", "no", "  ")).toEqual([`"yes": "no"`])
    expect(yamlLines("a", { b: {}, c: [1, "x"], d: null, e: true }, "  ")).toEqual([
      "a:",
      "  b: {}",
      `  c: [1, "x"]`,
      "  d: null",
      "  e: true",
    ])
  })

  test("has the layout of what is there", () => {
    expect(layoutOf("a\r\n    b")).toEqual({ newline: "\r\n", indent: "    " })
    expect(layoutOf("a")).toEqual({ newline: "\n", indent: "  " })
  })
})
