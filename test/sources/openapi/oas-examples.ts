import { readdirSync, readFileSync } from "node:fs"
import { createRequire } from "node:module"
import { dirname, join, relative, sep } from "node:path"

/** Documents that come with a development dependency, so that they are always there. */
const require = createRequire(import.meta.url)
const examplesRoot = dirname(require.resolve("@readme/oas-examples/package.json"))

/** Paths of the documents in one notation, below the package. */
export function exampleFiles(notation: "json" | "yaml"): string[] {
  return ["2.0", "3.0", "3.1"].flatMap((version) =>
    readdirSync(join(examplesRoot, version, notation), { recursive: true, withFileTypes: true })
      .filter(({ name }) => name.endsWith(`.${notation}`))
      .map((entry) =>
        relative(examplesRoot, join(entry.parentPath, entry.name)).split(sep).join("/"),
      )
      .toSorted(),
  )
}

/** The text of a document. */
export function exampleText(file: string): string {
  return readFileSync(join(examplesRoot, file), "utf8")
}
