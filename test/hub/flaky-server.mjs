// Ends at once when it is started for the first two times, then is a server: node flaky-server.mjs <folder> <server>
import { existsSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { pathToFileURL } from "node:url"

const [folder, server] = process.argv.slice(2)
for (const name of ["first", "second"]) {
  if (existsSync(join(folder, name))) continue
  writeFileSync(join(folder, name), "")
  process.exit(1)
}
process.argv = [process.argv[0], server, "stdio"]
await import(pathToFileURL(server).href)
