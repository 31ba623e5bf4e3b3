import { existsSync, readdirSync, readFileSync } from "node:fs"
import { beforeAll, describe, expect, test } from "vitest"
import { compileSnippets } from "./compile.ts"
import type { Complaint } from "./compile.ts"
import { snippetsIn } from "./snippets.ts"

const PAGE = new URL("../../docs/guides/migration.md", import.meta.url)
const ORIGINAL = new URL("../../../shared/seeds/", import.meta.url)
const page = readFileSync(PAGE, "utf8")
const documents = existsSync(ORIGINAL)
  ? readdirSync(ORIGINAL).map((file) => readFileSync(new URL(file, ORIGINAL), "utf8"))
  : []

/** What the compiler says about the page's program, about fixtures, and about snippets of the original design. */
let ofPage: Complaint[]
let ofFixtures: Complaint[][]
let ofOriginal: Complaint[][]

const FIXTURES = [
  "function unwrap<T>(envelope: ResponseEnvelope<T>): T",
  "function unwrap<T>(envelope: ResponseEnvelope<T>): number",
  "interface ScannerFS { readdir(path: string): string[] }",
  `import { Value } from "elsewhere"`,
  "registry.exceute()",
  `handler: (input, context) => context.call("a.b", {})`,
]

// One compilation for all: most of it is reading the package.
beforeAll(() => {
  // The page's blocks are parts of one program.
  const blocks = snippetsIn(page.replaceAll(/^```ts .*$/gm, "```ts")).map(({ code }) => code)
  const original = documents.flatMap((document) => snippetsIn(document)).map(({ code }) => code)
  const found = compileSnippets([blocks.join("\n"), ...FIXTURES, ...original])
  ofPage = found[0] ?? []
  ofFixtures = found.slice(1, FIXTURES.length + 1)
  ofOriginal = found.slice(FIXTURES.length + 1)
}, 240_000)

describe("the guide to migrating from the original design", () => {
  test("shows code that compiles", () => {
    expect(page.match(/^```ts file=/gm)).toHaveLength(3)
    expect(ofPage).toEqual([])
  })

  test("gives a replacement and a reason for each change", () => {
    const rows = changes()

    expect(rows.length).toBeGreaterThan(30)
    expect(rows.filter((cells) => cells.length !== 3 || cells.includes(""))).toEqual([])
  })

  test.runIf(documents.length > 0)("lists each name whose original code does not compile", () => {
    const listed = new Set(changes().flatMap(([original = ""]) => namesIn(original)))
    const missing = ofOriginal.flat().filter(({ name }) => !listed.has(name))

    expect(ofOriginal.length).toBeGreaterThan(30)
    expect(ofOriginal.flat()).not.toEqual([])
    expect(missing).toEqual([])
  })

  test.runIf(documents.length > 0)("repeats no sentence of the original", () => {
    const words = (text: string): string[] => text.toLowerCase().match(/[a-z]+/g) ?? []
    const runs = (all: string[]): string[] =>
      all.map((_, at) => all.slice(at, at + 8).join(" ")).slice(0, -7)
    const known = new Set(documents.flatMap((document) => runs(words(document))))

    expect(runs(words(page)).filter((run) => known.has(run))).toEqual([])
  })
})

describe("snippets of a document", () => {
  test("are found in fences and, without them, by their brackets", () => {
    const document = [
      "Text, then code:",
      "interface Box {",
      "size: number",
      "}",
      "More text.",
      "```ts",
      "const box = { size: 1 }",
      "```",
      "```sh",
      "npm install",
      "```",
      "function open(box: Box): void",
    ].join("\n")

    expect(snippetsIn(document)).toEqual([
      { line: 2, code: "interface Box {\nsize: number\n}" },
      { line: 6, code: "const box = { size: 1 }" },
      { line: 12, code: "function open(box: Box): void" },
    ])
  })

  test("are held against what the package exports", () => {
    const names = ofFixtures.map((found) => found.map(({ name }) => name))

    expect(names).toEqual([[], ["unwrap"], ["ScannerFS"], ["elsewhere"], ["exceute"], []])
  })
})

/** The rows of the page's tables: what was, what is, why. */
function changes(): string[][] {
  return page
    .split("\n")
    .filter((line) => line.startsWith("| ") && !/^\| (?:original design|-)/.test(line))
    .map((line) =>
      line
        .slice(1, -1)
        .split(" | ")
        .map((cell) => cell.trim()),
    )
}

/** The names in the code of a cell. */
function namesIn(cell: string): string[] {
  const code = [...cell.matchAll(/`([^`]+)`/g)].map(([, text = ""]) => text)
  return code.flatMap((text) => (text.startsWith("@") ? [text] : (text.match(/\w+/g) ?? [])))
}
