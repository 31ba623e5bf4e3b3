import { build, type BuildResult, type Metafile } from "esbuild"
import { existsSync, readFileSync } from "node:fs"
import { writeFile } from "node:fs/promises"
import { builtinModules } from "node:module"
import { join, posix, resolve } from "node:path"
import { afterAll, beforeAll, describe, expect, test } from "vitest"
import { BROWSER_BUNDLES, bundledSize } from "../../tools/scripts/lib/browser-bundles.ts"
import { EXPORTS } from "../pins/exports.ts"
import { manifest, root, sourceEntries } from "../support/manifest.ts"
import { findGlobals } from "../support/source-scan.ts"
import { BUILD_TIMEOUT, buildPackage, run, type BuiltPackage } from "./build.ts"

/** Entries that run on any platform. */
const NEUTRAL = [
  ".",
  "./config",
  "./from-mcp",
  "./from-openapi",
  "./from-standard-schema",
  "./http",
  "./nats",
  "./redis",
  "./tanstack-query",
  "./to-http",
  "./to-mcp",
  "./tools",
  "./type",
  "./websocket",
  "./worker",
]

interface LockedPackage {
  readonly integrity?: string
  readonly link?: boolean
  readonly optionalDependencies?: Readonly<Record<string, string>>
}

let built: BuiltPackage
beforeAll(async () => {
  built = await buildPackage()
}, BUILD_TIMEOUT)
afterAll(() => built?.[Symbol.asyncDispose]())

const specifier = (entry: string): string => `${manifest.name}${entry.slice(1)}`

