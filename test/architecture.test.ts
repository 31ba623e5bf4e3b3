import { existsSync, readdirSync, readFileSync } from "node:fs"
import { posix, relative, resolve, sep } from "node:path"
import { describe, expect, test } from "vitest"
import { manifest, root, sourceEntries } from "./support/manifest.ts"
import { findGlobals, findImports, type ImportReference } from "./support/source-scan.ts"

type Layer =
  | "vocabulary"
  | "schema"
  | "search"
  | "http"
  | "engine"
  | "mapping"
  | "sources"
  | "serving"
  | "transports"
  | "barrel"
  | "config"
  | "runtime"
  | "hub"
  | "programs"
  | "console"

interface Row {
  /** Files, or folders with a slash at the end, under the root of the repository. */
  readonly files: readonly string[]
  /** Layers it imports from, besides itself. */
  readonly uses: readonly Layer[]
  /** Layers or files of which only `import type` is allowed. */
  readonly types?: readonly string[]
  /** Packages it imports. Types of TypeBox are part of our signatures and allowed everywhere. */
  readonly packages?: readonly string[]
  /** Optional packages: `import type` at the top, `import()` on first use. */
  readonly peers?: boolean
  /** `node:*`, `process` and the like. */
  readonly platform?: boolean
}

const VOCABULARY = ["vocabulary", "schema", "search"] as const
const LIBRARY = [
  ...VOCABULARY,
  "http",
  "engine",
  "mapping",
  "sources",
  "serving",
  "transports",
] as const

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
  "@rjsf/core/lib/components/Form.js",
  "@rjsf/utils",
  "@tanstack/react-virtual",
  "@vitejs/plugin-react",
  "dompurify",
  "eventsource-parser/stream",
  "marked",
  "react",
  "react-dom",
  "react-dom/client",
  "vite",
]

