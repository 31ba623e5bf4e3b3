import { createHash } from "node:crypto"
import { describe, expect, test } from "vitest"
import { FromOpenAPIFile, FromOpenAPI } from "../../../src/from-openapi.ts"
import type { ImportedOperation, ImportedOperations } from "../../../src/from-openapi.ts"
import { corpusEntries, corpusPath, corpusText, hasCorpus } from "./corpus.ts"

/** A document of more operations has a digest in its golden file, and some of its lines. */
const WHOLE = 300
const SHOWN = 160

const named = corpusEntries().filter(({ isNamed }) => isNamed)

// Rewritten by `npx vitest run test/sources/openapi/golden.test.ts -u`: a change to what is imported, seen as one.
describe.runIf(hasCorpus)("what the named documents give, name by name", () => {
  test.each(named)("$file", async ({ file }) => {
    const name = file.replace(/\.(?:json|ya?ml)(?:\.gz)?$/, "").replaceAll("/", "__")

    await expect(goldenOf(await importFile(file))).toMatchFileSnapshot(`golden/${name}.txt`)
  })
})

async function importFile(file: string): Promise<ImportedOperations> {
  const config = { namespace: "api", baseUrl: "https://api.test" }
  // What is packed is one file.
  if (file.endsWith(".gz")) return FromOpenAPI(corpusText(file), config)
  const allowedReferences = [corpusPath(`${file.split("/")[0]}/common/`)]
  return await FromOpenAPIFile(corpusPath(file), { ...config, allowedReferences })
}

function goldenOf(operations: ImportedOperations): string {
  const { counts, warnings } = operations.report
  const lines = operations.map(lineOf)
  const isWhole = lines.length <= WHOLE
  const step = Math.max(50, Math.ceil(lines.length / SHOWN))
  const head = [
    `operations ${operations.length}`,
    ...Object.entries(counts).map(([status, count]) => `${status} ${count}`),
    ...["query", "mutation", "subscription"].map(
      (type) => `${type} ${operations.filter((operation) => operation.type === type).length}`,
    ),
    ...warnings.map((warning) => `warning ${warning}`),
  ]
  if (!isWhole) head.push(`sha256 ${createHash("sha256").update(lines.join("\n")).digest("hex")}`)
  const shown = isWhole ? lines : lines.filter((_, index) => index % step === 0)
  return `${[...head, "", ...shown].join("\n").trimEnd()}\n`
}

function lineOf({ name, type, _meta = {} }: ImportedOperation): string {
  const { method, path } = _meta["openapi"] as { method: string; path: string }
  return `${name} ${type} ${method} ${path}`
}
