import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { afterEach, beforeEach, describe, expect, test } from "vitest"
import {
  firstDifference,
  runExamples,
  type ExampleResult,
} from "../../tools/scripts/lib/examples.ts"

describe("runExamples", () => {
  let folder: string
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), "examples-"))
    write("tsconfig.json", "{}")
  })
  afterEach(() => rmSync(folder, { recursive: true }))

  const write = (name: string, text: string): void => writeFileSync(join(folder, name), text)
  const run = async (update = false): Promise<ExampleResult[]> => {
    const results: ExampleResult[] = []
    for await (const result of runExamples({ folder, update })) results.push(result)
    return results
  }

  test("compares what each program prints with the file beside it", async () => {
    write("good.ts", 'console.log("one" satisfies string)')
    write("good.out", "one\n")
    write("other.ts", 'console.log("one\\ntwo")\nconsole.error("not compared")')
    write("other.out", "one\n2\n")
    write("fails.ts", 'throw new Error("broken")')
    write("lonely.ts", "")
    write("orphan.out", "")

    expect(await run()).toEqual([
      { name: "fails", outcome: "failed", problem: expect.stringContaining("broken") },
      { name: "good", outcome: "same" },
      { name: "lonely", outcome: "failed", problem: expect.stringContaining("--update") },
      {
        name: "other",
        outcome: "failed",
        problem: 'other.out differs, line 2: expected "2", got "two"',
      },
      { name: "orphan", outcome: "failed", problem: "orphan.out belongs to no orphan.ts." },
    ])
  })

  test("writes the output on request", async () => {
    write("a.ts", "console.log(1)")

    expect(await run(true)).toEqual([{ name: "a", outcome: "written" }])
    expect(readFileSync(join(folder, "a.out"), "utf8")).toBe("1\n")
    expect(await run()).toEqual([{ name: "a", outcome: "same" }])
  })

  test("resolves names through the folder's tsconfig.json", async () => {
    write("tsconfig.json", '{ "compilerOptions": { "paths": { "@x/y": ["./src/y.mts"] } } }')
    write("a.ts", 'import { word } from "@x/y"\nconsole.log(word)')
    write("a.out", "mapped\n")
    mkdirSync(join(folder, "src"))
    write("src/y.mts", 'export const word = "mapped"')

    expect(await run()).toEqual([{ name: "a", outcome: "same" }])
  })
})

describe("firstDifference", () => {
  test("points at the first line that is not the same", () => {
    expect(firstDifference("a\nb", "a\nb")).toBeUndefined()
    expect(firstDifference("a\nb", "a\nc")).toBe('line 2: expected "b", got "c"')
    expect(firstDifference("a\n", "a\nb\n")).toBe('line 2: expected "", got "b"')
    expect(firstDifference("a\nb", "a")).toBe('line 2: expected "b", got (the text ends here)')
    expect(firstDifference("a", "a\nb")).toBe('line 2: expected (the text ends here), got "b"')
  })
})