/** The table of "Imports point inward". A new file or folder gets its place here. */
const TABLE: Record<Layer, Row> = {
  vocabulary: {
    files: [
      "src/core/types.ts",
      "src/core/infer.ts",
      "src/core/infer-schema.ts",
      "src/core/infer-json-schema.ts",
      "src/core/errors.ts",
      "src/core/map-error.ts",
      "src/core/envelope.ts",
      "src/core/validation.ts",
      "src/internal/logger.ts",
      "src/internal/manual-clock.ts",
      "src/internal/platform.ts",
      "src/core/define.ts",
      "src/codes.ts",
      "src/core/envelope-codec.ts",
      "src/core/spec-schemas.ts",
      "src/core/envelope-schemas.ts",
      "src/core/events.ts",
      "src/core/event-codec.ts",
      "src/core/is-event.ts",
      "src/internal/",
    ],
    uses: VOCABULARY,
    packages: ["typebox"],
  },
  schema: {
    files: ["src/schema/"],
    uses: [],
    packages: ["typebox", "typebox/schema", "typebox/system"],
  },
  search: { files: ["src/search/"], uses: [] },
  http: {
    files: ["src/http-client/"],
    uses: VOCABULARY,
    types: ["src/sources/openapi/model.ts"],
    packages: ["eventsource-parser"],
  },
  engine: {
    files: [
      "src/core/access.ts",
      "src/engine/result-pipeline.ts",
      "src/engine/registry.ts",
      "src/protocol/index.ts",
      "src/engine/subscribe.ts",
      "src/engine/env.ts",
      "src/engine/",
      "src/protocol/",
      "src/protocol/from-call.ts",
      "src/protocol/client.ts",
    ],
    uses: VOCABULARY,
    types: ["src/protocol/transport.ts"],
  },
  mapping: {
    files: [
      "src/schema/from-schema.ts",
      "src/schema/from-standard-schema.ts",
      "src/sources/openapi/",
      "src/mcp/",
      "src/typegen/",
    ],
    uses: [...VOCABULARY, "http"],
    packages: ["js-yaml"],
  },
  sources: {
    files: [
      "src/from-openapi.ts",
      "src/sources/openapi/from-openapi.ts",
      "src/sources/openapi/services.ts",
      "src/sources/openapi/paginate.ts",
      "src/sources/openapi/paginate/",
      "src/from-mcp.ts",
      "src/sources/mcp/client/",
      "src/sources/scan/scanner.ts",
      "src/sources/scan/",
    ],
    uses: [...VOCABULARY, "http", "mapping"],
    types: ["engine"],
    peers: true,
  },
  serving: {
    files: ["src/serve/", "src/websocket.ts", "src/to-mcp.ts", "src/to-http.ts"],
    uses: [...VOCABULARY, "http", "engine", "mapping", "transports"],
    peers: true,
  },
  transports: {
    files: ["src/transport/"],
    uses: VOCABULARY,
    types: ["src/protocol/index.ts"],
    peers: true,
  },
  barrel: { files: ["src/index.ts"], uses: LIBRARY },
  // The barrel of what needs Node; before the folder it is in.
  hub: {
    files: ["src/hub/", "src/node.ts"],
    uses: [...LIBRARY, "barrel", "config", "runtime"],
    peers: true,
    platform: true,
  },
  runtime: { files: ["src/node/"], uses: [...LIBRARY, "barrel"], peers: true, platform: true },
  config: {
    files: ["src/config.ts", "src/config/"],
    uses: [...VOCABULARY, "http", "mapping"],
    packages: ["js-yaml"],
  },
  // Of what runs operations, programs use what a user could import: the entries of package.json.
  programs: {
    files: ["src/cli/"],
    uses: [...VOCABULARY, "http", "mapping", "config", "runtime", "hub"],
    peers: true,
    platform: true,
  },
  // A page, which knows a hub by what it answers. Its packages are bundled into it, and into nothing else.
  console: {
    files: ["console/"],
    uses: [],
    types: [...LIBRARY, "barrel", "hub"],
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

const peers = Object.keys(manifest.peerDependencies ?? {})
const entries = new Set(sourceEntries.values())
const files = [...sourceFiles("src"), ...sourceFiles("console")]

describe("architecture", () => {
  test("there is something to look at", () => {
    expect(files).not.toEqual([])
  })

  test("every file has its place in the table", () => {
    const lost = files
      .filter((file) => layerOf(file) === undefined)
      .map((file) => `${file} is in no row: add it to TABLE in test/architecture.test.ts`)

    expect(lost).toEqual([])
  })

  test("imports point inward", () => {
    expect(files.flatMap((file) => importFaults(file, read(file)))).toEqual([])
  })

  test("the core uses no global of a platform", () => {
    expect(files.flatMap((file) => globalFaults(file, read(file)))).toEqual([])
  })

  test(`a file past ${LONG_FILE} lines says why at its top`, () => {
    expect(files.flatMap((file) => lengthFaults(file, read(file)))).toEqual([])
  })
})

describe("the rules themselves", () => {
  test.each([
    ["src/engine/registry.ts", 'import { CallError } from "./errors.ts"'],
    ["src/engine/registry.ts", 'import { compile } from "./schema/compile.ts"'],
    ["src/engine/registry.ts", 'import type { TSchema } from "typebox"'],
    ["src/core/types.ts", 'import { Type } from "typebox"'],
    ["src/schema/compile.ts", 'import { Compile } from "typebox/schema"'],
    ["src/from-openapi.ts", 'import type { OperationRegistry } from "./registry.ts"'],
    ["src/transport/memory.ts", 'import type { CallEvent } from "../call.ts"'],
    ["src/transport/memory.ts", 'import type { Transport } from "./types.ts"'],
    ["src/index.ts", 'export { OperationRegistry } from "./registry.ts"'],
    ["src/node.ts", 'import { readFile } from "node:fs/promises"'],
    ["src/cli/main.ts", 'import { OperationRegistry } from "../index.ts"'],
    ["src/cli/main.ts", 'import { nodeFS } from "../node/fs.ts"'],
    ["console/main.ts", 'import type { ResponseEnvelope } from "../src/index.ts"'],
    ["console/main.tsx", 'import type { SourceStatus } from "../src/hub/model.ts"'],
    ["console/main.tsx", 'import { App } from "./app/App.tsx"'],
    ["console/main.tsx", 'import "./styles/base.css"'],
    ["console/main.tsx", 'import { useState } from "react"'],
  ])("%s may say: %s", (file, source) => {
    expect(importFaults(file, source)).toEqual([])
  })

  test.each([
    ["src/core/types.ts", 'import { OperationRegistry } from "./registry.ts"', "vocabulary"],
    ["src/core/types.ts", 'import { Compile } from "typebox/schema"', "typebox/schema"],
    ["src/schema/compile.ts", 'import { CallError } from "../errors.ts"', "vocabulary"],
    ["src/search/index.ts", 'import { Type } from "typebox"', "typebox"],
    ["src/engine/registry.ts", 'export { FromOpenAPI } from "./from_openapi.ts"', "sources"],
    ["src/engine/registry.ts", 'import { Type } from "typebox"', "typebox"],
    ["src/engine/registry.ts", 'await import("node:fs")', "node:fs"],
    ["src/engine/registry.ts", 'import { readFile } from "fs"', "fs"],
    ["src/engine/registry.ts", 'import { z } from "zod"', "zod"],
    ["src/from-openapi.ts", 'import { OperationRegistry } from "./registry.ts"', "import type"],
    ["src/transport/memory.ts", 'import { PendingRequestMap } from "../call.ts"', "import type"],
    ["src/transport/memory.ts", 'import type { X } from "../registry.ts"', "engine"],
    ["src/index.ts", 'export * from "./node/index.ts"', "hub"],
    ["src/index.ts", 'export * from "./node/fs.ts"', "runtime"],
    ["src/index.ts", 'export * from "./internal/abort.ts"', "internal"],
    ["src/engine/registry.ts", 'import { x } from "./index.ts"', "barrel"],
    ["src/cli/main.ts", 'import { enforceAccess } from "../access.ts"', "engine"],
    ["src/node/fs.ts", 'import { main } from "../cli/main.ts"', "programs"],
    ["console/main.ts", 'import { unwrap } from "../src/index.ts"', "import type"],
    ["console/main.ts", 'import { defineConfig } from "../src/config.ts"', "config"],
    ["console/main.ts", 'import { z } from "zod"', "zod"],
    ["src/engine/registry.ts", 'import "./styles.css"', ".ts"],
    ["src/hub/activity.ts", 'import { useState } from "react"', "react"],
    ["src/core/types.ts", 'import { x } from "./errors.js"', ".ts"],
  ])("%s may not say: %s", (file, source, reason) => {
    expect(importFaults(file, source)).toEqual([expect.stringContaining(reason)])
  })

  test("a global is found in the core and allowed in node/", () => {
    expect(globalFaults("src/engine/registry.ts", "\nprocess.exit()")).toEqual([
      'src/engine/registry.ts:2 uses "process"; take it as an option, and give the Node one in src/node/',
    ])
    expect(globalFaults("src/node/fs.ts", "process.cwd()")).toEqual([])
  })

  test("a long file needs its reason", () => {
    const long = "x()\n".repeat(LONG_FILE + 1)

    expect(lengthFaults("src/a.ts", long)).toHaveLength(1)
    expect(lengthFaults("src/a.ts", `// One idea: the tokenizer.\n${long}`)).toEqual([])
    expect(lengthFaults("src/a.ts", "x()\n".repeat(LONG_FILE))).toEqual([])
  })
})

function importFaults(file: string, source: string): string[] {
  const layer = layerOf(file)
  if (layer === undefined) return []
  return findImports(source).flatMap((reference) => {
    const fault = importFault(file, layer, reference)
    return fault === undefined ? [] : [`${file}:${reference.line} (${layer}) ${fault}`]
  })
}

function importFault(file: string, layer: Layer, reference: ImportReference): string | undefined {
  const { specifier } = reference
  // `import(url)` of a module the user names: nothing to judge here.
  if (specifier === undefined) return undefined
  return specifier.startsWith(".")
    ? relativeFault(file, layer, reference, specifier)
    : packageFault(layer, reference, specifier)
}

function relativeFault(
  file: string,
  layer: Layer,
  reference: ImportReference,
  specifier: string,
): string | undefined {
  const isFile = layer === "console" ? /\.(tsx?|css|json)$/ : /\.(ts|json)$/
  if (!isFile.test(specifier)) {
    return `imports "${specifier}": relative imports name the file, with .ts`
  }
  const target = posix.join(posix.dirname(file), specifier)
  const to = layerOf(target)
  if (to === undefined) return `imports ${target}, which is in no row of TABLE`
  if (layer === "barrel" && target.startsWith("src/internal/")) {
    return `publishes ${target}: what is internal is not exported`
  }
  const row = TABLE[layer]
  if (to === layer || row.uses.includes(to)) return undefined
  if (layer === "programs" && entries.has(target)) return undefined
  if (row.types?.some((allowed) => allowed === to || allowed === target)) {
    return reference.typeOnly ? undefined : `imports ${target}: only with "import type"`
  }
  return `imports ${target} (${to}): a layer it may not know`
}

function packageFault(
  layer: Layer,
  reference: ImportReference,
  specifier: string,
): string | undefined {
  const row = TABLE[layer]
  if (specifier.startsWith("node:")) {
    return row.platform
      ? undefined
      : `imports "${specifier}": that belongs in src/node/ or src/cli/`
  }
  if (specifier === "typebox" && reference.typeOnly) return undefined
  if (row.packages?.includes(specifier)) return undefined
  if (row.peers && peers.some((peer) => specifier === peer || specifier.startsWith(`${peer}/`))) {
    return reference.typeOnly || reference.kind === "dynamic"
      ? undefined
      : `imports "${specifier}": an optional package is loaded with import() on first use`
  }
  return `imports the package "${specifier}", which its row does not list`
}

function globalFaults(file: string, source: string): string[] {
  const layer = layerOf(file)
  if (layer !== undefined && TABLE[layer].platform) return []
  return findGlobals(source, PLATFORM_GLOBALS).map(
    ({ name, line }) =>
      `${file}:${line} uses "${name}"; take it as an option, and give the Node one in src/node/`,
  )
}

function lengthFaults(file: string, source: string): string[] {
  const lines = source.trimEnd().split("\n")
  if (lines.length <= LONG_FILE) return []
  const saysWhy = lines.slice(0, 10).some((line) => /^\s*(\/\/|\/?\*).*One idea/.test(line))
  if (saysWhy) return []
  return [
    `${file} has ${lines.length} lines: split it, or say in a comment in its first 10 lines ` +
      `which "One idea" it is`,
  ]
}

function layerOf(file: string): Layer | undefined {
  const layers = Object.keys(TABLE) as Layer[]
  return layers.find((layer) =>
    TABLE[layer].files.some((place) =>
      place.endsWith("/") ? file.startsWith(place) : file === place,
    ),
  )
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
