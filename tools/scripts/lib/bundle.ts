import { build } from "esbuild"
import type { BuildOptions, Plugin } from "esbuild"
import { cp, readdir, readFile, rm, writeFile } from "node:fs/promises"
import { dirname, join, relative, resolve, sep } from "node:path"
import { licences } from "./licences.ts"
import { pureConstants } from "./pure-constants.ts"
import {
  addImports,
  copyOnDemand,
  importsOfWholeChunks,
  rootsOf,
  smallSharedModules,
} from "./shared-modules.ts"
import type { AddedImports } from "./shared-modules.ts"

/** The files to bundle, from the folder that the compiler wrote. */
export interface BundleTargets {
  /** Files of `exports`. */
  readonly entries: readonly string[]
  /** Files of `bin`. */
  readonly programs: readonly string[]
  /** Entries that share nothing with the others: each is one file, whatever they have in common. */
  readonly standalone?: readonly string[] | undefined
  /** Modules that stay apart from what entries share, because pages load them on demand. */
  readonly onDemand?: readonly string[] | undefined
  /** Modules that are imported on demand. They get copies of their imports, which entries also need. */
  readonly copied?: readonly string[] | undefined
}

/**
 * Joins what the compiler emitted into one file per entry and the chunks that entries share, with TypeBox's
 * schema compiler inside. Loading hundreds of small files would be most of the cost of importing the package.
 *
 * Programs share those chunks. Works in place, in `dist`: declarations that no entry refers to are removed,
 * the others stay as they are. Returns the files it wrote.
 */
export async function bundleEntries(root: string, targets: BundleTargets): Promise<string[]> {
  const dist = join(root, "dist")
  const out = join(root, "dist-bundle")
  const entries = targets.entries
    .filter((target) => target.endsWith(".js"))
    .map((entry) => resolve(root, entry))
  const shared = {
    absWorkingDir: root,
    outdir: out,
    chunkNames: "chunks/[name]-[hash]",
    bundle: true,
    splitting: true,
    format: "esm",
    target: "es2023",
    platform: "neutral",
    mainFields: ["module", "main"],
    conditions: ["import"],
    // Modules of the platform, and optional packages of the application.
    external: [
      "node:*",
      "tsx",
      "tsx/*",
      "ws",
      "@modelcontextprotocol/*",
      "@nats-io/*",
      "ioredis",
      "jose",
    ],
    // Licenses are found by file names before links are followed.
    preserveSymlinks: true,
    metafile: true,
    logLevel: "warning",
    // Imports that only keep chunks whole, of packages that have no side effects.
    logOverride: { "ignored-bare-import": "silent" },
  } satisfies BuildOptions
  const alone = (targets.standalone ?? []).map((entry) => resolve(root, entry))
  const points = pointsOf(
    dist,
    entries.filter((entry) => !alone.includes(entry)),
  )
  const programs = pointsOf(
    dist,
    targets.programs.map((program) => resolve(root, program)),
  )
  try {
    const { copied = [] } = targets
    // Only its parser is used.
    const yaml = pureConstants(/[\\/]js-yaml[\\/].+\.mjs$/)
    const adding = (added: AddedImports): Plugin[] => [
      yaml,
      copyOnDemand(root, copied, added),
      addImports(root, added),
    ]
    const plan = {
      ...shared,
      entryPoints: points,
      write: false,
      plugins: [yaml, copyOnDemand(root, copied)],
    } satisfies BuildOptions
    // Moving modules out of a chunk may leave a small chunk behind.
    const small = new Set<string>()
    let library = await build(plan)
    const everywhere = new Map(Array.from(rootsOf(library.metafile), (file) => [file, small]))
    for (let before = -1; before !== small.size;) {
      before = small.size
      for (const file of smallSharedModules(library.metafile, targets.onDemand)) small.add(file)
      library = await build({ ...plan, plugins: adding(everywhere) })
    }
    const all = { ...shared, entryPoints: [...points, ...programs] } satisfies BuildOptions
    const { metafile } = await build({
      ...all,
      write: false,
      plugins: adding(everywhere),
    })
    const whole = importsOfWholeChunks(library.metafile, metafile)
    const bundled = await build({
      ...all,
      plugins: adding(new Map([...everywhere, ...whole])),
    })
    const single = await build({
      ...shared,
      splitting: false,
      entryPoints: pointsOf(dist, alone),
    })
    const declarations = await reachableDeclarations(entries)
    for (const file of await emittedBelow(dist)) if (!declarations.has(file)) await rm(file)
    await cp(out, dist, { recursive: true })
    const built = [bundled.metafile, single.metafile]
    const inputs = [...new Set(built.flatMap((made) => Object.keys(made.inputs)))]
    await writeFile(join(dist, "THIRD-PARTY-LICENSES.txt"), await licences(root, inputs))
    return built
      .flatMap((made) => Object.keys(made.outputs))
      .map((file) => relative(out, resolve(root, file)))
  } finally {
    await rm(out, { recursive: true, force: true })
  }
}

function pointsOf(dist: string, files: readonly string[]): { in: string; out: string }[] {
  return files.map((file) => ({ in: file, out: relative(dist, file).replace(/\.js$/, "") }))
}

/** The declarations that those of entries refer to. */
async function reachableDeclarations(entries: readonly string[]): Promise<ReadonlySet<string>> {
  const files = new Set(entries.map((entry) => entry.replace(/\.js$/, ".d.ts")))
  // A set that grows while it is walked is walked to its end.
  for (const file of files) {
    const text = await readFile(file, "utf8").catch(() => "")
    for (const [, path = ""] of text.matchAll(/(?:from |import\()"(\.{1,2}\/[^"]+)\.ts"/g)) {
      files.add(resolve(dirname(file), `${path}.d.ts`))
    }
  }
  return files
}

/** The files that the compiler wrote, without the console. */
async function emittedBelow(dist: string): Promise<string[]> {
  const entries = await readdir(dist, { recursive: true, withFileTypes: true })
  return entries
    .filter((entry) => entry.isFile() && /\.(?:js|d\.ts)$/.test(entry.name))
    .map((entry) => join(entry.parentPath, entry.name))
    .filter((file) => !file.startsWith(join(dist, "console", sep)))
}
