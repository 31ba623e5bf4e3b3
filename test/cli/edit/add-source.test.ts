import fc from "fast-check"
import { load } from "js-yaml"
import { describe, expect, test } from "vitest"
import { addSource, formatOf, sourceSnippet } from "../../../src/cli/edit/add-source.ts"
import type { Plain } from "../../../src/cli/edit/add-source.ts"

const shop = { openapi: "./shop.yaml" }

describe("addSource to JSON", () => {
  test("adds a member behind the last one, in the same manner", () => {
    const text = `{\n  "sources": {\n    "a": { "scan": "./a" }\n  }\n}\n`
    expect(addSource(text, "json", "shop", shop)).toBe(
      `{\n  "sources": {\n    "a": { "scan": "./a" },\n    "shop": { "openapi": "./shop.yaml" }\n  }\n}\n`,
    )
  })

  test("keeps comments, commas at the end, tabs and line ends", () => {
    const text = `{\r\n\t// mine\r\n\t"sources": {\r\n\t\t"a": { "scan": "./a" }, // first\r\n\t\t/* last */\r\n\t},\r\n}\r\n`
    expect(addSource(text, "json", "shop", shop)).toBe(
      `{\r\n\t// mine\r\n\t"sources": {\r\n\t\t"a": { "scan": "./a" }, // first\r\n\t\t/* last */\r\n\t\t"shop": { "openapi": "./shop.yaml" },\r\n\t},\r\n}\r\n`,
    )
  })

  test("puts the comma before a comment", () => {
    const text = `{ "sources": {\n  "a": { "scan": "./a" } // first\n} }`
    expect(addSource(text, "json", "shop", shop)).toBe(
      `{ "sources": {\n  "a": { "scan": "./a" }, // first\n  "shop": { "openapi": "./shop.yaml" }\n} }`,
    )
  })

  test("adds to an object on one line, an empty one, a list, and where there are no sources", () => {
    const after = (text: string): string | undefined => addSource(text, "json", "shop", shop)
    expect(after(`{"sources":{"a":{"scan":"./a"}}}`)).toBe(
      `{"sources":{"a":{"scan":"./a"}, "shop": { "openapi": "./shop.yaml" }}}`,
    )
    expect(after(`{ "sources": {} }`)).toBe(
      `{ "sources": {\n  "shop": { "openapi": "./shop.yaml" }\n} }`,
    )
    expect(after(`{ "sources": [{ "scan": "./a" }] }`)).toBe(
      `{ "sources": [{ "scan": "./a" }, { "namespace": "shop", "openapi": "./shop.yaml" }] }`,
    )
    expect(after(`{\n  "server": { "port": -1.5e3 }\n}`)).toBe(
      `{\n  "server": { "port": -1.5e3 },\n  "sources": { "shop": { "openapi": "./shop.yaml" } }\n}`,
    )
    expect(after("{}")).toBe(`{\n  "sources": { "shop": { "openapi": "./shop.yaml" } }\n}`)
  })

  test("is not led astray by texts, deeper members and what is no configuration", () => {
    const nested = `{ "server": { "sources": { "x": 1 } }, "note": "\\"sources\\": { // no" }`
    const added = addSource(nested, "json", "shop", shop)
    expect(JSON.parse(added as string)).toEqual({
      ...(JSON.parse(nested) as object),
      sources: { shop },
    })
    for (const text of ["", "[]", "nonsense", "{", `{ "sources": 7 }`, `{ "sources": "x" } }`]) {
      expect(addSource(text, "json", "shop", shop), text).toBeUndefined()
    }
  })

  test("spreads long sources over lines", () => {
    const source = { mcp: { command: "npx", args: ["-y", "a".repeat(40), "b".repeat(40)] } }
    const added = addSource(`{\n  "sources": {}\n}`, "json", "long", source) as string
    expect(JSON.parse(added)).toEqual({ sources: { long: source } })
    expect(Math.max(...added.split("\n").map(({ length }) => length))).toBeLessThan(100)
  })

  test("whatever the configuration, exactly one source is added", () => {
    const config = fc.record(
      { server: fc.jsonValue(), sources: fc.dictionary(fc.string(), fc.jsonValue()) },
      { requiredKeys: [] },
    )
    fc.assert(
      fc.property(config, fc.constantFrom(0, 2, 4, "\t"), fc.string(), (value, indent, path) => {
        const text = JSON.stringify(value, undefined, indent)
        const added = addSource(text, "json", "new-one", { scan: path })
        const before = JSON.parse(text) as { sources?: object }
        expect(JSON.parse(added as string)).toEqual({
          ...before,
          sources: { ...before.sources, "new-one": { scan: path } },
        })
      }),
    )
  })
})

