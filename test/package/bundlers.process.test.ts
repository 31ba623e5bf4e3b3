// Every entry of the package, bundled by other people's bundlers in a folder without any optional package.
import { mkdir, rm, writeFile } from "node:fs/promises"
import { createRequire } from "node:module"
import { join } from "node:path"
import { build as esbuild } from "esbuild"
import { afterAll, beforeAll, describe, expect, test } from "vitest"
import { build as vite } from "vite"
import { provideClients } from "../sources/mcp/interop/install.ts"
import { manifest } from "../support/manifest.ts"
import { BUILD_TIMEOUT, buildPackage, run, type BuiltPackage } from "./build.ts"

let built: BuiltPackage
let load: NodeJS.Require
beforeAll(async () => {
  const [found, { folder, reason }] = await Promise.all([buildPackage(), provideClients()])
  built = found
  if (folder === undefined) throw new Error(reason)
  load = createRequire(join(folder, "package.json"))
}, 2 * BUILD_TIMEOUT)
afterAll(() => built?.[Symbol.asyncDispose]())

const ENTRIES = Object.keys(manifest.exports)
  .filter((entry) => entry !== "./package.json")
  .map((entry) => ({
    name: entry.slice(2) || "index",
    specifier: `${manifest.name}${entry.slice(1)}`,
  }))

type Platform = "node" | "browser"

/** Bundles `in/<name>.js` into `<out>/<name>.mjs`. Rejects if the bundler reports an error. */
type Bundle = (
  names: readonly string[],
  app: string,
  out: string,
  platform: Platform,
) => Promise<void>

const BUNDLERS: Readonly<Record<string, Bundle>> = {
  async esbuild(names, app, out, platform) {
    await esbuild({
      entryPoints: names.map((name) => `in/${name}.js`),
      absWorkingDir: app,
      outdir: out,
      outExtension: { ".js": ".mjs" },
      ...{ bundle: true, format: "esm", platform, splitting: true, logLevel: "silent" },
    })
  },

  async webpack(names, app, out, platform) {
    type Stats = { hasErrors(): boolean; toString(options: object): string }
    const webpack = load("webpack") as (
      options: object,
      done: (error: Error | null, stats: Stats) => void,
    ) => void
    const stats = await new Promise<Stats>((resolve, reject) =>
      webpack(
        {
          context: app,
          mode: "none",
          entry: Object.fromEntries(names.map((name) => [name, `./in/${name}.js`])),
          // Pages have dynamic imports of scripts; Node, where the result runs, only of modules.
          target: platform === "node" ? "node20" : ["web", "es2022"],
          experiments: { outputModule: true },
          output: {
            path: join(app, out),
            filename: "[name].mjs",
            chunkFilename: "[name].chunk.mjs",
            ...{ module: true, chunkFormat: "module", library: { type: "module" } },
            chunkLoading: "import",
          },
        },
        (error, result) => (error ? reject(error) : resolve(result)),
      ),
    )
    if (stats.hasErrors()) throw new Error(stats.toString({ all: false, errors: true }))
  },

  async rollup(names, app, out, platform) {
    interface Rollup {
      readonly rollup: (options: object) => Promise<Bundled>
    }
    interface Bundled {
      write(options: object): Promise<unknown>
      close(): Promise<void>
    }
    const { rollup } = load("@rollup/wasm-node") as Rollup
    // Rollup resolves no packages by itself: applications use this plug-in.
    const { nodeResolve } = load("@rollup/plugin-node-resolve") as {
      readonly nodeResolve: (options: object) => unknown
    }
    const bundle = await rollup({
      input: Object.fromEntries(names.map((name) => [name, join(app, `in/${name}.js`)])),
      plugins: [
        nodeResolve(
          platform === "browser"
            ? { browser: true }
            : { exportConditions: ["node"], preferBuiltins: true },
        ),
      ],
      onwarn() {},
    })
    await bundle.write({
      dir: join(app, out),
      entryFileNames: "[name].mjs",
      chunkFileNames: "[name]-[hash].mjs",
    })
    await bundle.close()
  },

  async vite(names, app, out, platform) {
    const input = Object.fromEntries(names.map((name) => [name, join(app, `in/${name}.js`)]))
    await vite({
      root: app,
      configFile: false,
      logLevel: "silent",
      ssr: { noExternal: true },
      build: {
        outDir: out,
        ssr: platform === "node",
        minify: false,
        modulePreload: false,
        target: "es2022",
        rolldownOptions: {
          input,
          preserveEntrySignatures: "strict",
          output: { entryFileNames: "[name].mjs", chunkFileNames: "[name]-[hash].mjs" },
        },
      },
    })
  },
}

