/**
 * Compiles and runs the programs with tRPC and oRPC that `docs/guides/from-trpc-or-orpc.md` shows beside ours, and compares
 * what they print. Compiles our tools for models against the types of their SDKs: npm run interop
 */
import { readFile } from "node:fs/promises"
import { join } from "node:path"
import { run } from "../../test/package/build.ts"
import { provideClients } from "../../test/sources/mcp/interop/install.ts"
import { root } from "../../test/support/manifest.ts"

const { folder, reason } = await provideClients()
if (folder === undefined) {
  process.stderr.write(`SKIPPED: ${reason}\n`)
  process.exit(0)
}
const programs = join(folder, "comparison")
for (const project of [programs, join(folder, "sdks")]) await run("tsc", ["-p", project], root)
console.log("sdks: the types fit")
for (const name of ["trpc", "orpc"]) {
  const printed = await run("node", ["--import", "tsx", join(programs, `${name}.ts`)], root)
  const expected = await readFile(join(programs, `${name}.out`), "utf8")
  const isSame = printed === expected
  console.log(`${name}: ${isSame ? "same" : `differs from ${name}.out\n${printed}`}`)
  if (!isSame) process.exitCode = 1
}
