import { existsSync, readdirSync, readFileSync } from "node:fs"
import { posix, relative, resolve, sep } from "node:path"
import { describe, expect, test } from "vitest"
import { manifest, root, sourceEntries } from "./support/manifest.ts"
import { findGlobals, findImports, type ImportReference } from "./support/source-scan.ts"

interface Folder {
  /** Folders it imports from, besides itself; or parts of them: a folder within, or one file. */
  readonly uses: readonly string[]
  /** Folders of which only `import type` is allowed. */
  readonly types?: readonly string[]
  /** Packages it imports. Types of TypeBox are part of our signatures and allowed everywhere. */
  readonly packages?: readonly string[]
  /** Optional packages: `import type` at the top, `import()` on first use. */
  readonly peers?: boolean
  /** `node:*`, `process` and the like. */
  readonly platform?: boolean
  /** Folders in it that do not know each other; what they share lies beside them. */
  readonly siblings?: readonly string[]
}

/** Data and schemas: what every other folder may use. */
const BASE = ["internal", "schema", "search", "core"]
const LIBRARY = [
  ...BASE,
  "http-client",
  "policy",
  "approvals",
  "engine",
  "protocol",
  "transport",
  "mcp",
  "typegen",
  "tools",
  "sources",
  "serve",
]

/** What the console is built with: docs/architecture/decisions/023-console.md. */
const CONSOLE_PACKAGES = [
  "@cfworker/json-schema",
  "@codemirror/autocomplete",
  "@codemirror/commands",
  "@codemirror/lang-json",
  "@codemirror/language",
  "@codemirror/lint",
  "@codemirror/state",
  "@codemirror/view",
  "@tanstack/react-virtual",
  "@vitejs/plugin-react",
  "dompurify",
  "marked",
  "react",
  "react-dom",
  "react-dom/client",
  "vite",
]

/** What the console calls operations with, and reads their policies and the events of a hub with. */
const CLIENT = [
  "core/envelope-codec.ts",
  "core/error-marks.ts",
  "core/errors.ts",
  "core/plain-json.ts",
  "core/policy-state.ts",
  "core/problem.ts",
  "core/selection.ts",
  "core/socket-sizes.ts",
  "core/unread-file.ts",
  "http-client/sse.ts",
  "protocol/client.ts",
  "schema/file-fields.ts",
  "transport/http/http-transport.ts",
  "transport/websocket/websocket.ts",
]

/** The folders of `src/`, from the inside out, and the console: a folder uses only those before it. */
const FOLDERS: Readonly<Record<string, Folder>> = {
  internal: {
    uses: [],
    packages: ["@noble/hashes/sha2.js", "@noble/hashes/utils.js"],
    peers: true,
  },
  schema: { uses: ["internal"], packages: ["typebox", "typebox/schema", "typebox/system"] },
  search: { uses: [] },
  core: { uses: ["internal", "schema"], packages: ["typebox"] },
  "http-client": { uses: ["internal", "schema", "core"], packages: ["eventsource-parser"] },
  policy: { uses: BASE },
  approvals: { uses: BASE },
  engine: { uses: [...BASE, "policy", "approvals"] },
  protocol: { uses: [...BASE, "engine"] },
  transport: {
    uses: [...BASE, "http-client"],
    types: ["protocol"],
    peers: true,
    siblings: ["http", "nats", "redis", "websocket", "bus/caller", "bus/worker"],
  },
  mcp: { uses: BASE },
  typegen: { uses: BASE },
  tools: { uses: [...BASE, "http-client", "engine", "mcp", "typegen"] },
  // An entry that is useless without the package: it loads it at once.
  otel: { uses: [...BASE, "engine"], packages: ["@opentelemetry/api"] },
  sources: {
    uses: [...BASE, "http-client", "mcp"],
    types: ["engine"],
    packages: ["js-yaml"],
    peers: true,
    siblings: ["openapi", "mcp", "scan"],
  },
  serve: {
    uses: LIBRARY.filter((name) => name !== "serve" && name !== "sources"),
    peers: true,
    siblings: ["http", "mcp", "websocket"],
  },
  config: { uses: [...BASE, "http-client", "mcp", "sources"], packages: ["js-yaml"] },
  node: { uses: LIBRARY, peers: true, platform: true },
  hub: { uses: [...LIBRARY, "otel", "config", "node"], peers: true, platform: true },
  // Of what runs operations, programs use what a user could import: the entries.
  cli: {
    uses: [...BASE, "http-client", "mcp", "typegen", "sources", "config", "node", "hub", "entries"],
    peers: true,
    platform: true,
  },
  // One file per key of "exports" in package.json, with nothing but re-exports.
  entries: { uses: [...LIBRARY, "policy", "otel", "config", "node", "hub"], packages: ["typebox"] },
  // A page, which knows a hub by what it answers, and reads schemas as the library does. Its packages are bundled into it, and into nothing else.
  console: {
    uses: ["internal", "schema/json.ts", "schema/read", ...CLIENT],
    types: [...LIBRARY, "hub", "entries"],
    packages: CONSOLE_PACKAGES,
  },
}

