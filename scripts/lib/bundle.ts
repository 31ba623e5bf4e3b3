import { build } from "esbuild"
import type { BuildOptions } from "esbuild"
import { cp, readdir, rm, writeFile } from "node:fs/promises"
import { join, relative, resolve, sep } from "node:path"
import { licences } from "./licences.ts"
import { sharedByAll, smallSharedModules } from "./shared-modules.ts"

/** What is built, beside where it is found: file by file, from the folder that the compiler wrote. */
export interface BundleTargets {
  /** Files of `exports`. */
  readonly entries: readonly string[]
  /** Files of `bin`. */
  readonly programs: readonly string[]
}

/**
 * Joins what the compiler emitted into one file per entry and the chunks that entries share, with TypeBox's
 * schema compiler inside. Loading hundreds of small files is most of what importing the package would cost.
 *
 * Works in place, in `dist`; the declarations stay as they are. Gives the files it wrote.
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
    bundle: true,
    splitting: true,
    format: "esm",
    target: "es2023",
    platform: "neutral",
    mainFields: ["module", "main"],
    conditions: ["import"],
    // The platform's own modules, and what an application brings if it wants it.
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
    sourcemap: true,
    // Sources are named by where they are found, not by where a link leads.
    preserveSymlinks: true,
    metafile: true,
    logLevel: "warning",
  } satisfies BuildOptions
  const options = { ...shared, entryPoints: pointsOf(dist, entries) }
  try {
    const first = await build({ ...options, write: false })
    const small = smallSharedModules(first.metafile)
    const library = await build({ ...options, plugins: [sharedByAll(root, entries, small)] })
    // By themselves: a command is a file that is loaded when it is asked for, and would cut what entries
    // share into hundreds of pieces.
    const programs = await build({
      ...shared,
      entryPoints: pointsOf(
        dist,
        targets.programs.map((program) => resolve(root, program)),
      ),
      chunkNames: "cli/[name]-[hash]",
      // The library has these already, and nobody steps through a program.
      sourcemap: false,
      logOverride: { "ignored-bare-import": "silent" },
    })
    for (const file of await emittedBelow(dist)) await rm(file)
    await cp(out, dist, { recursive: true })
    const inputs = [library, programs].flatMap(({ metafile }) => Object.keys(metafile.inputs))
    await writeFile(join(dist, "THIRD-PARTY-LICENSES.txt"), await licences(root, inputs))
    return [library, programs].flatMap(({ metafile }) =>
      Object.keys(metafile.outputs).map((file) => relative(out, resolve(root, file))),
    )
  } finally {
    await rm(out, { recursive: true, force: true })
  }
}

function pointsOf(dist: string, files: readonly string[]): { in: string; out: string }[] {
  return files.map((file) => ({ in: file, out: relative(dist, file).replace(/\.js$/, "") }))
}

/** What the compiler wrote; the console is built by others. */
async function emittedBelow(dist: string): Promise<string[]> {
  const entries = await readdir(dist, { recursive: true, withFileTypes: true })
  return entries
    .filter((entry) => entry.isFile() && /\.js(\.map)?$/.test(entry.name))
    .map((entry) => join(entry.parentPath, entry.name))
    .filter((file) => !file.startsWith(join(dist, "console", sep)))
}
