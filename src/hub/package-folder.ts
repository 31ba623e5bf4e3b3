import { readFileSync } from "node:fs"
import { dirname, join } from "node:path"
import { fileURLToPath } from "node:url"

/** Finds the folder of this package by searching upward: a bundle is elsewhere than its sources. */
export function packageFolder(): string | undefined {
  let folder = dirname(fileURLToPath(import.meta.url))
  while (!isPackage(folder)) {
    const parent = dirname(folder)
    if (parent === folder) return undefined
    folder = parent
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