const PLATFORM_GLOBALS = [
  "process",
  "Deno",
  "Bun",
  "Buffer",
  "require",
  "__dirname",
  "__filename",
] as const

const LONG_FILE = 300

/** What is published although it lies in `internal/`. */
const PUBLISHED: ReadonlySet<string> = new Set([
  "src/internal/logger.ts",
  "src/internal/manual-clock.ts",
  "src/internal/platform.ts",
])

/** Helpers of which there is one: what a copy looks like, and where the helper is. */
const HELPERS: readonly { readonly copy: RegExp; readonly home: string }[] = [
  { copy: /\bfunction is(Plain)?(Object|Record)\(/, home: "src/internal/guards.ts" },
  {
    copy: /return typeof (\w+) === "object" && \1 !== null( && !Array\.isArray\(\1\))?\n\}/,
    home: "src/internal/guards.ts",
  },
  { copy: /\* 2 \*\* [^\d\s]/, home: "src/internal/back-off.ts" },
  { copy: /[lL]isteners = new (Map|Set)\b/, home: "src/internal/listeners.ts" },
  {
    copy: /setTimeout\((resolve\b|\(\) => (resolve\(\)|reject\())/,
    home: "src/internal/wait.ts",
  },
  { copy: /\.defer === undefined/, home: "src/internal/clock.ts" },
  { copy: /import\([^)]*`node:/, home: "src/internal/node-builtin.ts" },
  {
    // A pattern with alternatives of which one names a credential.
    copy: /^(?!\s*(?:\/\/|\*|import)).*\/[^/\n ]*(?:authorization|passw|credential|secret|token\||api\W{0,6}key)[^/\n ]*\|[^/\n ]*\//im,
    home: "src/internal/secret-names.ts",
  },
]

const peers = Object.keys(manifest.peerDependencies ?? {})
const entries = new Set(sourceEntries.values())
const sources = sourceFiles("src")
const files = [...sources, ...sourceFiles("console")]

describe("the architecture test reads the folders, so", () => {
  test("there are files to check", () => {
    expect(sources.length).toBeGreaterThan(500)
  })

  test("every folder of src/ is described", () => {
    const folders = readdirSync(resolve(root, "src"), { withFileTypes: true })
      .filter((entry) => entry.isDirectory())
      .map(({ name }) => name)

    expect(folders.toSorted()).toEqual(
      Object.keys(FOLDERS)
        .filter((name) => name !== "entries" && name !== "console")
        .toSorted(),
    )
  })

  test("every folder uses only folders further in", () => {
    const names = Object.keys(FOLDERS)
    const outward = names.flatMap((name, at) =>
      (FOLDERS[name]?.uses ?? [])
        .filter((used) => names.indexOf(used) > at && used !== "entries")
        .map((used) => `${name} uses ${used}`),
    )

    expect(outward).toEqual([])
  })
})

describe("source files", () => {
  test("directly in src/ are the entries of the package", () => {
    const loose = sources.filter((file) => folderOf(file) === "entries")

    expect(loose.toSorted()).toEqual([...entries].toSorted())
  })

  test("directly in src/ only re-export", () => {
    expect([...entries].filter((file) => !onlyReExports(read(file)))).toEqual([])
  })

  test("have names in kebab-case", () => {
    const name = /^[a-z0-9]+(-[a-z0-9]+)*$/
    const odd = sources.filter((file) =>
      file
        .replace(/\.ts$/, "")
        .split("/")
        .some((part) => !name.test(part)),
    )

    expect(odd).toEqual([])
  })

  test("import inward", () => {
    expect(files.flatMap((file) => importFaults(file, read(file)))).toEqual([])
  })

  test("import each other in no circle, types included", () => {
    expect(circles(files)).toEqual([])
  })

  test("of the core use no global of a platform", () => {
    expect(files.flatMap((file) => globalFaults(file, read(file)))).toEqual([])
  })

  test("leave the call of a handler to src/engine/invoke.ts", () => {
    const calls = /\bhandler\(|handler as [^)]*\)\(/
    const inEngine = files.filter((file) => /^src\/(engine|protocol)\//.test(file))
    expect(inEngine.filter((file) => calls.test(read(file)))).toEqual(["src/engine/invoke.ts"])
  })

  test("serve MCP without the SDK, whose client alone is used: by src/sources/mcp/client/", () => {
    const SDK = "@modelcontextprotocol/"
    const users = files.filter((file) =>
      findImports(read(file)).some(({ specifier }) => specifier?.startsWith(SDK) === true),
    )
    expect(users).toEqual(["src/sources/mcp/client/sdk.ts"])
  })

  test("copy no helper of src/internal/", () => {
    const all = [...files, ...sourceFiles("tools/faults")]
    expect(all.flatMap((file) => helperFaults(file, read(file)))).toEqual([])
  })

  test(`past ${LONG_FILE} lines begin with a comment that states their purpose`, () => {
    expect(files.flatMap((file) => lengthFaults(file, read(file)))).toEqual([])
  })
})

describe("the rules themselves", () => {
  test.each([
    ["src/engine/registry.ts", 'import { CallError } from "../core/errors.ts"'],
    ["src/engine/registry.ts", 'import { compile } from "../schema/compiled.ts"'],
    ["src/engine/registry.ts", 'import type { TSchema } from "typebox"'],
    ["src/core/types.ts", 'import { Type } from "typebox"'],
    ["src/schema/compiled.ts", 'import { Compile } from "typebox/schema"'],
    ["src/sources/openapi/a.ts", 'import type { AnyRegistry } from "../../engine/registry.ts"'],
    ["src/transport/memory.ts", 'import type { Transport } from "../protocol/transport.ts"'],
    ["src/transport/nats/bus.ts", 'import { Ticker } from "../bus/ticker.ts"'],
    ["src/transport/bus/caller/a.ts", 'import { b } from "../wire/b.ts"'],
    ["src/serve/mcp/a.ts", 'import { exposure } from "../../tools/expose.ts"'],
    ["src/index.ts", 'export { OperationRegistry } from "./engine/registry.ts"'],
    ["src/node/fs.ts", 'import { readFile } from "node:fs/promises"'],
    ["src/cli/main.ts", 'import { OperationRegistry } from "../index.ts"'],
    ["src/cli/main.ts", 'import { nodeFS } from "../node/fs.ts"'],
    ["console/main.ts", 'import type { ResponseEnvelope } from "../src/index.ts"'],
    ["console/main.tsx", 'import type { SourceStatus } from "../src/hub/model.ts"'],
    ["console/main.tsx", 'import { flatten } from "../src/schema/read/flatten.ts"'],
    ["console/main.tsx", 'import { getOwn } from "../src/schema/json.ts"'],
    ["console/main.ts", 'import { createClient } from "../src/protocol/client.ts"'],
    ["console/main.tsx", 'import { App } from "./app/App.tsx"'],
    ["console/main.tsx", 'import "./styles/base.css"'],
    ["console/main.tsx", 'import { useState } from "react"'],
  ])("%s may say: %s", (file, source) => {
    expect(importFaults(file, source)).toEqual([])
  })

  test.each([
    ["src/core/types.ts", 'import { Kernel } from "../engine/kernel.ts"', "engine"],
    ["src/core/types.ts", 'import { Compile } from "typebox/schema"', "typebox/schema"],
    ["src/internal/a.ts", 'import type { CallError } from "../core/errors.ts"', "core"],
    ["src/schema/compiled.ts", 'import { CallError } from "../core/errors.ts"', "core"],
    ["src/search/index.ts", 'import { Type } from "typebox"', "typebox"],
    ["src/engine/registry.ts", 'import { a } from "../sources/openapi/a.ts"', "sources"],
    ["src/engine/registry.ts", 'import { Type } from "typebox"', "typebox"],
    ["src/engine/registry.ts", 'await import("node:fs")', "node:fs"],
    ["src/engine/registry.ts", 'import { readFile } from "fs"', "fs"],
    ["src/engine/registry.ts", 'import { z } from "zod"', "zod"],
    ["src/sources/scan/a.ts", 'import { b } from "../../engine/registry.ts"', "import type"],
    ["src/sources/scan/a.ts", 'import { b } from "../openapi/b.ts"', "openapi"],
    ["src/serve/http/a.ts", 'import type { B } from "../mcp/b.ts"', "mcp"],
    ["src/transport/nats/a.ts", 'import { b } from "../redis/b.ts"', "redis"],
    ["src/transport/bus/caller/a.ts", 'import { b } from "../worker/b.ts"', "bus/worker"],
    ["src/transport/memory.ts", 'import { a } from "../protocol/client.ts"', "import type"],
    ["src/transport/memory.ts", 'import type { X } from "../engine/registry.ts"', "engine"],
    ["src/index.ts", 'export * from "./internal/abort.ts"', "internal"],
    ["src/engine/registry.ts", 'import { x } from "../index.ts"', "entries"],
    ["src/hub/a.ts", 'import { x } from "../index.ts"', "entries"],
    ["src/cli/main.ts", 'import { Kernel } from "../engine/kernel.ts"', "engine"],
    ["src/node/fs.ts", 'import { main } from "../cli/main.ts"', "cli"],
    ["console/main.ts", 'import { unwrap } from "../src/index.ts"', "import type"],
    ["console/main.ts", 'import { a } from "../src/schema/compiled.ts"', "import type"],
    ["console/main.ts", 'import { a } from "../src/protocol/from-call.ts"', "import type"],
    ["console/main.ts", 'import { a } from "../src/config/define.ts"', "config"],
    ["console/main.ts", 'import { z } from "zod"', "zod"],
    ["src/engine/registry.ts", 'import "./styles.css"', ".ts"],
    ["src/hub/activity.ts", 'import { useState } from "react"', "react"],
    ["src/core/types.ts", 'import { x } from "./errors.js"', ".ts"],
  ])("%s may not say: %s", (file, source, reason) => {
    expect(importFaults(file, source)).toEqual([expect.stringContaining(reason)])
  })

  test("a circle is found, and named by its files", () => {
    const graph = new Map([
      ["a", ["b"]],
      ["b", ["c"]],
      ["c", ["b", "d"]],
      ["d", []],
    ])

    expect(circlesOf(graph)).toEqual(["b -> c -> b"])
  })

  test("an entry that contains code is found", () => {
    expect(
      onlyReExports(
        '// About.\n\nexport { a } from "./a.ts"\nexport type {\n  B,\n} from "./b.ts"\n',
      ),
    ).toBe(true)
    expect(onlyReExports('export { a } from "./a.ts"\nexport const b = 1\n')).toBe(false)
  })

  test("a global is found in the core and allowed in node/", () => {
    expect(globalFaults("src/engine/registry.ts", "\nprocess.exit()")).toEqual([
      'src/engine/registry.ts:2 uses "process"; take it as an option, and pass the one of Node in src/node/',
    ])
    expect(globalFaults("src/node/fs.ts", "process.cwd()")).toEqual([])
  })

  test.each([
    ["function isObject(value: unknown): boolean {", "guards"],
    ['  return typeof value === "object" && value !== null\n}', "guards"],
    ["const delay = Math.min(MAX, MIN * 2 ** failures)", "back-off"],
    ["readonly #listeners = new Set<() => void>()", "listeners"],
    ["await new Promise((resolve) => setTimeout(resolve, 100))", "wait"],
    ["timer = clock.setTimeout(() => reject(late), timeout)", "wait"],
    ["if (clock.defer === undefined) clock.setTimeout(run, 0)", "clock"],
    ["await import(`node:${name}`)", "node-builtin"],
  ])("a copy of a helper is found: %s", (source, name) => {
    expect(helperFaults("src/engine/registry.ts", source)).toEqual([
      `src/engine/registry.ts:1 repeats a helper; import it from src/internal/${name}.ts`,
    ])
    expect(helperFaults(`src/internal/${name}.ts`, source)).toEqual([])
  })

  test("a long file needs its reason", () => {
    const long = "x()\n".repeat(LONG_FILE + 1)

    expect(lengthFaults("src/a.ts", long)).toHaveLength(1)
    expect(lengthFaults("src/a.ts", `// Splits text into tokens.\n${long}`)).toEqual([])
    expect(lengthFaults("src/a.ts", "x()\n".repeat(LONG_FILE))).toEqual([])
  })
})

