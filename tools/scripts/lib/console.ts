import { existsSync } from "node:fs"
import { readdir, readFile, rename, rm, stat, writeFile } from "node:fs/promises"
import { extname, join } from "node:path"
import { promisify } from "node:util"
import { brotliCompress, constants, gzip } from "node:zlib"
import { build } from "vite"
import type { Rolldown } from "vite"
import { licences } from "./licences.ts"

/** Maximum compressed bytes that are loaded before the first paint. */
const BUDGET = 350_000

/** The built console. */
export interface BuiltConsole {
  readonly files: number
  /** Bytes of the scripts and styles that the page needs before it shows anything, compressed by gzip. */
  readonly initialBytes: number
  /** The same for everything that may be loaded. */
  readonly allBytes: number
}

/**
 * Builds the console into a folder: bundled, compressed, with the licenses of its packages.
 *
 * The folder is replaced as a whole at the end, because a hub may be serving it.
 */
export async function buildConsole(root: string, folder: string): Promise<BuiltConsole> {
  const fresh = `${folder}.${process.pid}`
  try {
    const { output } = (await build({
      configFile: join(root, "console/vite.config.ts"),
      logLevel: "warn",
      // Files that are too large are reported below.
      build: { outDir: fresh, emptyOutDir: true, chunkSizeWarningLimit: Number.POSITIVE_INFINITY },
    })) as Rolldown.RolldownOutput
    const chunks = output.filter((one) => one.type === "chunk")
    await writeFile(
      join(fresh, "THIRD-PARTY-LICENSES.txt"),
      await licences(
        root,
        chunks.flatMap(({ moduleIds }) => moduleIds),
      ),
    )
    const sizes = await compressAll(fresh)
    const built = {
      files: sizes.size,
      initialBytes: total(
        sizes,
        initialFiles(await readFile(join(fresh, "index.html"), "utf8"), chunks),
      ),
      allBytes: total(sizes, sizes.keys()),
    }
    if (built.initialBytes > BUDGET) {
      throw new Error(
        `The console loads ${built.initialBytes} bytes before anything is seen, and may load ${BUDGET}. Load what is not seen at first with import().`,
      )
    }
    await rm(folder, { recursive: true, force: true })
    await rename(fresh, folder)
    return built
  } finally {
    await rm(fresh, { recursive: true, force: true })
  }
}

/** Whether there is no console, or one of the files that it is made of is newer. */
export async function isStale(root: string, folder: string): Promise<boolean> {
  const page = join(folder, "index.html")
  if (!existsSync(page)) return true
  const builtAt = (await stat(page)).mtimeMs
  const entries = await readdir(join(root, "console"), { recursive: true, withFileTypes: true })
  const sources = entries
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name))
  // The bundle depends on the installed packages.
  for (const file of [...sources, join(root, "package-lock.json")]) {
    if ((await stat(file)).mtimeMs > builtAt) return true
  }
  return false
}

/** The scripts and styles that a page names, and all that these import at once. */
function initialFiles(page: string, chunks: readonly Rolldown.OutputChunk[]): Set<string> {
  const named = page.matchAll(/(?:src|href)="\.\/([^"]+\.(?:js|css))"/g)
  const files = new Set(Array.from(named, ([, file = ""]) => file))
  // A set that grows is walked to its end.
  for (const file of files) {
    const { imports = [] } = chunks.find(({ fileName }) => fileName === file) ?? {}
    for (const one of imports) files.add(one)
  }
  return files
}

function total(sizes: ReadonlyMap<string, number>, files: Iterable<string>): number {
  let sum = 0
  for (const file of files) sum += sizes.get(file) ?? 0
  return sum
}

/** Replaces files with their compressed form, where that is smaller; returns the sizes by gzip. */
async function compressAll(folder: string): Promise<Map<string, number>> {
  const names = (await readdir(folder, { recursive: true })).map((name) =>
    name.replaceAll("\\", "/"),
  )
  const sizes = new Map<string, number>()
  for (const name of names.filter((one) => COMPRESSIBLE.has(extname(one)))) {
    const file = join(folder, name)
    const bytes = await readFile(file)
    const [gzipped, compressed] = await Promise.all([
      promisify(gzip)(bytes, { level: constants.Z_BEST_COMPRESSION }),
      promisify(brotliCompress)(bytes, {
        params: { [constants.BROTLI_PARAM_SIZE_HINT]: bytes.length },
      }),
    ])
    sizes.set(name, gzipped.length)
    // The page itself stays uncompressed: it shows whether a folder contains a console.
    if (name === "index.html" || !isWorthwhile(compressed, bytes)) continue
    await writeFile(`${file}.br`, compressed)
    await rm(file)
  }
  return sizes
}

const COMPRESSIBLE: ReadonlySet<string> = new Set([".css", ".html", ".js", ".svg"])

/** At least a tenth smaller, and of something that does not fit into a packet or two anyway. */
function isWorthwhile(compressed: Uint8Array, plain: Uint8Array): boolean {
  return plain.length > 1400 && compressed.length < plain.length * 0.9
}
