/**
 * One task in a separate process: `npm run bench` starts it where a fresh process is the point.
 *
 *   first <row> <document> <file>   the first run of a row
 *   costliest <file>                the operation whose schemas lead to the most definitions
 *   call <index> <file>             the first call of an operation
 *   weigh <file>                    what the heap holds after an import
 *   try <importer> <file>           whether an importer gets through, and what comes out
 *
 * Prints one JSON value.
 */
import { readFileSync } from "node:fs"
import { importers, quietly } from "./contenders/openapi.ts"
import type { DocumentName } from "./documents.ts"
import { loadBuiltImporter } from "./library.ts"
import { costliest, firstCallOf } from "./openapi-costliest.ts"
import { importLanes } from "./openapi-rows.ts"
import type { RowName } from "./openapi-rows.ts"
import { weigh } from "./openapi-heap.ts"

const [task, ...rest] = process.argv.slice(2)
const text = readFileSync(rest.at(-1) ?? "", "utf8")
process.stdout.write(`${JSON.stringify(await run())}\n`)

async function run(): Promise<unknown> {
  const library = await loadBuiltImporter()
  const [name = "", document = ""] = rest
  switch (task) {
    case "first":
      return await importLanes(library, document as DocumentName, text)[name as RowName].time()
    case "costliest":
      return await costliest(library, text)
    case "call":
      return await firstCallOf(library, text, Number(name))
    case "weigh":
      return weigh(library, text)
    case "try": {
      const importer = importers(library).find((one) => one.name === name)
      if (importer === undefined) throw new TypeError(`There is no importer "${name}".`)
      try {
        const read = await importer.load()
        const { operations, outputs } = await quietly(() => read(text))
        return { operations, outputs }
      } catch (thrown) {
        return { failure: thrown instanceof Error ? thrown.message : String(thrown) }
      }
    }
    default:
      throw new TypeError(`There is no task "${task}".`)
  }
}