function importFaults(file: string, source: string): string[] {
  const folder = folderOf(file)
  return findImports(source).flatMap((reference) => {
    const fault = importFault(file, folder, reference)
    return fault === undefined ? [] : [`${file}:${reference.line} (${folder}) ${fault}`]
  })
}

function importFault(file: string, folder: string, reference: ImportReference): string | undefined {
  const { specifier } = reference
  // `import(url)` of a module the user names: nothing to judge here.
  if (specifier === undefined) return undefined
  return specifier.startsWith(".")
    ? relativeFault(file, folder, reference, specifier)
    : packageFault(folder, reference, specifier)
}

function relativeFault(
  file: string,
  folder: string,
  reference: ImportReference,
  specifier: string,
): string | undefined {
  const isFile = folder === "console" ? /\.(tsx?|css|json)$/ : /\.(ts|json)$/
  if (!isFile.test(specifier)) {
    return `imports "${specifier}": relative imports name the file, with .ts`
  }
  const target = posix.join(posix.dirname(file), specifier)
  const to = folderOf(target)
  const { uses, types = [], siblings = [] } = describedFolder(folder)
  if (to === folder) {
    const own = siblings.find((name) => isIn(file, folder, name))
    const other = siblings.find((name) => name !== own && isIn(target, folder, name))
    return own === undefined || other === undefined
      ? undefined
      : `imports ${target}: "${own}" and "${other}" share through their parent`
  }
  if (target === "src/index.ts" && folder === "entries") return undefined
  if (folder === "entries" && to === "internal" && !PUBLISHED.has(target)) {
    return `publishes ${target}: what is internal is not exported`
  }
  if (uses.some((used) => used === to || isPart(target, used))) return undefined
  if (types.includes(to)) {
    return reference.typeOnly ? undefined : `imports ${target} (${to}): only with "import type"`
  }
  return `imports ${target} (${to}): a folder it may not use`
}

