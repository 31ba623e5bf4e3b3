// Programs that tests start, each as one file of JavaScript: they start in a fraction of the time.

import { createHash } from "node:crypto"
import { existsSync, mkdirSync, renameSync, writeFileSync } from "node:fs"
import { basename, join, resolve } from "node:path"
import { buildSync } from "esbuild"

// Below `node_modules`, so that the program finds the packages.
const FOLDER = resolve(import.meta.dirname, "../../../../node_modules/.cache/operations-tests")

const made = new Map<string, string>()

/** Where a program is as a file of JavaScript; made when it is first asked for, named by what is in it. */
export function program(entry: string): string {
  const known = made.get(entry)
  if (known !== undefined) return known
  const { outputFiles } = buildSync({
    entryPoints: [entry],
    bundle: true,
    write: false,
    platform: "node",
    format: "esm",
    target: "node20",
    packages: "external",
  })
  const code = outputFiles[0]?.text ?? ""
  const hash = createHash("sha256").update(code).digest("hex").slice(0, 12)
  const file = join(FOLDER, `${basename(entry, ".ts")}-${hash}.mjs`)
  if (!existsSync(file)) {
    mkdirSync(FOLDER, { recursive: true })
    // Several test files may do this at the same time; none sees half a file.
    const own = `${file}.${process.pid}`
    writeFileSync(own, code)
    renameSync(own, file)
  }
  made.set(entry, file)
  return file
}
