import { resolve } from "node:path"
import { BROWSER_BUNDLES, bundledSize } from "../scripts/lib/browser-bundles.ts"
import type { Goal } from "./goals.ts"
import { buildPackage, npm } from "./npm.ts"

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

const root = resolve(import.meta.dirname, "../..")

/** Builds the package, and weighs the tarball and bundles. */
export async function measureSizes(log: (text: string) => void): Promise<SizeResults> {
  log("Building the package")
  buildPackage()
  log("Weighing it")
  const [packed] = JSON.parse(npm("pack", "--dry-run", "--json", "--ignore-scripts")) as {
    readonly size: number
  }[]
  const sizes: Size[] = [{ name: "tarball", bytes: packed?.size ?? Number.NaN, max: 2_000_000 }]
  for (const { name, source, limit, goal = limit } of BROWSER_BUNDLES) {
    sizes.push({ name: `${name}, bundled`, bytes: await bundledSize(source, root), max: goal })
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

function kilobytes(bytes: number): string {
  return `${(bytes / 1000).toFixed(1)} kB`
}
