import { existsSync, readdirSync, readFileSync } from "node:fs"
import { dirname, join, relative, resolve, sep } from "node:path"
import { fileURLToPath } from "node:url"
import { Meta } from "typebox/schema"

/** One schema of the official suite and the values to try on it. */
export interface SuiteGroup {
  readonly file: string
  readonly description: string
  readonly schema: unknown
  readonly tests: ReadonlyArray<{
    readonly description: string
    readonly data: unknown
    readonly valid: boolean
  }>
}

/** The official suite lies beside the repository: it is large, and nothing of it is published. */
const suiteRoot = resolve(
  dirname(fileURLToPath(import.meta.url)),
  "../../../shared/corpus/json-schema-test-suite",
)

export const hasSuite: boolean = existsSync(suiteRoot)

/** The required tests of one draft. */
export function suiteGroups(draft: string): SuiteGroup[] {
  const folder = join(suiteRoot, "tests", draft)
  return readdirSync(folder)
    .filter((file) => file.endsWith(".json"))
    .toSorted()
    .flatMap((file) => {
      const groups = readJson(join(folder, file)) as Array<Omit<SuiteGroup, "file">>
      return groups.map((group) => ({ ...group, file }))
    })
}

/** The documents that tests refer to, by URI: the suite's own server, and the meta-schemas. */
export function suiteDocuments(): Record<string, unknown> {
  const folder = join(suiteRoot, "remotes")
  const documents: Record<string, unknown> = { ...Meta }
  for (const entry of readdirSync(folder, { recursive: true, withFileTypes: true })) {
    if (!entry.name.endsWith(".json")) continue
    const path = join(entry.parentPath, entry.name)
    const uri = `http://localhost:1234/${relative(folder, path).split(sep).join("/")}`
    documents[uri] = readJson(path)
  }
  return documents
}

function readJson(path: string): unknown {
  return JSON.parse(readFileSync(path, "utf8"))
}
