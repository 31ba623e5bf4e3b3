import { spawnSync } from "node:child_process"
import { relative, resolve } from "node:path"
import { gzipSync } from "node:zlib"
import { build } from "esbuild"
import type { Goal } from "./goals.ts"

/** A size, and what it may be at most; in bytes. */
export interface Size {
  readonly name: string
  readonly bytes: number
  readonly max: number
}

/** What users download. */
export interface SizeResults {
  readonly sizes: readonly Size[]
}

const root = resolve(import.meta.dirname, "..")

/** Applications for browsers, as a bundler sees them; minified and compressed with gzip. */
export const BUNDLES: readonly (readonly [name: string, source: string, max: number])[] = [
  [
    "a client over HTTP",
    `export { createClient } from "./dist/index.js"
     export { createHTTPTransport } from "./dist/http.js"`,
    9000,
  ],
  [
    "a client over WebSocket",
    `export { createClient } from "./dist/index.js"
     export { createWebSocketTransport } from "./dist/websocket.js"`,
    12_000,
  ],
  [
    "a registry of one's own",
    `export { createRegistry, defineOperation } from "./dist/index.js"`,
    80_000,
  ],
  ["an OpenAPI import", `export { FromOpenAPI } from "./dist/from-openapi.js"`, 130_000],
]

/** Weighs the tarball and bundles of the built package. */
export async function measureSizes(log: (text: string) => void): Promise<SizeResults> {
  log("Building the package")
  run("run", "build")
  log("Weighing it")
  const [packed] = JSON.parse(run("pack", "--dry-run", "--json", "--ignore-scripts")) as {
    readonly size: number
  }[]
  const sizes: Size[] = [{ name: "tarball", bytes: packed?.size ?? Number.NaN, max: 2_000_000 }]
  for (const [name, source, max] of BUNDLES) {
    sizes.push({ name: `${name}, bundled`, bytes: await bundledSize(source), max })
  }
  return { sizes }
}

/** The sizes, as plain text. */
export function sizeTables({ sizes }: SizeResults): string[] {
  const lines = sizes.map(({ name, bytes }) => `${name.padEnd(40)}${kilobytes(bytes).padStart(12)}`)
  return [
    `What users download: the tarball, and bundles for browsers (minified, gzip)\n\n${lines.join("\n")}`,
  ]
}

/** What the package promises. */
export function sizeGoals({ sizes }: SizeResults): Goal[] {
  return sizes.map(({ name, bytes, max }) => ({
    goal: `${name}: at most ${kilobytes(max)}`,
    measured: kilobytes(bytes),
    isMet: bytes <= max,
  }))
}

/** Bytes that a page loads at once; what is imported on use is in files of its own. */
export async function bundledSize(source: string): Promise<number> {
  const { outputFiles, metafile } = await build({
    stdin: { contents: source, resolveDir: root, sourcefile: "page.js" },
    absWorkingDir: root,
    bundle: true,
    minify: true,
    splitting: true,
    outdir: "out",
    write: false,
    metafile: true,
    format: "esm",
    platform: "browser",
    logLevel: "error",
  })
  const loaded = new Set(
    Object.keys(metafile.outputs).filter(
      (file) => metafile.outputs[file]?.entryPoint === "page.js",
    ),
  )
  // A set that grows while it is walked is walked to its end.
  for (const file of loaded) {
    for (const { kind, path } of metafile.outputs[file]?.imports ?? []) {
      if (kind === "import-statement") loaded.add(path)
    }
  }
  return outputFiles
    .filter(({ path }) => loaded.has(relative(root, path)))
    .reduce((sum, { contents }) => sum + gzipSync(contents).length, 0)
}

function run(...args: readonly string[]): string {
  const { status, stdout, stderr } = spawnSync("npm", args, {
    cwd: root,
    encoding: "utf8",
    maxBuffer: 2 ** 26,
  })
  if (status !== 0) throw new Error(`npm ${args.join(" ")} failed:\n${stdout}${stderr}`)
  return stdout
}

function kilobytes(bytes: number): string {
  return `${(bytes / 1000).toFixed(1)} kB`
}
