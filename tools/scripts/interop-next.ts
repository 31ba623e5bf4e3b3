/**
 * Builds a Next.js application of the files in the guides with the packed package, and calls it: npm run interop
 *
 * It lies below tools/interop, where Next.js is installed: its bundler reads nothing outside of the root it is given.
 */
import { spawn } from "node:child_process"
import { once } from "node:events"
import { cp, mkdir, readFile, rm, writeFile } from "node:fs/promises"
import { dirname, join } from "node:path"
import { createInterface } from "node:readline"
import { buildPackage, run } from "../../test/package/build.ts"
import { provideClients } from "../../test/sources/mcp/interop/install.ts"
import { manifest, root } from "../../test/support/manifest.ts"

/** What `create-next-app` writes. */
const TSCONFIG = {
  compilerOptions: {
    target: "ES2017",
    lib: ["dom", "dom.iterable", "esnext"],
    allowJs: true,
    skipLibCheck: true,
    strict: true,
    noEmit: true,
    esModuleInterop: true,
    module: "esnext",
    moduleResolution: "bundler",
    resolveJsonModule: true,
    isolatedModules: true,
    jsx: "react-jsx",
    incremental: true,
    plugins: [{ name: "next" }],
    paths: { "@/*": ["./*"] },
  },
  include: ["next-env.d.ts", "**/*.ts", "**/*.tsx", ".next/types/**/*.ts"],
  exclude: ["node_modules"],
}
/** The files of the guides, by where they are in an application. */
const FILES = {
  "lib/api.ts": "frameworks/api.ts",
  "app/api/v1/[...path]/route.ts": "frameworks/next.ts",
  "lib/members.ts": "existing-authentication/members.ts",
  "lib/sessions.ts": "existing-authentication/sessions.ts",
  "app/v1/[...path]/route.ts": "existing-authentication/next.ts",
}
/** Packages for its compiler, which it would install itself. */
const TYPES = ["@types/node", "undici-types", "@types/react", "csstype"]
const LAYOUT = `import type { ReactNode } from "react"
export default ({ children }: { children: ReactNode }) => <html><body>{children}</body></html>`
const CONFIG = `export default { turbopack: { root: ${JSON.stringify(join(root, "tools/interop"))} } }`

const { folder, reason } = await provideClients()
if (folder === undefined) {
  process.stderr.write(`SKIPPED: ${reason}\n`)
  process.exit(0)
}
await using built = await buildPackage()
const app = join(folder, "next-app")
await rm(app, { recursive: true, force: true })
for (const [path, example] of Object.entries(FILES)) {
  const text = await readFile(join(root, "examples", example), "utf8")
  await mkdir(dirname(join(app, path)), { recursive: true })
  // As the guide says: imports of each other have no `.ts` here.
  await writeFile(join(app, path), text.replaceAll(/(from "\.\/\w+)\.ts"/g, '$1"'))
}
await writeFile(join(app, "app/layout.tsx"), LAYOUT)
await writeFile(join(app, "tsconfig.json"), JSON.stringify(TSCONFIG))
await writeFile(join(app, "next.config.js"), CONFIG)
await writeFile(join(app, "package.json"), `{ "private": true, "type": "module" }`)
for (const name of [manifest.name, ...Object.keys(manifest.dependencies ?? {})]) {
  const modules = join(name === manifest.name ? built.app : root, "node_modules")
  await cp(join(modules, name), join(app, "node_modules", name), { recursive: true })
}
for (const name of TYPES) {
  await cp(join(root, "node_modules", name), join(app, "node_modules", name), { recursive: true })
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
  const headers = { "content-type": "application/json", host: "app.example.com" }
  const send = (path: string, init?: RequestInit) => fetch(`${url}${path}`, { headers, ...init })
  const member = { cookie: "session=ada" }
  const answers = [
    await send("/api/v1/api/task/create", { method: "POST", body: `{ "title": "Milk" }` }),
    await send("/api/v1/api/task/create", { method: "POST", body: "{}" }),
    await send("/api/v1/things/1", { method: "PATCH", body: "{}" }),
    await send("/v1/api/me/greet", { headers: member }),
    await send("/v1/api/me/greet"),
  ]
  const found = await Promise.all(answers.map(async (one) => `${one.status} ${await one.text()}`))
  const expected = ['200 {"id":1,"title":"Milk"}', "400 ", "404 ", '200 "Hello, ada"', "403 "]
  const isRight = expected.every((text, at) => found[at]?.startsWith(text))
  console.log(`Next.js: ${found.map((text) => text.slice(0, 60)).join(", ")}`)
  if (!isRight) process.exitCode = 1
} finally {
  server.kill()
  await once(server, "exit")
  await rm(app, { recursive: true, force: true })
}