describe("addSource to YAML", () => {
  test("adds a key to the block, behind its comments", () => {
    const text = `# mine\nserver:\n  port: 1\nsources:\n    a:\n        scan: ./a # first\n\n    # more to come\n\nregistry: {}\n`
    expect(addSource(text, "yaml", "shop", shop)).toBe(
      `# mine\nserver:\n  port: 1\nsources:\n    a:\n        scan: ./a # first\n\n    # more to come\n    shop:\n      openapi: ./shop.yaml\n\nregistry: {}\n`,
    )
  })

  test("adds to lists, to nothing, and where there are no sources", () => {
    const after = (text: string): string | undefined => addSource(text, "yaml", "shop", shop)
    expect(after("sources:\n- scan: ./a\n")).toBe(
      "sources:\n- scan: ./a\n- namespace: shop\n  openapi: ./shop.yaml\n",
    )
    expect(after("sources: {} # none\n")).toBe(
      "sources: # none\n  shop:\n    openapi: ./shop.yaml\n",
    )
    expect(after("sources:")).toBe("sources:\n  shop:\n    openapi: ./shop.yaml\n")
    expect(after("server: { port: 1 }")).toBe(
      "server: { port: 1 }\n\nsources:\n  shop:\n    openapi: ./shop.yaml\n",
    )
    expect(after("")).toBe("sources:\n  shop:\n    openapi: ./shop.yaml\n")
  })

  test("leaves alone what it cannot add to", () => {
    const texts = ["sources: { a: { scan: ./a } }", "sources: x", "a: [", "- list", "a: 1\n...\n"]
    for (const text of texts) expect(addSource(text, "yaml", "shop", shop), text).toBeUndefined()
  })

  test("quotes what YAML would take for something else", () => {
    const source: Plain = {
      openapi: "https://x.example/a: b#c",
      headers: { no: "yes", "X-Key": "${env:KEY}", n: "1" },
      timeout: 5,
      disabled: false,
    }
    const added = addSource("sources:\n  a: { scan: ./a }\n", "yaml", "on", source) as string
    expect(load(added)).toEqual({ sources: { a: { scan: "./a" }, on: source } })
  })

  test("whatever the source, it can be read back", () => {
    fc.assert(
      fc.property(fc.string(), fc.dictionary(fc.string(), fc.string()), (path, headers) => {
        fc.pre(!Object.hasOwn(headers, "__proto__"))
        const source = { openapi: path, headers }
        const added = addSource("sources:\n  a:\n    scan: x\n", "yaml", "new", source)
        expect(load(added as string)).toEqual({ sources: { a: { scan: "x" }, new: source } })
      }),
    )
  })
})

describe("addSource to TypeScript", () => {
  const after = (text: string): string | undefined => addSource(text, "js", "shop", shop)

  test("adds a member to the sources, whatever stands around them", () => {
    const text = [
      `import { defineConfig } from "@alkdev/operations/config"`,
      "// sources: { not: this }",
      "const url = `http://${`127.0.0.${1}`}/}`",
      "export default defineConfig(async () => ({",
      "  sources: {",
      "    // a folder",
      `    a: { scan: "./{a" },`,
      "  },",
      "}))",
      "",
    ]
    const expected = text.toSpliced(7, 0, `    shop: { openapi: "./shop.yaml" },`)
    expect(after(text.join("\n"))).toBe(expected.join("\n"))
  })

  test("writes sources where there are none", () => {
    expect(after("export default defineConfig({})\n")).toBe(
      `export default defineConfig({\n  sources: { shop: { openapi: "./shop.yaml" } },\n})\n`,
    )
    expect(after("export default {\n  server: { port: 1 }\n}\n")).toBe(
      `export default {\n  server: { port: 1 },\n  sources: { shop: { openapi: "./shop.yaml" } },\n}\n`,
    )
  })

  test("leaves alone what it does not understand", () => {
    const texts = [
      "export default makeConfig()",
      "export default { sources }",
      "export default { server: {}, sources, registry: {} }",
      "export default defineConfig({ ...shared })",
      "export default defineConfig(() => { return shared })",
      "const a = { sources: {} }\nexport default defineConfig({ sources: {} })",
      "export default defineConfig({ sources: all })",
      "export default defineConfig({ sources: {",
      "const broken = 'text",
      "",
    ]
    for (const text of texts) expect(after(text), text).toBeUndefined()
  })

  test("quotes names that are none in JavaScript", () => {
    expect(addSource("export default { sources: {} }", "js", "my-shop", shop)).toContain(
      `"my-shop": { openapi: "./shop.yaml" },`,
    )
  })
})

describe("snippets and formats", () => {
  test("a source alone is written in the language of the file", () => {
    expect(sourceSnippet("js", "shop", shop)).toBe(`shop: { openapi: "./shop.yaml" },`)
    expect(sourceSnippet("json", "shop", shop)).toBe(`"shop": { "openapi": "./shop.yaml" }`)
    expect(sourceSnippet("yaml", "shop", shop)).toBe("shop:\n  openapi: ./shop.yaml")
  })

  test("the name of a file says its language", () => {
    expect(["a.ts", "a.mjs", "a.JSON", "a.jsonc", "a.yml", "a.yaml"].map(formatOf)).toEqual([
      "js",
      "js",
      "json",
      "json",
      "yaml",
      "yaml",
    ])
  })
})
