import { existsSync } from "node:fs"
import { resolve } from "node:path"
import { pathToFileURL } from "node:url"
import { root } from "./manifest.ts"

/** The names a source module exports at run time, sorted. */
export async function runtimeExports(file: string): Promise<string[]> {
  const path = resolve(root, file)
  if (!existsSync(path)) {
    throw new Error(`"${file}" does not exist, but package.json publishes what is built from it.`)
  }
  const module = (await import(pathToFileURL(path).href)) as object
  return Object.keys(module).toSorted()
}
