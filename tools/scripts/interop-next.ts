/**
 * Builds a Next.js application with a route handler over the packed package, and calls it: npm run interop
 *
 * It lies below tools/interop, where Next.js is installed: its bundler reads nothing outside of the root it is given.
 */
import { spawn } from "node:child_process"
import { once } from "node:events"
import { cp, mkdir, rm, writeFile } from "node:fs/promises"
import { join } from "node:path"
import { createInterface } from "node:readline"
import { buildPackage, run } from "../../test/package/build.ts"
import { provideClients } from "../../test/sources/mcp/interop/install.ts"
import { manifest, root } from "../../test/support/manifest.ts"

const ROUTE = `
import { createRegistry, defineOperation } from "@alkdev/operations"
import { toHTTP } from "@alkdev/operations/to-http"
import { Type } from "@alkdev/operations/type"

const add = defineOperation({
  namespace: "math",
  name: "add",
  type: "query",
  description: "Adds two numbers",
  inputSchema: Type.Object({ a: Type.Number(), b: Type.Number() }),
  outputSchema: Type.Number(),
  accessControl: { requiredScopes: [] },
  handler: ({ a, b }) => a + b,
})
const api = toHTTP(createRegistry([add]))

export const dynamic = "force-dynamic"
export const GET = (request) => api.fetch(request)
export const POST = GET
`
const LAYOUT = `export default ({ children }) => <html><body>{children}</body></html>`
const CONFIG = `export default { turbopack: { root: ${JSON.stringify(join(root, "tools/interop"))} } }`

const { folder, reason } = await provideClients()
if (folder === undefined) {
  process.stderr.write(`SKIPPED: ${reason}\n`)
  process.exit(0)
}
await using built = await buildPackage()
const app = join(folder, "next-app")
await rm(app, { recursive: true, force: true })
await mkdir(join(app, "app/api/[...path]"), { recursive: true })
await writeFile(join(app, "app/api/[...path]/route.js"), ROUTE)
await writeFile(join(app, "app/layout.js"), LAYOUT)
await writeFile(join(app, "next.config.js"), CONFIG)
await writeFile(join(app, "package.json"), `{ "private": true, "type": "module" }`)
for (const name of [manifest.name, ...Object.keys(manifest.dependencies ?? {})]) {
  const modules = join(name === manifest.name ? built.app : root, "node_modules")
  await cp(join(modules, name), join(app, "node_modules", name), { recursive: true })
}

const next = join(folder, "node_modules/next/dist/bin/next")
process.env["NEXT_TELEMETRY_DISABLED"] = "1"
const output = await run("node", [next, "build"], app)
if (/warning|not found/i.test(output.replaceAll("_not-found", ""))) throw new Error(output)

const server = spawn(process.execPath, [next, "start", "-p", "0", "-H", "127.0.0.1"], { cwd: app })
try {
  let url: string | undefined
  for await (const line of createInterface(server.stdout)) {
    url = /http:\/\/127\.0\.0\.1:\d+/.exec(line)?.[0]
    if (url !== undefined) break
  }
  const body = JSON.stringify({ a: 1, b: 2 })
  const headers = { "content-type": "application/json" }
  const answers = [
    await fetch(`${url}/api/math/add?a=1&b=2`),
    await fetch(`${url}/api/math/add`, { method: "POST", headers, body }),
    await fetch(`${url}/api/math/add`, { method: "POST", headers, body: "{}" }),
  ]
  const found = await Promise.all(answers.map(async (one) => `${one.status} ${await one.text()}`))
  const isRight = found[0] === "200 3" && found[1] === "200 3" && found[2]?.startsWith("400 ")
  console.log(`Next.js: ${found.map((text) => text.slice(0, 60)).join(", ")}`)
  if (isRight !== true) process.exitCode = 1
} finally {
  server.kill()
  await once(server, "exit")
  await rm(app, { recursive: true, force: true })
}
