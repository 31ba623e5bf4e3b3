/**
 * What one row of a document costs in a process that has done nothing else: `openapi-fresh.mjs <row> <file>`.
 *
 * It runs the package as users do: what is published, in plain Node. The loader of the other programs leaves a
 * heap behind that decides when a process of a few hundred milliseconds collects its garbage.
 *
 * Both rows load the library, start with nothing young, and end when the result has outlived a collection.
 */
import { readFileSync } from "node:fs"
import { FromOpenAPI } from "../../dist/from-openapi.js"

const [row, file] = process.argv.slice(2)
const text = readFileSync(file ?? "", "utf8")
const collectYoung = () => globalThis.gc({ type: "minor" })

collectYoung()
const started = performance.now()
const before = process.cpuUsage()
const kept = make()
collectYoung()
const { user, system } = process.cpuUsage(before)
const wall = performance.now() - started
process.stdout.write(`${JSON.stringify({ cpu: (user + system) * 1000, wall })}\n`)
if (kept === undefined) throw new TypeError(`There is no row "${row}".`)

function make() {
  if (row === "parse") return JSON.parse(text)
  if (row !== "list" && row !== "schemas") return undefined
  const operations = FromOpenAPI(text, { namespace: "api" })
  if (row === "schemas") {
    for (const { inputSchema, outputSchema } of operations) {
      if (typeof inputSchema !== "object" || typeof outputSchema !== "object") return undefined
    }
  }
  return operations
}