/** Whether a file is one of the part of a folder that a rule names. */
function isPart(file: string, used: string): boolean {
  return used.includes("/") && `${file}/`.startsWith(`src/${used}/`)
}

function isIn(file: string, folder: string, name: string): boolean {
  return file.startsWith(`src/${folder}/${name}/`)
}

function packageFault(
  folder: string,
  reference: ImportReference,
  specifier: string,
): string | undefined {
  const { platform, packages, peers: mayUsePeers } = describedFolder(folder)
  if (specifier.startsWith("node:")) {
    return platform === true
      ? undefined
      : `imports "${specifier}": that belongs in src/node/, src/hub/ or src/cli/`
  }
  if (specifier === "typebox" && reference.typeOnly) return undefined
  if (packages?.includes(specifier) === true) return undefined
  if (
    mayUsePeers === true &&
    peers.some((peer) => specifier === peer || specifier.startsWith(`${peer}/`))
  ) {
    return reference.typeOnly || reference.kind === "dynamic"
      ? undefined
      : `imports "${specifier}": an optional package is loaded with import() on first use`
  }
  return `imports the package "${specifier}", which its folder does not list`
}

/** Circles of imports, types included: each as its files in order. */
function circles(paths: readonly string[]): string[] {
  const known = new Set(paths)
  const graph = new Map(
    paths.map((file) => {
      const targets = findImports(read(file)).flatMap(({ specifier }) =>
        specifier?.startsWith(".") === true
          ? [posix.join(posix.dirname(file), specifier)].filter((target) => known.has(target))
          : [],
      )
      return [file, targets]
    }),
  )
  return circlesOf(graph)
}