describe("the packed files", () => {
  test("are the build, the manifest, the licences and the two pages", () => {
    const others = built.files.filter(
      (file) =>
        !/^(dist\/.+\.(js|d\.ts)|dist\/console\/.+|dist\/THIRD-PARTY-LICENSES\.txt)$/.test(file),
    )

    expect(others).toEqual([
      "CHANGELOG.md",
      "LICENSE-APACHE",
      "LICENSE-MIT",
      "README.md",
      "package.json",
    ])
  })

  test("hold every program and entry of package.json, entries with their types", () => {
    const entries = Object.values(manifest.exports).flatMap((entry) =>
      typeof entry === "string" ? [entry] : Object.values(entry),
    )
    const targets = [...entries, ...Object.values(manifest.bin ?? {})]

    expect(built.files).toEqual(
      expect.arrayContaining(targets.map((target) => target.replace(/^\.\//, ""))),
    )
  })

  test("hold the console once, compressed, and the licences of what is in it", () => {
    const found = built.files.filter((file) => file.startsWith("dist/console/"))

    expect(found).toEqual(
      expect.arrayContaining([
        "dist/console/THIRD-PARTY-LICENSES.txt",
        "dist/console/icon.svg",
        "dist/console/index.html",
        expect.stringMatching(/^dist\/console\/assets\/index-[\w-]{8}\.js\.br$/),
      ]),
    )
    expect(found.filter((file) => /\.(?:map|gz)$/.test(file))).toEqual([])
    expect(found.filter((file) => found.includes(`${file}.br`))).toEqual([])
    expect(read("dist/console/THIRD-PARTY-LICENSES.txt")).toContain("react-dom\n\nMIT License")
  })

  test("make a tarball of at most 2.15 MB", () => {
    expect(built.size).toBeLessThan(2_150_000)
  })

  test("say nothing about where they were built", () => {
    expect(built.files.filter((file) => read(file).includes(root))).toEqual([])
  })
})

describe("an application", { timeout: BUILD_TIMEOUT }, () => {
  const onNode = Object.keys(EXPORTS).filter((entry) => !NEUTRAL.includes(entry))
  test.each(onNode)("imports %s and finds the pinned names", async (entry) => {
    const names = await run(
      "node",
      [
        "--input-type=module",
        "-e",
        `const m = await import("${specifier(entry)}"); console.log(JSON.stringify(Object.keys(m)))`,
      ],
      built.app,
    )

    expect(JSON.parse(names)).toEqual(EXPORTS[entry])
  })

  test.each(Object.keys(EXPORTS))("may require() %s", async (entry) => {
    const names = await run(
      "node",
      ["-e", `console.log(JSON.stringify(Object.keys(require("${specifier(entry)}")).sort()))`],
      built.app,
    )

    expect(JSON.parse(names)).toEqual(EXPORTS[entry])
  })

  test("recognises errors and envelopes of the form for bundlers", async () => {
    const script = [
      `import { CallError, isCallError, isResponseEnvelope, localEnvelope } from "${manifest.name}"`,
      `import * as other from "./node_modules/${manifest.name}/dist/index.js"`,
      `const errors = [isCallError(new other.CallError("X", "x")), other.isCallError(new CallError("X", "x"))]`,
      `const envelopes = [isResponseEnvelope(other.localEnvelope(1, "a.b")), other.isResponseEnvelope(localEnvelope(1, "a.b"))]`,
      `console.log(JSON.stringify([other.CallError === CallError, ...errors, ...envelopes]))`,
    ].join("\n")
    await writeFile(join(built.app, "forms.mjs"), script)

    expect(JSON.parse(await run("node", ["forms.mjs"], built.app))).toEqual([
      false,
      ...[true, true],
      ...[true, true],
    ])
  })

  test("sees the message of an error that it does not catch, not pages of code", async () => {
    const code = `import { createRegistry } from "${manifest.name}"\ncreateRegistry([], { outputs: "strict" })`
    const printed = await run("node", ["--input-type=module", "-e", code], built.app).catch(String)

    expect(printed).toContain('Did you mean "output"?')
    expect(printed.length).toBeLessThan(3_000)
  })

  test("builds with Type of ./type what typebox builds, and registers it", async () => {
    const script = [
      `import { createRegistry, defineOperation, FromSchema } from "${specifier(".")}"`,
      `import { Type } from "${specifier("./type")}"`,
      'import * as theirs from "typebox"',
      "const shapes = (Type) => {",
      '  const Base = Type.Object({ id: Type.String(), kind: Type.Union([Type.Literal("a"), Type.Literal("b")]) })',
      "  const Tree = Type.Cyclic({ Node: Type.Object({ next: Type.Optional(Type.Ref('Node')) }) }, 'Node')",
      "  return [Base, Tree, Type.Partial(Base), Type.Pick(Base, ['id']), Type.Omit(Base, ['id']), Type.Record(Type.String(), Base)]",
      "    .concat([Type.Intersect([Base, Type.Object({ more: Type.Integer() })]), Type.Enum(['x', 'y']), Type.KeyOf(Base)])",
      "    .concat([Type.Array(Type.Tuple([Type.Number(), Type.Null()])), Type.TemplateLiteral('a-${string}')])",
      "}",
      "const [ours, others] = [shapes(Type), shapes(theirs.Type)]",
      "const names = Object.keys(Type).join() === Object.keys(theirs.Type).join()",
      "const same = JSON.stringify(ours) === JSON.stringify(others)",
      "const admitted = ours.map((schema) => FromSchema(schema)).length === ours.length",
      "const registry = createRegistry([defineOperation({ namespace: 'a', name: 'b', type: 'query', description: '',",
      "  inputSchema: ours[2], outputSchema: others[2], accessControl: { requiredScopes: [] }, handler: (input) => input })])",
      "const { data } = await registry.execute('a.b', { id: '1' })",
      "const refused = await registry.execute('a.b', { id: 1 }).catch((error) => error.code)",
      "console.log(names, same, admitted, data.id, refused)",
    ].join("\n")

    const said = await run("node", ["--input-type=module", "-e", script], built.app)

    expect(said).toBe("true true true 1 VALIDATION_ERROR\n")
  })

  test("serves the console that came with the package", async () => {
    const script = [
      `import { createHub, serveHub } from "${specifier("./node")}"`,
      'const config = { sources: [], server: {}, registry: {}, baseDir: ".", file: undefined }',
      "const hub = createHub(config)",
      "const served = await serveHub(hub, { port: 0 })",
      "const page = await (await fetch(served.consoleUrl, { headers: { accept: 'text/html' } })).text()",
      'const script = new URL(/src="([^"]+)"/.exec(page)[1], served.consoleUrl)',
      "const { status, headers } = await fetch(script)",
      'console.log(status, headers.get("content-type"))',
      "await served.close()",
      "await hub.close()",
    ].join("\n")

    const said = await run("node", ["--input-type=module", "-e", script], built.app)

    expect(said).toBe("200 text/javascript; charset=utf-8\n")
  })

  test("serves without any of the optional packages", async () => {
    const script = [
      'const { createRegistry } = await import("@alkdev/operations")',
      'const { serveHTTP } = await import("@alkdev/operations/node")',
      "const served = await serveHTTP(createRegistry([]), { port: 0 })",
      "const answer = await fetch(`${served.url}/operations`)",
      "console.log(answer.status)",
      "await served.close()",
    ].join("\n")

    expect((await run("node", ["--input-type=module", "-e", script], built.app)).trim()).toBe("200")
  })

  test.each(NEUTRAL)(
    "imports %s where the globals of Node are missing, and finds the pinned names",
    async (entry) => {
      const script = [
        "const { log } = console",
        'for (const name of ["process", "Buffer", "setImmediate", "global"]) delete globalThis[name]',
        `const module = await import("${specifier(entry)}")`,
        "log(JSON.stringify(Object.keys(module)))",
      ].join("\n")

      const names = await run("node", ["--input-type=module", "-e", script], built.app)

      expect(JSON.parse(names)).toEqual(EXPORTS[entry])
    },
  )
})

describe("Node", () => {
  /** What may be loaded before an entry or a program runs, in files and kilobytes. Lower it with every improvement. */
  const LIMITS: Readonly<Record<string, readonly [files: number, kilobytes: number]>> = {
    "cli/bin": [3, 60],
    config: [11, 144],
    "from-mcp": [17, 437],
    "from-openapi": [17, 781],
    "from-standard-schema": [6, 266],
    http: [3, 86],
    index: [19, 792],
    nats: [9, 225],
    node: [26, 888],
    otel: [6, 120],
    redis: [9, 225],
    schemas: [7, 269],
    "tanstack-query": [3, 87],
    testing: [3, 87],
    "to-http": [21, 736],
    "to-mcp": [20, 732],
    tools: [20, 732],
    type: [1, 120],
    websocket: [20, 732],
    worker: [3, 87],
  }

  test("has limits for every entry", () => {
    const names = [...sourceEntries.values()].map((file) => file.replace(/^src\/|\.ts$/g, ""))
    expect(Object.keys(LIMITS)).toEqual([...names, "cli/bin"].toSorted())
  })

  test.each(Object.entries(LIMITS))("loads little for %s", (name, [files, kilobytes]) => {
    const loaded = new Set([name.startsWith("cli/") ? `dist/${name}.js` : `dist/bundle/${name}.js`])
    // A set that grows while it is walked is walked to its end.
    for (const file of loaded) {
      for (const [, path = ""] of read(file).matchAll(/(?:from|import)\s?"(\.[^"]+)"/g))
        loaded.add(posix.join(posix.dirname(file), path))
    }
    const bytes = [...loaded].reduce((sum, file) => sum + read(file).length, 0)
    expect([loaded.size, Math.ceil(bytes / 1000)]).toSatisfy(
      ([count = 0, size = 0]: readonly number[]) => count <= files && size <= kilobytes,
    )
  })
})

describe("a page", () => {
  test.each(BROWSER_BUNDLES)("with $name loads no more than it may", async (bundle) => {
    const size = await bundledSize(bundle.source, built.app)

    expect(size).toBeGreaterThan(1000)
    expect(size).toBeLessThanOrEqual(bundle.limit)
  })
})

describe.each(NEUTRAL)("the import graph of %s", (entry) => {
  let bundle: BuildResult<{ metafile: true }>
  beforeAll(async () => {
    bundle = await bundleGraph(entry)
  })

  test("imports no Node builtin and no package that is not a dependency", () => {
    expect(externalImports(bundle.metafile)).toEqual([])
  })

  test("uses no global of a platform", () => {
    const uses = Object.keys(bundle.metafile.inputs)
      .filter((file) => file.includes(manifest.name))
      .flatMap((file) =>
        findGlobals(readFileSync(resolve(built.app, file), "utf8"), [
          "process",
          "Buffer",
          "Deno",
          "Bun",
          "require",
          "__dirname",
          "__filename",
        ]).map((use) => `${file}:${use.line} ${use.name}`),
      )

    expect(uses).toEqual([])
  })

  test("can be bundled for a browser", () => {
    expect(bundle.errors).toEqual([])
    expect(bundle.warnings).toEqual([])
  })
})

describe.each(["", "tools/bench/", "tools/interop/"])("the lockfile in %j", (folder) => {
  const lockfile = readFileSync(resolve(root, `${folder}package-lock.json`), "utf8")
  const { packages } = JSON.parse(lockfile) as { packages: Record<string, LockedPackage> }

  test("names no registry host, so that it works with any", () => {
    expect(lockfile.match(/"resolved": "(?!file:)[^"]*"/g) ?? []).toEqual([])
  })

  // npm leaves out an optional package that it could not fetch, and then `npm ci` refuses the file.
  test("lists the optional packages of every platform", () => {
    const missing = Object.entries(packages).flatMap(([path, { optionalDependencies = {} }]) =>
      Object.keys(optionalDependencies).filter(
        (name) =>
          !(`${path}/node_modules/${name}` in packages || `node_modules/${name}` in packages),
      ),
    )

    expect(missing).toEqual([])
  })

  test("has the hash of every package", () => {
    const unhashed = Object.entries(packages)
      .filter(([path, { integrity, link }]) => path !== "" && link !== true && !integrity)
      .map(([path]) => path)

    expect(unhashed).toEqual([])
  })

  test("is not contradicted by an .npmrc", () => {
    const npmrc = resolve(root, `${folder}.npmrc`)

    expect(existsSync(npmrc) ? readFileSync(npmrc, "utf8") : "").not.toMatch(/registry/)
  })
})

/** Follows every static and dynamic import, into the dependencies too; optional packages stay outside. */
function bundleGraph(entry: string): Promise<BuildResult<{ metafile: true }>> {
  return build({
    stdin: { contents: `export * from "${specifier(entry)}"`, resolveDir: built.app },
    absWorkingDir: built.app,
    bundle: true,
    platform: "neutral",
    format: "esm",
    outdir: "out",
    splitting: true,
    write: false,
    metafile: true,
    logLevel: "silent",
    external: ["node:*", ...builtinModules, ...Object.keys(manifest.peerDependencies ?? {})],
  })
}

function externalImports(metafile: Metafile): string[] {
  const peers = Object.keys(manifest.peerDependencies ?? {})
  return Object.entries(metafile.inputs).flatMap(([file, input]) =>
    input.imports
      .filter(
        (reference) => reference.external && !peers.some((peer) => reference.path.startsWith(peer)),
      )
      .map((reference) => `${file} imports "${reference.path}"`),
  )
}

function read(file: string): string {
  return readFileSync(join(built.installed, file), "utf8")
}
