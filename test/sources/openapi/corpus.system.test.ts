// Everything that is asked of each real document: it is read and imported here once for all of these questions.
import { afterAll, beforeAll, describe, expect, test } from "vitest"
import { FromOpenAPI, FromOpenAPIFile } from "../../../src/from-openapi.ts"
import type { ImportedOperation, ImportedOperations } from "../../../src/from-openapi.ts"
import { compileSchema } from "../../../src/schema/compiled.ts"
import { parseText } from "../../../src/sources/openapi/parse.ts"
import { faultsOf } from "../../typegen/compile.ts"
import { typesOf } from "../../typegen/specs.ts"
import { isNightly } from "../../support/nightly.ts"
import { callable, UNCALLABLE } from "./callable.ts"
import type { Callable } from "./callable.ts"
import { corpusEntries, corpusPath, corpusText, hasCorpus } from "./corpus.ts"
import { refusedExamples } from "./document-examples.ts"
import { goldenOf, goldenPath } from "./golden.ts"
import { deepFreeze, pointsNowhere, SchemaLaws } from "./laws.ts"

const CONFIG = { namespace: "api", baseUrl: "https://api.test/v1" }
const SAFE_NAME = /^[A-Za-z0-9_][A-Za-z0-9_-]*(?:\.[A-Za-z0-9_-]+)*$/
/** Compiling all outputs of Stripe takes a minute; ten of each document show as much. */
const SAMPLE = 10
/** Operations of a document that are called, spread over all of it: only one has more of them. */
const MAX_CALLED = isNightly ? Infinity : 1500

const entries = corpusEntries()

if (!hasCorpus) {
  // oxlint-disable-next-line no-console -- a skip that nobody notices would be worse
  console.warn(
    "The OpenAPI corpus is not there (shared/corpus/openapi beside the repository): its tests are skipped.",
  )
}

test("the corpus of real documents is there when it has to be", () => {
  expect(hasCorpus || !process.env["CI"], "CI imports the corpus; fetch it").toBe(true)
})

test.runIf(hasCorpus)("the index lists all documents and their operations", () => {
  expect(entries).toHaveLength(139)
  expect(entries.reduce((sum, { operations }) => sum + operations, 0)).toBe(19_003)
  expect(entries.filter(({ isNamed }) => isNamed)).toHaveLength(31)
})

interface Binding {
  readonly method: string
  readonly path: string
}

function bindingOf({ _meta }: ImportedOperation): Binding {
  return _meta?.["openapi"] as Binding
}

/** The types of each document, as the text of a file; written while it is imported for the other tests. */
const types = new Map<string, string>()

/** Examples of request bodies in all documents. */
let exampleCount = 0

