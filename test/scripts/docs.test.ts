import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { afterAll, beforeAll, describe, expect, test } from "vitest"
import {
  checkDocument,
  extractRegion,
  headingAnchors,
  relativeLinks,
} from "../../tools/scripts/lib/docs.ts"

const EXAMPLE = [
  'import { run } from "x"',
  "",
  "// #region all",
  "export function main(): void {",
  "  // #region call",
  "  run({",
  "    a: 1,",
  "  })",
  "  // #endregion",
  "}",
  "// #endregion all",
  "",
].join("\n")

describe("checkDocument", () => {
  let root: string
  beforeAll(() => {
    root = mkdtempSync(join(tmpdir(), "docs-"))
    mkdirSync(join(root, "examples"))
    mkdirSync(join(root, "docs"))
    writeFileSync(join(root, "examples/x.ts"), EXAMPLE)
    writeFileSync(join(root, "examples/x.out"), "one\n\ntwo\n")
    writeFileSync(join(root, "docs/guide.md"), "# Guide\n\n## Part\n")
  })
  afterAll(() => rmSync(root, { recursive: true }))

  const page = (...lines: string[]): string => lines.join("\n")
  const faults = (text: string, path = "README.md"): string[] =>
    checkDocument(root, path, text).issues.map(({ line, message }) => `${line}: ${message}`)

  test("accepts blocks that equal their file, region or output", () => {
    const text = page(
      "# Title",
      "```ts file=examples/x.ts#call",
      "run({",
      "  a: 1,",
      "})",
      "```",
      "```text out=examples/x.out",
      "one",
      "",
      "two",
      "```",
      "- in a list:",
      "  ```ts file=examples/x.ts #call",
      "  run({",
      "    a: 1,",
      "  })",
      "  ```",
      "```ts",
      "anything",
      "```",
    )

    expect(checkDocument(root, "README.md", text)).toEqual({ issues: [], updated: text })
  })

  test("shows a whole file without its region marks", () => {
    const text = page("```ts file=examples/x.ts", "old", "```", "after")

    const { issues: found, updated } = checkDocument(root, "README.md", text)

    expect(found).toEqual([{ line: 1, message: "differs from examples/x.ts" }])
    expect(updated).toBe(
      page(
        "```ts file=examples/x.ts",
        'import { run } from "x"',
        "",
        "export function main(): void {",
        "  run({",
        "    a: 1,",
        "  })",
        "}",
        "```",
        "after",
      ),
    )
    expect(checkDocument(root, "README.md", updated).issues).toEqual([])
  })

  test("names a file, a region or a closing fence that is missing, and keeps the text", () => {
    const text = page(
      "```ts file=examples/no.ts",
      "kept",
      "```",
      "```ts file=examples/x.ts#no",
      "kept",
      "```",
      "```ts",
      "open",
    )

    expect(faults(text)).toEqual([
      '1: shows "examples/no.ts", which does not exist',
      '4: shows the region "no" of examples/x.ts, which has none of that name',
      "7: opens a code block that is never closed",
    ])
    expect(checkDocument(root, "README.md", text).updated).toBe(text)
  })

  test("follows relative links from the page, not those inside code", () => {
    expect(faults("[a](docs/guide.md#part) [b](docs/none.md) `[c](none.md)`")).toEqual([
      '1: links to "docs/none.md", which does not exist',
    ])
    expect(faults("[up](../README.txt) [x](../examples/x.ts)", "docs/guide.md")).toEqual([
      '1: links to "../README.txt", which does not exist',
    ])
    expect(faults("[a](none.png?x#y)")).toEqual(['1: links to "none.png", which does not exist'])
    expect(faults("````md\n[a](none.md)\n```\n[b](none.md)\n```\n````\n")).toEqual([])
  })

  test("checks that anchors are headings of the page they point to", () => {
    const text = page(
      "# Title",
      "[a](#title) [b](#gone) [c](docs/guide.md#gone)",
      "[d](examples/x.ts#L3)",
    )

    expect(faults(text)).toEqual([
      '2: links to "#gone", but there is no such heading',
      '2: links to "docs/guide.md#gone", but there is no such heading',
    ])
    expect(faults("[part](#part)", "docs/guide.md")).toHaveLength(1)
    expect(faults("## Part\n[part](#part)", "docs/guide.md")).toEqual([])
  })
})

describe("headingAnchors", () => {
  test("are lower-case words with hyphens, numbered when repeated", () => {
    const text = [
      "# What's `new` in [2.0](x.md)?",
      "## Part",
      "```md",
      "## Code",
      "```",
      "## Part",
      "#no heading",
    ].join("\n")

    expect([...headingAnchors(text)]).toEqual(["whats-new-in-20", "part", "part-1"])
  })
})

describe("extractRegion", () => {
  test("takes nested regions without their marks and without the shared indent", () => {
    expect(extractRegion(EXAMPLE, "all")).toBe(
      "export function main(): void {\n  run({\n    a: 1,\n  })\n}",
    )
    expect(extractRegion(EXAMPLE, "call")).toBe("run({\n  a: 1,\n})")
  })

  test("returns undefined for a region that is unknown or never ends", () => {
    expect(extractRegion(EXAMPLE, "none")).toBeUndefined()
    expect(extractRegion("// #region a\nx()", "a")).toBeUndefined()
  })
})

describe("relativeLinks", () => {
  test("finds links, images and definitions that are files", () => {
    expect(relativeLinks('[a](./a.md "title") ![b](b.png) [c](<c.md>)')).toEqual([
      "./a.md",
      "b.png",
      "c.md",
    ])
    expect(relativeLinks("[d]: d.md?y#x")).toEqual(["d.md#x"])
    expect(relativeLinks("[e](https://x.dev/y#z) [f](#g) [h](mailto:a@b.c)")).toEqual(["#g"])
  })
})
