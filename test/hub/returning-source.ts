// A hub whose source is removed, edited and added again; takes the folder, and prints what its operation answers.
import { writeFileSync } from "node:fs"
import { join } from "node:path"
import { createHub } from "../../src/hub/create-hub.ts"
import { configOf, sourceOf } from "./plain.ts"
import { operationText } from "./support.ts"

const [folder = ""] = process.argv.slice(2)
const config = configOf([sourceOf("local", { scan: folder })])
await using hub = createHub(config)
await hub.ready()
const before = await hub.registry.execute("w.word", {})
await hub.apply(configOf([]))
writeFileSync(join(folder, "word.ts"), operationText("w.word", `() => "new"`))
await hub.apply(config)
const after = await hub.registry.execute("w.word", {})
process.stdout.write(`${String(before.data)} ${String(after.data)}\n`)
