import { Readable } from "node:stream"
import { isDeepStrictEqual } from "node:util"
import { describe, expect, test } from "vitest"
import { commandInput } from "../../../src/schema/read/sample/command-input.ts"
import { exampleInputs } from "../../../src/schema/read/sample/example-input.ts"
import { schemaTree } from "../../../console/src/read/schema/node.ts"
import { allOpen, openAtFirst, rowsOf } from "../../../console/src/read/schema/rows.ts"
import { readInput } from "../../../src/cli/input/index.ts"
import { FromOpenAPI } from "../../../src/from-openapi.ts"
import { collectErrors } from "../../../src/index.ts"
import { plainSchema } from "../../../src/schema/read/plain-schema.ts"
import type { OperationSpec } from "../../../src/core/types.ts"
import { corpusText, hasCorpus } from "../../sources/openapi/corpus.ts"

type Input = Pick<OperationSpec, "name" | "inputSchema" | "examples">

/** As the console gets them: plain JSON. */
const inputsOf = once((file): readonly Input[] =>
  importOf(file).map(({ name, inputSchema, examples }) => ({
    name,
    inputSchema: plainSchema(inputSchema) as OperationSpec["inputSchema"],
    examples,
  })),
)

const importOf = once((file) =>
  FromOpenAPI(corpusText(file), { namespace: "api", baseUrl: "https://x.test" }),
)

/** The same result each time for a file. */
function once<TResult>(make: (file: string) => TResult): (file: string) => TResult {
  const results = new Map<string, TResult>()
  return (file) => {
    const result = results.get(file) ?? make(file)
    results.set(file, result)
    return result
  }
}

function faultsOf({ inputSchema }: Input, input: unknown): readonly unknown[] {
  return collectErrors(inputSchema, input)
}

/** The words of a command line, without their quotes. */
function unquoted(words: readonly string[]): readonly string[] {
  return words.map((word) =>
    word.startsWith("'") ? word.slice(1, -1).replaceAll(`'\\''`, "'") : word,
  )
}

describe.skipIf(!hasCorpus)("the whole of a real API", () => {
  test("GitHub has a tree for every schema", () => {
    const faults: string[] = []
    for (const { name, inputSchema, outputSchema } of importOf("github.json.gz")) {
      for (const schema of [inputSchema, outputSchema].map(plainSchema)) {
        const tree = schemaTree(schema)
        const first = rowsOf(tree, openAtFirst(tree))
        const all = rowsOf(tree, allOpen(tree))
        if (all.length < Math.min(first.length, 1)) faults.push(`${name} has no rows`)
        if (all.some(({ node }) => node.facts.type === "")) faults.push(`${name} lacks a type`)
        if (new Set(all.map(({ node }) => node.key)).size !== all.length)
          faults.push(`${name} has a key twice`)
      }
    }
    expect(faults).toEqual([])
  })

  test.each(["github.json.gz", "stripe.yaml.gz", "openai.yaml.gz", "notion.json"])(
    "%s has inputs that fit, for every operation whose document shows none",
    (file) => {
      const made = inputsOf(file).filter(({ examples }) => examples === undefined)
      const wrong = made.filter((one) => faultsOf(one, exampleInputs(one)[0]).length > 0)
      expect(made.length).toBeGreaterThan(10)
      expect(wrong.map(({ name }) => name)).toEqual([])
    },
  )

  test("examples of GitHub, which lack what goes into paths, are completed", () => {
    const shown = inputsOf("github.json.gz").filter(({ examples }) => examples !== undefined)
    const wrong = shown.filter((one) => faultsOf(one, exampleInputs(one)[0]).length > 0)
    // Some show what their own schema does not allow.
    expect(shown.length).toBeGreaterThan(300)
    expect(wrong.length).toBeLessThan(10)
  })

  test("the command reads back every input of GitHub", async () => {
    const io = { stdin: Readable.from([]), cwd: "/", signal: new AbortController().signal }
    const wrong: unknown[] = []
    for (const { name, inputSchema, examples } of inputsOf("github.json.gz")) {
      for (const input of exampleInputs({ inputSchema, examples })) {
        const words = unquoted(commandInput(input, inputSchema))
        const isWhole = words[0] === "--input"
        const given = {
          arguments: isWhole ? [] : words,
          inputs: isWhole ? words.slice(1) : [],
          schema: inputSchema,
        }
        const { value, notes } = await readInput(given, io)
        const isSame = isDeepStrictEqual(value, input) && notes.length === 0
        if (!isSame) wrong.push({ name, value, notes, input })
      }
    }
    expect(wrong).toEqual([])
  })
})