describe.runIf(hasCorpus).each(entries)("$file", ({ file, operations: expected, isNamed }) => {
  const namespace = `api${entries.findIndex((entry) => entry.file === file)}`
  let imported: ImportedOperations = Object.assign([], { report: null as never })
  let called: Callable | undefined
  let document: Readonly<Record<string, unknown>> = {}

  beforeAll(() => {
    const text = corpusText(file)
    called = callable(text, namespace)
    imported = called.operations
    document = parseText(text).value as typeof document
  })
  afterAll(() => {
    // Several of these at once would fill the memory.
    imported = Object.assign([], { report: null as never })
    called = undefined
    document = {}
  })

  test("is read", () => {
    expect(document["paths"] ?? document["webhooks"] ?? document["components"]).toBeDefined()
  })

  test("gives every operation, and each is in the report", () => {
    const { counts, operations } = imported.report

    // What has a method that cannot be sent is listed, too.
    const unsendable = operations.filter(
      ({ status, method }) => status === "skipped" && /^trace$/i.test(method ?? ""),
    )
    expect(imported.length - counts.twins + unsendable.length).toBe(expected)
    expect(counts.kept + counts.widened).toBe(imported.length)
    expect(operations).toHaveLength(imported.length + counts.skipped)
    const unexplained = operations.filter(
      ({ status, notes }) => status !== "kept" && notes.length === 0,
    )
    expect(unexplained).toEqual([])
    const wrong = operations
      .flatMap(({ notes }) => notes)
      .filter(
        ({ pointer, message }) =>
          !pointer.startsWith("/") || pointsNowhere(document, pointer) || !message.endsWith("."),
      )
    expect(wrong).toEqual([])
  })

  test("gives each a name that is its own and safe", () => {
    const names = imported.map(({ name }) => name)

    expect(new Set(names).size).toBe(names.length)
    expect(names.filter((name) => !SAFE_NAME.test(name) || name.length > 128)).toEqual([])
  })

  test("gives closed schemas that are JSON", () => {
    const laws = new SchemaLaws()

    expect(imported.flatMap((operation) => laws.faults(operation))).toEqual([])
  })

  test("gives schemas that can check values", () => {
    const step = Math.max(1, Math.floor(imported.length / SAMPLE))
    for (let index = 0; index < imported.length; index += step) {
      const { inputSchema, outputSchema } = imported[index] as ImportedOperations[number]
      const input = compileSchema(inputSchema)
      const { required = [] } = inputSchema as { required?: readonly string[] }
      expect(input.check([])).toBe(false)
      expect(input.check({})).toBe(required.length === 0)
      expect(typeof compileSchema(outputSchema).check({})).toBe("boolean")
    }
  })

  test("accepts its own examples where plain JSON Schema does", () => {
    const { examples, refused } = refusedExamples(document, imported)
    exampleCount += examples

    expect(refused).toEqual([])
  })

  test("gives examples that are valid inputs", () => {
    const invalid = imported.filter(({ inputSchema, examples = [] }) =>
      examples.some((example) => !compileSchema(inputSchema).check(example)),
    )

    expect(invalid.map(({ name }) => name)).toEqual([])
  })

  test("imports the same from a frozen object, which stays as it was", () => {
    const before = JSON.stringify(document)

    const again = FromOpenAPI(deepFreeze(document), { ...CONFIG, namespace })

    expect(again.map(({ name, type }) => [name, type])).toEqual(
      imported.map(({ name, type }) => [name, type]),
    )
    const { counts, operations } = again.report
    expect(counts).toEqual(imported.report.counts)
    expect(JSON.stringify(operations)).toBe(JSON.stringify(imported.report.operations))
    expect(JSON.stringify(document)).toBe(before)
  })

  // The same again, twenty times the size, shows nothing more.
  test.each(isNamed && !file.startsWith("msgraph") ? [file] : [])(
    "gives names that do not depend on the order of the document",
    () => {
      const paths = Object.entries(document["paths"] as object).toReversed()
      const reversed = { ...document, paths: Object.fromEntries(paths) }
      const keysOf = (operations: ImportedOperations): string =>
        operations
          .map((operation) => {
            const { method, path } = bindingOf(operation)
            return `${operation.name} ${method} ${path}`
          })
          .toSorted()
          .join("\n")

      expect(keysOf(FromOpenAPI(reversed, { namespace }))).toBe(keysOf(imported))
    },
  )

  // Rewritten by `npx vitest run test/sources/openapi/corpus.system.test.ts -u`: a change to what is imported, seen as one.
  test.each(isNamed ? [file] : [])("gives what its golden file says, name by name", async () => {
    const allowedReferences = [corpusPath(`${file.split("/")[0]}/common/`)]
    // What is packed is one file.
    const whole = file.endsWith(".gz")
      ? imported
      : await FromOpenAPIFile(corpusPath(file), { ...CONFIG, allowedReferences })

    await expect(goldenOf(whole)).toMatchFileSnapshot(goldenPath(file))
  })

  test.each(file === "msgraph-v1.json.gz" ? [file] : [])(
    "gives outputs that come from 2XX, where that is what the document says",
    () => {
      const operations = document["paths"] as Readonly<
        Record<string, Record<string, { responses: Record<string, Record<string, unknown>> }>>
      >
      const ranged = imported.filter((operation) => {
        const { method, path } = bindingOf(operation)
        const success = operations[path]?.[method.toLowerCase()]?.responses["2XX"]
        return success?.["content"] !== undefined || success?.["$ref"] !== undefined
      })

      expect(ranged).toHaveLength(9138)
      const empty = ranged.filter(({ outputSchema }) => Object.keys(outputSchema).length === 0)
      expect(empty.map(({ name }) => name)).toEqual([])
    },
  )

  test("lets every operation that is kept be called", async () => {
    const { kept, fault } = called as Callable
    const faults: string[] = []
    const step = Math.ceil(kept.length / MAX_CALLED)
    for (const operation of kept.filter((_, at) => at % step === 0)) {
      const found = await fault(operation)
      const isKnown = UNCALLABLE.has(`${file} ${operation.name}`)
      if ((found !== undefined) !== isKnown)
        faults.push(`${operation.name} ${found ?? "can be called: take it off the list"}`)
    }

    expect(faults).toEqual([])
  })

  test("gives types", () => {
    const text = typesOf(imported)
    types.set(file, text)

    expect(text.includes(`"${namespace}.`)).toBe(imported.length > 0)
  })
})

test.runIf(hasCorpus)("real documents have examples of request bodies", () => {
  expect(exampleCount).toBe(690)
})

test.runIf(hasCorpus)(
  "types of real documents compile, all of them",
  { timeout: 240_000 },
  async () => {
    const files = [...types.values()].map((text, at): [string, string] => [
      `document${at}.d.ts`,
      text,
    ])
    expect(files).toHaveLength(entries.length)
    expect(await faultsOf(Object.fromEntries(files))).toEqual([])
  },
)

describe.runIf(hasCorpus)("documents of several files", () => {
  test.each([
    ["redocly-cafe-split/cafe.yaml", 12, []],
    ["oai-learn-petstore-separate/spec/swagger.json", 4, ["/common/Error.json"]],
  ] as const)("%s gives %d operations and all their schemas", async (file, count, outside) => {
    const allowedReferences = outside.map((path) => corpusPath(file.split("/")[0] + path))

    const operations = await FromOpenAPIFile(corpusPath(file), { ...CONFIG, allowedReferences })

    expect(operations).toHaveLength(count)
    expect(operations.report.counts).toMatchObject({ kept: count, widened: 0, skipped: 0 })
    expect(operations.report.warnings).toEqual([])
    const laws = new SchemaLaws()
    expect(operations.flatMap((operation) => laws.faults(operation))).toEqual([])
  })

  test("the café in many files is the café in one", async () => {
    const split = await FromOpenAPIFile(corpusPath("redocly-cafe-split/cafe.yaml"), CONFIG)
    const whole = await FromOpenAPIFile(corpusPath("redocly-3.2/cafe.yaml"), CONFIG)

    expect(split.map(({ name, type }) => [name, type])).toEqual(
      whole.map(({ name, type }) => [name, type]),
    )
    expect(split.map(({ _meta }) => _meta)).toEqual(whole.map(({ _meta }) => _meta))
  })

  test("what lies outside of the document's folder is not read, and the report says how to allow it", async () => {
    const file = corpusPath("oai-learn-petstore-separate/spec/swagger.json")

    const { report } = await FromOpenAPIFile(file, CONFIG)

    expect(report.counts).toMatchObject({ kept: 4, widened: 0, skipped: 0, widenedErrors: 4 })
    expect(String(report)).toContain("allowedReferences")
  })
})