function circlesOf(graph: ReadonlyMap<string, readonly string[]>): string[] {
  const found: string[] = []
  const done = new Set<string>()
  const path: string[] = []
  const visit = (file: string): void => {
    const at = path.indexOf(file)
    if (at !== -1) found.push([...path.slice(at), file].join(" -> "))
    if (at !== -1 || done.has(file)) return
    path.push(file)
    for (const target of graph.get(file) ?? []) visit(target)
    path.pop()
    done.add(file)
  }
  for (const file of graph.keys()) visit(file)
  return found
}

/** Whether a module has nothing but `export … from`, and comments. */
function onlyReExports(source: string): boolean {
  const rest = source
    .replaceAll(/\/\*[\s\S]*?\*\//g, "")
    .replaceAll(/^\s*\/\/.*$/gm, "")
    .replaceAll(/^export (type )?(\{[^}]*\}|\*) from "[^"]+"$/gm, "")
  return rest.trim() === ""
}

function globalFaults(file: string, source: string): string[] {
  if (describedFolder(folderOf(file)).platform === true) return []
  return findGlobals(source, PLATFORM_GLOBALS).map(
    ({ name, line }) =>
      `${file}:${line} uses "${name}"; take it as an option, and pass the one of Node in src/node/`,
  )
}

function helperFaults(file: string, source: string): string[] {
  return HELPERS.flatMap(({ copy, home }) => {
    const at = file === home ? -1 : source.search(copy)
    if (at === -1) return []
    const line = source.slice(0, at).split("\n").length
    return [`${file}:${line} repeats a helper; import it from ${home}`]
  })
}

