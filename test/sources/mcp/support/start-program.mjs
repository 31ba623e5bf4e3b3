// Starts the bundle beside it (see program.ts) with the code that was compiled for it before: compiling it anew would take
// longer than most programs run. The first process that ends by itself keeps what it compiled for those after it.
import { existsSync, readFileSync, renameSync, writeFileSync } from "node:fs"
import { createRequire } from "node:module"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import { Script } from "node:vm"

const folder = fileURLToPath(new URL(".", import.meta.url))
const filename = join(folder, "bundle.js")
const used = join(folder, "used.cache")
const isKept = existsSync(used)
const cachedData = readFileSync(isKept ? used : join(folder, "unused.cache"))
const script = new Script(readFileSync(filename, "latin1"), { filename, cachedData })
if (!isKept) {
  process.once("exit", () => {
    const own = `${used}.${process.pid}`
    writeFileSync(own, script.createCachedData())
    renameSync(own, used)
  })
}
await script.runInThisContext()(createRequire(filename), import.meta, (name) => import(name))