/** The globals of a worker that a server uses. */
const WEB = [
  ...["AbortController", "AbortSignal", "Blob", "Event", "EventTarget", "File", "FormData"],
  ...["Headers", "ReadableStream", "Request", "Response", "TextDecoder", "TextEncoder"],
  ...["TransformStream", "URL", "URLSearchParams", "WritableStream", "atob", "btoa", "console"],
  ...["clearInterval", "clearTimeout", "crypto", "fetch", "performance", "queueMicrotask"],
  ...["setInterval", "setTimeout", "structuredClone"],
]

/** Uses of the package that need an optional one only when asked, and what they print. */
const PROGRAMS: Readonly<Record<string, string>> = {
  "use-http": `
    import { createRegistry, defineOperation } from "@alkdev/operations"
    import { toHTTP } from "@alkdev/operations/to-http"
    import { Type } from "@alkdev/operations/type"
    const add = defineOperation({
      namespace: "math", name: "add", type: "query", description: "Adds",
      inputSchema: Type.Object({ a: Type.Number(), b: Type.Number() }), outputSchema: Type.Number(),
      accessControl: { requiredScopes: [] }, handler: ({ a, b }) => a + b,
    })
    const logger = { debug() {}, info() {}, warn() {}, error() {} }
    const registry = createRegistry([add], { logger })
    const ask = (api, path, init) => api.fetch(new Request("http://localhost" + path, init))
    export async function use() {
      const answer = await ask(toHTTP(registry), "/api/math/add?a=1&b=2")
      const jwt = { jwks: "https://a.example/keys", issuer: "a", audience: "b", algorithms: ["RS256"] }
      const refused = await ask(toHTTP(registry, { auth: { jwt }, logger }), "/operations", {
        headers: { authorization: "Bearer a.b.c" },
      })
      return [await answer.json(), refused.status, (await refused.json()).detail]
    }`,
  // The application has an API of OpenTelemetry of its own, and registers a provider there later.
  "use-otel": `
    import { createRegistry, defineOperation } from "@alkdev/operations"
    import { instrument } from "@alkdev/operations/otel"
    import { Type } from "@alkdev/operations/type"
    const echo = defineOperation({
      namespace: "text", name: "echo", type: "query", description: "Echoes",
      inputSchema: Type.Unknown(), outputSchema: Type.Unknown(),
      accessControl: { requiredScopes: [] }, handler: (input) => input,
    })
    const API = Symbol.for("opentelemetry.js.api.1")
    export async function use() {
      const registry = createRegistry([echo])
      const started = []
      const span = { spanContext: () => ({}), isRecording: () => false, end() {} }
      const getTracer = () => ({ startSpan: (name) => (started.push(name), span) })
      instrument(registry, { metrics: false })
      await registry.execute("text.echo", 1)
      globalThis[API] = { version: "1.9.0", trace: { getTracer } }
      const { data } = await registry.execute("text.echo", 2)
      delete globalThis[API]
      return [data, ...started]
    }`,
  "use-node": `
    import { createRegistry } from "@alkdev/operations"
    import { createHub, serveHTTP } from "@alkdev/operations/node"
    import { createNatsTransport } from "@alkdev/operations/nats"
    import { createRedisTransport } from "@alkdev/operations/redis"
    const logger = { debug() {}, info() {}, warn() {}, error() {} }
    const failed = ({ message, cause }) => message + (cause?.message ?? "")
    export async function use() {
      const served = await serveHTTP(createRegistry([], { logger }), { port: 0, logger })
      const { status } = await fetch(new URL("/operations", served.url))
      await served.close()
      const messages = []
      for (const transport of [createNatsTransport({ servers: "nats://127.0.0.1:9", logger }), createRedisTransport({ url: "redis://127.0.0.1:9", logger })]) {
        messages.push(await transport.whenConnected().then(() => "connected", failed))
        await transport.close()
      }
      return [status, ...messages]
    }`,
}
const EXPECTED: Readonly<Record<string, unknown>> = {
  "use-http": [
    3,
    503,
    'Tokens cannot be checked: auth.jwt needs the optional package "jose". Install it: npm install jose',
  ],
  "use-otel": [2, "text.echo"],
  "use-node": [
    200,
    expect.stringContaining("npm install @nats-io/transport-node"),
    expect.stringContaining("npm install ioredis"),
  ],
}
/** Without the messages about missing packages. */
const EMPTIED: Readonly<Record<string, unknown>> = { "use-http": [3, 503, expect.any(String)] }