function lengthFaults(file: string, source: string): string[] {
  const lines = source.trimEnd().split("\n")
  if (lines.length <= LONG_FILE) return []
  if (lines[0]?.startsWith("// ")) return []
  return [
    `${file} has ${lines.length} lines: split it, or begin it with a comment that states its one purpose`,
  ]
}

/** The folder of `src/` that a file is in, `entries` for those directly in it, or `console`. */
function folderOf(file: string): string {
  const [top = "", folder = "", ...rest] = file.split("/")
  if (top !== "src") return top
  return rest.length === 0 ? "entries" : folder
}

function describedFolder(name: string): Folder {
  const folder = FOLDERS[name]
  if (folder === undefined) {
    throw new Error(`${name} is not in FOLDERS: add it in test/architecture.test.ts.`)
  }
  return folder
}

function sourceFiles(folder: string): string[] {
  const path = resolve(root, folder)
  if (!existsSync(path)) return []
  return readdirSync(path, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && /\.(ts|tsx|mts|js|mjs)$/.test(entry.name))
    .map((entry) => relative(root, resolve(entry.parentPath, entry.name)).split(sep).join("/"))
    .filter((file) => !/(^|\/)(node_modules|dist)\//.test(file))
    .toSorted()
}

function read(file: string): string {
  return readFileSync(resolve(root, file), "utf8")
}
