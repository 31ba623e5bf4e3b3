import { readdirSync } from "node:fs"
import { join } from "node:path"
import { root } from "./manifest.ts"

/**
 * Tests that CI runs without measuring coverage.
 *
 * Folders and files whose code runs in other processes, and files that repeat what shorter ones run, a thousand times.
 */
const UNCOVERED: readonly string[] = [
  "test/architecture.test.ts",
  "test/cli/bin.test.ts",
  "test/cli/prompt/terminal.test.ts",
  "test/console/e2e/",
  "test/console/read/corpus.test.ts",
  "test/console/read/snippets-run.test.ts",
  "test/demo/",
  "test/docs.test.ts",
  "test/e2e/",
  "test/fuzz/",
  "test/migration/",
  "test/package/",
  "test/policy/laws.test.ts",
  "test/scripts/",
  "test/serve/http/load.test.ts",
  "test/sources/mcp/attacks/leftovers.test.ts",
  "test/sources/mcp/interop/",
  "test/sources/mcp/stdio/reaper.test.ts",
  "test/sources/openapi/callable.test.ts",
  "test/sources/openapi/corpus.test.ts",
  "test/sources/openapi/fuzz.test.ts",
  "test/transport/bus/simulation-more.test.ts",
  "test/transport/exit.test.ts",
  "test/typegen/documents.test.ts",
  "test/types/",
]

/** The files of both parts of the tests, by their paths; each is in one of them. */
export function testParts(): { readonly covered: string[]; readonly uncovered: string[] } {
  const files = readdirSync(join(root, "test"), { recursive: true, encoding: "utf8" })
    .map((file) => `test/${file.replaceAll("\\", "/")}`)
    .filter((file) => file.endsWith(".test.ts"))
  const unknown = UNCOVERED.filter((path) => !files.some((file) => file.startsWith(path)))
  if (unknown.length > 0) throw new Error(`There are no tests at ${unknown.join(", ")}.`)
  const isUncovered = (file: string): boolean => UNCOVERED.some((path) => file.startsWith(path))
  return {
    covered: files.filter((file) => !isUncovered(file)),
    uncovered: files.filter(isUncovered),
  }
}