describe.each(Object.keys(BUNDLERS))("%s", (bundler) => {
  test.each(["node", "browser"] as const)(
    "bundles every entry for %s, and the result runs",
    async (platform) => {
      const isFor = (name: string): boolean => platform === "node" || !name.endsWith("node")
      const entries = ENTRIES.filter(({ name }) => isFor(name))
      const programs = Object.keys(PROGRAMS).filter(isFor)
      await mkdir(join(built.app, "in"), { recursive: true })
      for (const { name, specifier } of entries) {
        await writeFile(join(built.app, `in/${name}.js`), `export * from "${specifier}"\n`)
      }
      for (const name of programs)
        await writeFile(join(built.app, `in/${name}.js`), PROGRAMS[name] ?? "")
      const out = `out-${bundler}-${platform}`
      const names = [...entries.map(({ name }) => name), ...programs]
      await BUNDLERS[bundler]?.(names, built.app, out, platform)

      // Beside nothing that it could import.
      const code = `
        const keys = async (path) => Object.keys(await import(path)).toSorted()
        const different = []
        for (const [name, specifier] of ${JSON.stringify(entries.map(({ name, specifier }) => [name, specifier]))}) {
          const [own, bundled] = [await keys(specifier), await keys("./${out}/" + name + ".mjs")]
          if (own.length === 0 || String(own) !== String(bundled)) different.push({ name, own, bundled })
        }
        const used = {}
        for (const name of ${JSON.stringify(programs)}) used[name] = await (await import("./${out}/" + name + ".mjs")).use()
        console.log(JSON.stringify({ different, used }))
        process.exit()`
      await writeFile(join(built.app, "run.mjs"), code)
      const result = JSON.parse(await run("node", ["run.mjs"], built.app)) as unknown
      // In pages Vite replaces missing optional packages with empty modules.
      const isEmptied = bundler === "vite" && platform === "browser"
      const used = Object.fromEntries(
        programs.map((name) => [name, (isEmptied && EMPTIED[name]) || EXPECTED[name]]),
      )
      expect(result).toEqual({ different: [], used })
      await rm(join(built.app, out), { recursive: true })
    },
    BUILD_TIMEOUT,
  )
})

// What the runtimes of edge platforms have: no process, no modules of Node, nothing to import.
test(
  "a bundle for workers needs nothing but the globals of the web",
  async () => {
    await mkdir(join(built.app, "in"), { recursive: true })
    await writeFile(join(built.app, "in/use-http.js"), PROGRAMS["use-http"] ?? "")
    await esbuild({
      entryPoints: ["in/use-http.js"],
      absWorkingDir: built.app,
      outfile: "worker.js",
      conditions: ["workerd", "worker", "browser"],
      ...{
        bundle: true,
        format: "iife",
        globalName: "app",
        platform: "neutral",
        logLevel: "silent",
      },
    })
    const code = `
      import { readFileSync } from "node:fs"
      import vm from "node:vm"
      const web = {}
      for (const name of ${JSON.stringify(WEB)}) web[name] = globalThis[name]
      // The functions of another realm make errors of another realm.
      const context = vm.createContext({ ...web, importMissing: (name) => Promise.reject(Object.assign(new Error("Cannot find module '" + name + "'"), { code: "MODULE_NOT_FOUND" })) })
      const source = readFileSync("worker.js", "utf8").replaceAll(/\\bimport\\(/g, "importMissing(")
      vm.runInContext(source + "\\nglobalThis.app = app", context)
      console.log(JSON.stringify(await context.app.use()))`
    await writeFile(join(built.app, "run.mjs"), code)
    const result = JSON.parse(await run("node", ["run.mjs"], built.app)) as unknown
    expect(result).toEqual([3, 503, expect.any(String)])
  },
  BUILD_TIMEOUT,
)
