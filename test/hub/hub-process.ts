// A hub over one folder in a process of its own; takes the folder and the port.
import { createHub } from "../../src/hub/create-hub.ts"
import { serveHub } from "../../src/hub/serve-hub.ts"
import { configOf, sourceOf } from "./plain.ts"

const [folder = "", port = "0"] = process.argv.slice(2)
const hub = createHub(configOf([sourceOf("local", { scan: folder })]), { watch: true })
await hub.ready()
const served = await serveHub(hub, { port: Number(port) })
process.stdout.write(`${served.url}\n`)
