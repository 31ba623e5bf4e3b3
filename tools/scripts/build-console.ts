/** Builds console/ into dist/console; with `--if-needed` only when it is missing or its sources are newer. */
import { resolve } from "node:path"
import { buildConsole, isStale } from "./lib/console.ts"

// Whatever the environment says, a test's for one: React has a larger form for development.
process.env["NODE_ENV"] = "production"

const root = resolve(import.meta.dirname, "../..")
const folder = resolve(root, "dist/console")
const isOptional = process.argv.includes("--if-needed")

if (!isOptional || (await isStale(root, folder))) {
  if (isOptional) console.error("Building the console, once…")
  try {
    const { files, initialBytes, allBytes } = await buildConsole(root, folder)
    const kilobytes = (bytes: number): string => `${(bytes / 1000).toFixed(1)} kB`
    console.error(
      `Console: ${files} files, ${kilobytes(initialBytes)} before it is seen, ${kilobytes(allBytes)} in all (gzip)`,
    )
  } catch (error) {
    // A hub also works without its page.
    if (!isOptional) throw error
    console.error(`The console is not there: ${error instanceof Error ? error.message : "?"}`)
  }
}
