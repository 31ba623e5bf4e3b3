import { readFileSync } from "node:fs"
import { resolve } from "node:path"

/** The parts of package.json that checks read. */
export interface Manifest {
  readonly name: string
  readonly exports: Readonly<Record<string, string | EntryFiles>>
  readonly bin?: Readonly<Record<string, string>>
  readonly dependencies?: Readonly<Record<string, string>>
  readonly peerDependencies?: Readonly<Record<string, string>>
}

/** The files of an entry: its types, what Node loads, and what bundlers do. */
export interface EntryFiles {
  readonly types: string
  readonly node?: string
  readonly default: string
}

/** The root of the repository. */
export const root: string = resolve(import.meta.dirname, "../..")

export const manifest: Manifest = JSON.parse(
  readFileSync(resolve(root, "package.json"), "utf8"),
) as Manifest

/** Each entry of the package that is code, with the source it is built from: `"."` is `src/index.ts`. */
export const sourceEntries: ReadonlyMap<string, string> = new Map(
  Object.entries(manifest.exports).flatMap(([entry, files]) =>
    typeof files === "string"
      ? []
      : [[entry, files.types.replace(/^\.\/dist\//, "src/").replace(/\.d\.ts$/, ".ts")] as const],
  ),
)
