import { spawnSync } from "node:child_process"
import { resolve } from "node:path"
import { gzipSync } from "node:zlib"
import { build } from "esbuild"
import type { PluginBuild } from "esbuild"
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
const BUNDLES: readonly (readonly [name: string, source: string, max: number])[] = [
  [
    "a client over WebSocket",
    `export { createClient } from "./dist/index.js"
     export { createWebSocketTransport } from "./dist/websocket.js"`,
    24_000,
  ],
  [
    "a registry of one's own",
    `export { createRegistry, defineOperation } from "./dist/index.js"`,
    84_000,
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

async function bundledSize(source: string): Promise<number> {
  const { outputFiles } = await build({
    stdin: { contents: source, resolveDir: root },
    absWorkingDir: root,
    bundle: true,
    minify: true,
    write: false,
    format: "esm",
    platform: "browser",
    logLevel: "error",
    // Policies are loaded when an operation that has some is first called.
    plugins: [{ name: "loaded later", setup: leaveDynamicImports }],
  })
  return gzipSync(outputFiles[0]?.contents ?? "").length
}

function leaveDynamicImports(build: PluginBuild): void {
  build.onResolve({ filter: /policy/ }, ({ kind, path }) =>
    kind === "dynamic-import" ? { path, external: true } : undefined,
  )
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
