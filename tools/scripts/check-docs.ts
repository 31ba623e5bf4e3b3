/** Checks that the pages show the current examples and that their links work; `--update` rewrites the pages. */
import { existsSync, readdirSync, readFileSync, writeFileSync } from "node:fs"
import { resolve } from "node:path"
import { checkDocument } from "./lib/docs.ts"

const root = resolve(import.meta.dirname, "../..")
const update = process.argv.includes("--update")
const pages = ["README.md", ...markdownIn("docs")].filter((page) => existsSync(resolve(root, page)))

for (const page of pages) {
  const path = resolve(root, page)
  const text = readFileSync(path, "utf8")
  const first = checkDocument(root, page, text)
  if (update && first.updated !== text) {
    writeFileSync(path, first.updated)
    console.log(`${page}: updated`)
  }
  const { issues } = update ? checkDocument(root, page, first.updated) : first
  for (const { line, message } of issues) console.log(`${page}:${line} ${message}`)
  if (issues.length > 0) process.exitCode = 1
}
console.log(`${pages.length} pages checked`)
if (process.exitCode === 1)
  console.log("Bring the blocks up to date: npx tsx tools/scripts/check-docs.ts --update")

function markdownIn(folder: string): string[] {
  if (!existsSync(resolve(root, folder))) return []
  return readdirSync(resolve(root, folder), { recursive: true, encoding: "utf8" })
    .map((file) => `${folder}/${file.replaceAll("\\", "/")}`)
    .filter((file) => file.endsWith(".md") && !file.includes("node_modules/"))
    .toSorted()
}
