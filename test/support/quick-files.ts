import { readdirSync, readFileSync } from "node:fs"
import { dirname, join, relative, resolve } from "node:path"
import { LONG_TESTS } from "./long-tests.ts"
import { root } from "./manifest.ts"

/** What a file mentions that starts a process, or has a package start one. */
const STARTS_PROCESS =
  /"node:child_process"|process\.execPath|StdioClientTransport|"playwright-core"|"esbuild"|"vite"/

/** An import of a file that is not erased on build. */
const IMPORT = /^(?:import|export)(?! type\b)[^"]* from "(\.[^"]+\.ts)"/gm

/** Tests of sources that start one: Node finds the mistake in a script. */
const INDIRECT: readonly string[] = ["test/hub/config-file/script-in-process.test.ts"]

/** Test files that `npm run test:quick` leaves out, by their paths: those that start processes or take long. */
export function slowTestFiles(): string[] {
  const files = readdirSync(join(root, "test"), { recursive: true, encoding: "utf8" })
    .filter((file) => file.endsWith(".test.ts"))
    .map((file) => join(root, "test", file))
  const known = new Map<string, boolean>()
  return files
    .filter((file) => startsProcess(file, known))
    .map((file) => relative(root, file).replaceAll("\\", "/"))
    .concat(INDIRECT, LONG_TESTS)
}

/** Whether a file starts processes, or imports one outside of `src` that does. */
function startsProcess(file: string, known: Map<string, boolean>): boolean {
  const before = known.get(file)
  if (before !== undefined) return before
  // Two files that import each other ask about each other.
  known.set(file, false)
  const text = readFileSync(file, "utf8")
  const starts =
    STARTS_PROCESS.test(text) ||
    [...text.matchAll(IMPORT)]
      .map(([, specifier = ""]) => resolve(dirname(file), specifier))
      .filter((path) => !path.startsWith(join(root, "src")))
      .some((path) => startsProcess(path, known))
  known.set(file, starts)
  return starts
}
