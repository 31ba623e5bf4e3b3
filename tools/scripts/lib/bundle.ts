import { readdir, readFile, rm, writeFile } from "node:fs/promises"
import { dirname, join, relative, resolve, sep } from "node:path"
import { build, transform } from "esbuild"
import { rolldown } from "rolldown"
import type { InputOptions, OutputChunk, Plugin, RolldownOutput } from "rolldown"
import { licences } from "./licences.ts"

/** What to bundle, from the folder `dist` that the compiler wrote. */
export interface BundleTargets {
  /** The entries of the package, by their names in `dist`: `to-http` is `dist/to-http.js`. */
  readonly entries: readonly string[]
  /** Entries for Node alone, which are not kept as modules. */
  readonly nodeOnly: readonly string[]
  readonly programs: readonly string[]
  /** Inputs that share nothing with the others: each is one file. */
  readonly standalone: readonly string[]
  /** Inputs that load fast: each has what it needs in one chunk, and the later ones use those of the earlier ones. */
  readonly small: Readonly<Record<string, readonly string[]>>
  /** Other inputs by subject. Modules that the same subjects need are in one chunk. */
  readonly subjects: Readonly<Record<string, readonly string[]>>
  /** Packages that are part of ours, by the beginnings of their modules' names. */
  readonly vendored: readonly string[]
  /** Packages that the application installs, if it uses what needs them. */
  readonly external: readonly string[]
}

/**
 * Makes two forms of the package. Node gets `dist/bundle`: few files, because each costs a millisecond, with TypeBox
 * inside. Bundlers get the modules as the compiler wrote them, because they remove from these most of what a page does not
 * use.
 */
export async function bundlePackage(root: string, targets: BundleTargets): Promise<void> {
  const dist = join(root, "dist")
  const bundle = join(dist, "bundle")
  await rm(bundle, { recursive: true, force: true })
  const { entries, programs, standalone, nodeOnly } = targets
  const options = (names: readonly string[]) => optionsFor(root, names, targets.external)
  const shared = options([...entries, ...programs].filter((name) => !standalone.includes(name)))
  const plan = await (await rolldown(shared)).generate()
  const chunkOf = chunkNames(plan, targets)
  const output = { dir: bundle, chunkFileNames: "chunks/[name]-[hash].js", minify: MINIFY } as const
  const outputs = [
    await (
      await rolldown(shared)
    ).write({
      ...output,
      codeSplitting: { groups: [{ name: chunkOf }], includeDependenciesRecursively: false },
    }),
  ]
  for (const name of standalone) {
    outputs.push(await (await rolldown(options([name]))).write(output))
  }
  const copied = await vendor(root, targets.vendored)
  const modules = entries.filter((name) => !nodeOnly.includes(name))
  const kept = new Set([
    ...(await reachable(modules.map((name) => join(dist, `${name}.js`)))),
    ...(await reachable(entries.map((name) => join(dist, `${name}.d.ts`)))),
  ])
  for (const file of await emittedBelow(dist)) if (!kept.has(file)) await rm(file)
  for (const name of programs) {
    const up = "../".repeat(name.split("/").length - 1)
    const program = `#!/usr/bin/env node\nimport "${up || "./"}bundle/${name}.js"\n`
    await writeFile(join(dist, `${name}.js`), program)
  }
  const used = outputs.flatMap((built) => chunksOf(built).flatMap(({ moduleIds }) => moduleIds))
  await writeFile(
    join(dist, "THIRD-PARTY-LICENSES.txt"),
    await licences(root, [...used, ...copied]),
  )
}

/** Functions and classes keep their names, for the stacks of errors. */
const MINIFY = {
  compress: true,
  mangle: { toplevel: false },
  codegen: { removeWhitespace: false },
} as const

/**
 * Removes whitespace but keeps lines short: Node prints the line of an error that no one catches, above its message. V8 takes
 * twice as long for a file with a single character beyond Latin-1, and twice the memory: esbuild writes ASCII.
 */
