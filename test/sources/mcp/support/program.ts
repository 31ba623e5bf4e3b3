// Programs that tests start, as JavaScript with all packages in it: they start in a fraction of the time.

import { createHash } from "node:crypto"
import { existsSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs"
import { isBuiltin } from "node:module"
import { basename, dirname, join, relative, resolve } from "node:path"
import { Script } from "node:vm"
import { buildSync } from "esbuild"
import type { BuildOptions } from "esbuild"
import { root } from "../../../support/manifest.ts"

/** What a program was made of, and the file to start. */
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

/** Packages of CommonJS that modules import on demand: in a file of its own such a package has no names, only a default. */
const EXTERNAL = ["ioredis", "@nats-io/transport-node"]

const STARTER = join(import.meta.dirname, "start-program.mjs")

const made = new Map<string, string>()

/**
 * The file of JavaScript to start a program with, in a folder that is named by what is in it.
 *
 * Made when it is first asked for, and again when its sources or the installed packages have changed. A program is one
 * file that `start-program.mjs` starts. What exports something is a module, and has what it imports on demand in files of
 * its own beside it: parsing all would take longer than most programs run.
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

/** How a program is bundled. */
const SETTINGS = {
  absWorkingDir: root,
  bundle: true,
  splitting: true,
  external: EXTERNAL,
  metafile: true,
  platform: "node",
  format: "esm",
  target: "node20",
  banner: { js: REQUIRE },
  outExtension: { ".js": ".mjs" },
} as const satisfies BuildOptions

/** Bundles a program that is used once, in the folder where it is; gives the file to start. */
export function bundleBeside(entry: string): string {
  buildSync({ ...SETTINGS, entryPoints: [entry], outdir: dirname(entry) })
  return entry.replace(/\.ts$/, ".mjs")
}

function make(entry: string, record: string): string {
  const name = basename(entry, ".ts")
  const { files, inputs } = asProgram(entry) ?? asModule(entry)
  const hash = createHash("sha256")
  for (const [, contents] of files) hash.update(contents)
  const folder = join(FOLDER, `${name}-${hash.digest("hex").slice(0, 12)}`)
  const file = join(folder, `${name}.mjs`)
  const sources = inputs.filter((path) => !/(^|\/)node_modules\//.test(path))
  writeWhole(folder, files)
  const own = `${record}.${process.pid}`
  writeFileSync(own, JSON.stringify({ sources, fingerprint: fingerprintOf(sources), file }))
  renameSync(own, record)
  return file
}

type File = readonly [name: string, contents: string | Uint8Array]

/** The files of a program or module, and the paths of what they were made of. */
interface Bundle {
  readonly files: readonly File[]
  readonly inputs: readonly string[]
}

function asModule(entry: string): Bundle {
  const settings = { ...SETTINGS, entryPoints: [entry], outdir: FOLDER }
  const { outputFiles, metafile } = buildSync({ ...settings, write: false })
  const files = outputFiles.map(({ path, contents }): File => [basename(path), contents])
  return { files, inputs: Object.keys(metafile.inputs) }
}

/** `undefined` for what exports something, which only a module can. */
function asProgram(entry: string): Bundle | undefined {
  const { outputFiles, metafile } = buildSync({
    ...SETTINGS,
    splitting: false,
    external: [],
    banner: {},
    legalComments: "none",
    define: { "import.meta": "metaOfProgram" },
    entryPoints: [entry],
    outdir: FOLDER,
    write: false,
  })
  const [output] = outputFiles
  if (Object.values(metafile.outputs).some(({ exports }) => exports.length > 0)) return undefined
  const text = asFunction(output?.text ?? "")
  const starter = readFileSync(STARTER, "utf8")
  const files: File[] = [
    [`${basename(entry, ".ts")}.mjs`, starter],
    ["bundle.js", text],
    ["unused.cache", new Script(text).createCachedData()],
  ]
  return { files, inputs: Object.keys(metafile.inputs) }
}

/** The text of a module as that of a function: only a script can be started with code that was compiled before. */
function asFunction(text: string): string {
  const body = text
    .replace(/^#!.*/, "")
    .replaceAll(
      /^import (.+) from "([^"]+)";$/gm,
      (statement: string, names: string, from: string) =>
        isBuiltin(from) ? asRequire(names, from) : statement,
    )
    .replaceAll(/(?<![\w$.#])import\(/g, "importOfProgram(")
  return `(async function program(require, metaOfProgram, importOfProgram) {${body}\n})`
}

/** `a, { b as c }` or `* as d` of an import, as declarations. */
function asRequire(names: string, from: string): string {
  const [, whole = "", all = "", some = ""] =
    /^([\w$]*),? ?(?:\* as ([\w$]+))?(\{.*\})?$/.exec(names) ?? []
  return [whole, all, some.replaceAll(" as ", ": ")]
    .filter((pattern) => pattern !== "")
    .map((pattern) => `const ${pattern} = require("${from}");`)
    .join(" ")
}

/** Several test files may do this at the same time; none sees half a folder. */
function writeWhole(folder: string, files: readonly File[]): void {
  if (existsSync(folder)) return
  const own = `${folder}.${process.pid}`
  mkdirSync(own, { recursive: true })
  for (const [name, contents] of files) writeFileSync(join(own, name), contents)
  try {
    renameSync(own, folder)
  } catch (error) {
    rmSync(own, { recursive: true })
    if (!existsSync(folder)) throw error
  }
}

function readMade(record: string): Made | undefined {
  return existsSync(record) ? (JSON.parse(readFileSync(record, "utf8")) as Made) : undefined
}

/** Of all that a program is made of: the lockfile stands for the packages. */
function fingerprintOf(sources: readonly string[]): string {
  const hash = createHash("sha256")
  const makers = [import.meta.filename, STARTER].map((path) => relative(root, path))
  for (const path of [...sources, "package-lock.json", ...makers]) {
    const file = resolve(root, path)
    hash.update(path).update(existsSync(file) ? readFileSync(file) : "gone")
  }
  return hash.digest("hex")
}
