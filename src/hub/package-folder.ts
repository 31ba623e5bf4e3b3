import { readFileSync } from "node:fs"
import { dirname, join } from "node:path"
import { fileURLToPath } from "node:url"

/** The folder of this package. Looked for upward: a bundle is not where its sources were. */
export function packageFolder(): string | undefined {
  let folder = dirname(fileURLToPath(import.meta.url))
  while (!isPackage(folder)) {
    const above = dirname(folder)
    if (above === folder) return undefined
    folder = above
  }
  return folder
}

function isPackage(folder: string): boolean {
  try {
    const text = readFileSync(join(folder, "package.json"), "utf8")
    return (JSON.parse(text) as { readonly name?: unknown } | null)?.name === "@alkdev/operations"
  } catch {
    return false
  }
}
