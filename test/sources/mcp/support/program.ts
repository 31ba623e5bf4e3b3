// Programs that tests start, each as one file of JavaScript with all packages in it: they start in a fraction of the time.

import { createHash } from "node:crypto"
import { existsSync, mkdirSync, readFileSync, renameSync, writeFileSync } from "node:fs"
import { basename, join, relative, resolve } from "node:path"
import { buildSync } from "esbuild"
import { root } from "../../../support/manifest.ts"

/** What a program was made of, and the file that it is in. */
interface Made {
  /** Paths in the repository, without those of installed packages. */
  readonly sources: readonly string[]
  /** Of the text of the sources. */
  readonly fingerprint: string
  readonly file: string
}

// Below `node_modules`, so that the program finds packages that it loads by a computed name.
const FOLDER = join(root, "node_modules/.cache/operations-tests")

/** Packages of CommonJS ask for modules of Node with `require`. */
const REQUIRE = `import { createRequire as createRequireOfProgram } from "node:module"
const require = createRequireOfProgram(import.meta.url)`

const made = new Map<string, string>()

/**
 * Where a program is as a file of JavaScript, named by what is in it.
 *
 * Made when it is first asked for, and again when its sources or the installed packages have changed.
 */
export function program(entry: string): string {
  const known = made.get(entry)
  if (known !== undefined) return known
  const name = relative(root, entry).replaceAll(/[^\w-]+/g, "_")
  const record = join(FOLDER, `${name}.json`)
  const kept = readMade(record)
  const isCurrent =
    kept !== undefined && existsSync(kept.file) && fingerprintOf(kept.sources) === kept.fingerprint
  const file = isCurrent ? kept.file : make(entry, record)
  made.set(entry, file)
  return file
}

function make(entry: string, record: string): string {
  const { outputFiles, metafile } = buildSync({
    entryPoints: [entry],
    absWorkingDir: root,
    bundle: true,
    write: false,
    metafile: true,
    platform: "node",
    format: "esm",
    target: "node20",
    banner: { js: REQUIRE },
  })
  const code = outputFiles[0]?.text ?? ""
  const hash = createHash("sha256").update(code).digest("hex").slice(0, 12)
  const file = join(FOLDER, `${basename(entry, ".ts")}-${hash}.mjs`)
  const sources = Object.keys(metafile.inputs).filter((path) => !/(^|\/)node_modules\//.test(path))
  mkdirSync(FOLDER, { recursive: true })
  writeWhole(file, code)
  writeWhole(record, JSON.stringify({ sources, fingerprint: fingerprintOf(sources), file }))
  return file
}

/** Several test files may do this at the same time; none sees half a file. */
function writeWhole(path: string, text: string): void {
  const own = `${path}.${process.pid}`
  writeFileSync(own, text)
  renameSync(own, path)
}

function readMade(record: string): Made | undefined {
  return existsSync(record) ? (JSON.parse(readFileSync(record, "utf8")) as Made) : undefined
}

/** Of all that a program is made of: the lockfile stands for the packages. */
function fingerprintOf(sources: readonly string[]): string {
  const hash = createHash("sha256")
  for (const path of [...sources, "package-lock.json", relative(root, import.meta.filename)]) {
    const file = resolve(root, path)
    hash.update(path).update(existsSync(file) ? readFileSync(file) : "gone")
  }
  return hash.digest("hex")
}