const shortLines: Plugin = {
  name: "short-lines",
  async generateBundle(_options, files) {
    for (const file of Object.values(files)) {
      if (file.type !== "chunk") continue
      // esbuild removes comments. Those in an import tell bundlers to leave it alone.
      const marked = file.code.replaceAll(
        /(?:\/\* (?:@vite-i|webpackI)gnore[^*]*\*\/\s*)+/g,
        "__alone__+",
      )
      const short = await transform(marked, { minifyWhitespace: true, lineLimit: 120 })
      const code = short.code.replaceAll(
        /__alone__\s*\+/g,
        "/* @vite-ignore */ /* webpackIgnore: true */ ",
      )
      // Within a pattern, esbuild leaves them as they are.
      file.code = code.replace(
        /[\u0080-\uFFFF]/g,
        (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`,
      )
    }
  },
}

function optionsFor(
  root: string,
  names: readonly string[],
  packages: readonly string[],
): InputOptions {
  return {
    cwd: root,
    input: Object.fromEntries(names.map((name) => [name, join(root, "dist", `${name}.js`)])),
    platform: "node",
    external: (id) =>
      id.startsWith("node:") || packages.some((name) => `${id}/`.startsWith(`${name}/`)),
    // Licences are found by file names before links are followed.
    resolve: { symlinks: false },
    preserveEntrySignatures: "allow-extension",
    plugins: [shortLines],
    logLevel: "silent",
  }
}

/** The name of the chunk for a module; nothing for inputs, and for what is imported on demand only. */
function chunkNames(plan: RolldownOutput, targets: BundleTargets): (id: string) => string | null {
  const isInput = new Set(
    chunksOf(plan).flatMap(({ facadeModuleId, isEntry }) => (isEntry && facadeModuleId) || []),
  )
  const sets = (groups: BundleTargets["subjects"]): [string, Set<string>][] =>
    Object.entries(groups).map(([name, inputs]) => [
      name,
      new Set(inputs.flatMap((input) => modulesOf(plan, `${input}.js`))),
    ])
  const [small, subjects] = [sets(targets.small), sets(targets.subjects)]
  return (id) => {
    if (isInput.has(id)) return null
    const first = small.find(([, modules]) => modules.has(id))?.[0]
    if (first !== undefined) return first
    const names = subjects.filter(([, modules]) => modules.has(id)).map(([name]) => name)
    return names.length === 0 ? null : names.join("-")
  }
}

/** The modules that a file loads at once. */
function modulesOf(built: RolldownOutput, file: string): string[] {
  const files = new Set([file])
  const chunks = new Map(chunksOf(built).map((chunk) => [chunk.fileName, chunk]))
  // A set that grows while it is walked is walked to its end.
  for (const one of files) for (const path of chunks.get(one)?.imports ?? []) files.add(path)
  return [...files].flatMap((one) => chunks.get(one)?.moduleIds ?? [])
}

function chunksOf({ output }: RolldownOutput): OutputChunk[] {
  return output.filter((file) => file.type === "chunk")
}

/** Copies what modules import from packages that are part of ours to `dist/vendor`, and imports it from there. */
async function vendor(root: string, packages: readonly string[]): Promise<string[]> {
  if (packages.length === 0) return []
  const dist = join(root, "dist")
  const names = new Map<string, Set<string>>()
  const imports = new RegExp(
    `(?<=^(?:im|ex)port \\{)([^}]*)(\\} from ")((?:${packages.join("|")})[^"]*)(?=")`,
    "gm",
  )
  for (const file of await emittedBelow(dist)) {
    if (!file.endsWith(".js")) continue
    const text = await readFile(file, "utf8")
    const changed = text.replace(imports, (_all, list: string, from: string, specifier: string) => {
      const used = names.get(specifier) ?? new Set()
      names.set(specifier, used)
      for (const [, name = ""] of list.matchAll(/([\w$]+)(?: as [\w$]+)?\s*(?:,|$)/g))
        used.add(name)
      const path = relative(dirname(file), join(dist, vendorFile(specifier)))
      return `${list}${from}${path.startsWith(".") ? "" : "./"}${path.replaceAll(sep, "/")}`
    })
    if (changed !== text) await writeFile(file, changed)
  }
  const files: string[] = []
  for (const [specifier, used] of names) {
    const contents = `export { ${[...used].join(", ")} } from ${JSON.stringify(specifier)}`
    const { metafile } = await build({
      stdin: { contents, resolveDir: root },
      absWorkingDir: root,
      outfile: join(dist, vendorFile(specifier)),
      bundle: true,
      format: "esm",
      platform: "neutral",
      mainFields: ["module", "main"],
      preserveSymlinks: true,
      metafile: true,
    })
    files.push(...Object.keys(metafile.inputs))
  }
  return files
}

function vendorFile(specifier: string): string {
  return `vendor/${specifier.replace(/^@|\.js$/g, "").replaceAll("/", "-")}.js`
}

/** The modules or declarations that some of them refer to. */
async function reachable(entries: readonly string[]): Promise<ReadonlySet<string>> {
  const files = new Set(entries)
  // A set that grows while it is walked is walked to its end.
  for (const file of files) {
    const text = await readFile(file, "utf8").catch(() => "")
    for (const [, path = ""] of text.matchAll(/(?:from |import\(|import )"(\.{1,2}\/[^"]+)"/g)) {
      files.add(resolve(dirname(file), path.replace(/(?<!\.d)\.ts$/, ".d.ts")))
    }
  }
  return files
}

/** The files that the compiler wrote. */
async function emittedBelow(dist: string): Promise<string[]> {
  const entries = await readdir(dist, { recursive: true, withFileTypes: true })
  return entries
    .filter((entry) => entry.isFile() && /\.(?:js|d\.ts)$/.test(entry.name))
    .map((entry) => join(entry.parentPath, entry.name))
    .filter((file) => !/^(?:bundle|console)[\\/]/.test(relative(dist, file)))
}
