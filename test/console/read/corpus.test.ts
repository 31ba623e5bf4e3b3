import { Readable } from "node:stream"
import { describe, expect, test } from "vitest"
import { commandInput } from "../../../console/src/read/snippets/command-input.ts"
import { exampleInputs } from "../../../console/src/read/snippets/example-input.ts"
import { schemaTree } from "../../../console/src/read/schema/node.ts"
import { allOpen, openAtFirst, rowsOf } from "../../../console/src/read/schema/rows.ts"
import { readInput } from "../../../src/cli/input/index.ts"
import { FromOpenAPI } from "../../../src/from-openapi.ts"
import type { ImportedOperations } from "../../../src/from-openapi.ts"
import { collectErrors } from "../../../src/index.ts"
import { plainSchema } from "../../../src/schema/read/plain-schema.ts"
import type { OperationSpec } from "../../../src/core/types.ts"
import { corpusText, hasCorpus } from "../../sources/openapi/corpus.ts"

type Input = Pick<OperationSpec, "name" | "inputSchema" | "examples">

/** As the console gets them: plain JSON. */
function inputsOf(file: string): readonly Input[] {
  return importOf(file).map(({ name, inputSchema, examples }) => ({
    name,
    inputSchema: plainSchema(inputSchema) as OperationSpec["inputSchema"],
    examples,
  }))
}

const imported = new Map<string, ImportedOperations>()

function importOf(file: string): ImportedOperations {
  let found = imported.get(file)
  if (found === undefined) {
    found = FromOpenAPI(corpusText(file), { namespace: "api", baseUrl: "https://x.test" })
    imported.set(file, found)
  }
  return found
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
    for (const operation of importOf("github.json.gz")) {
      for (const schema of [operation.inputSchema, operation.outputSchema].map(plainSchema)) {
        const tree = schemaTree(schema)
        const first = rowsOf(tree, openAtFirst(tree))
        const all = rowsOf(tree, allOpen(tree))
        expect(all.length).toBeGreaterThanOrEqual(Math.min(first.length, 1))
        expect(all.filter(({ node }) => node.facts.type === "")).toEqual([])
        expect(new Set(all.map(({ node }) => node.key)).size).toBe(all.length)
      }
    }
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
        expect({ name, value, notes }).toEqual({ name, value: input, notes: [] })
      }
    }
  })
})
