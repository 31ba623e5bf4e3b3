/** Rewrites test/pins/exports.ts from the sources: a change to the public surface, made on purpose. */
import { execFileSync } from "node:child_process"
import { readFileSync, writeFileSync } from "node:fs"
import { resolve } from "node:path"
import { runtimeExports } from "../../test/support/exports.ts"
import { root, sourceEntries } from "../../test/support/manifest.ts"

const MARK = "export const EXPORTS"

const pins: Record<string, string[]> = {}
for (const [entry, file] of sourceEntries) pins[entry] = await runtimeExports(file)

const path = resolve(root, "test/pins/exports.ts")
const before = readFileSync(path, "utf8")
const head = before.slice(0, before.indexOf(MARK))
writeFileSync(
  path,
  `${head}${MARK}: Readonly<Record<string, readonly string[]>> = ${JSON.stringify(pins, null, 2)}\n`,
)
execFileSync("npx", ["oxfmt", path], { cwd: root, stdio: ["ignore", "ignore", "inherit"] })

for (const [entry, names] of Object.entries(pins)) console.log(`${entry}: ${names.length} exports`)
console.log(readFileSync(path, "utf8") === before ? "Nothing changed." : "Rewrote the pins.")
