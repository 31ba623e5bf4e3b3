import { spawnSync } from "node:child_process"
import { resolve } from "node:path"
import { pathToFileURL } from "node:url"
import type * as callMap from "../../src/protocol/pending/request-map.ts"
import type * as serve from "../../src/protocol/server/serve.ts"
import type * as client from "../../src/protocol/client.ts"
import type * as compiled from "../../src/schema/compiled.ts"
import type * as define from "../../src/core/define.ts"
import type * as mcp from "../../src/from-mcp.ts"
import type * as logger from "../../src/internal/logger.ts"
import type * as nats from "../../src/nats.ts"
import type * as otel from "../../src/otel.ts"
import type * as openapi from "../../src/from-openapi.ts"
import type * as http from "../../src/node.ts"
import type * as httpClient from "../../src/http.ts"
import type * as redis from "../../src/redis.ts"
import type * as registry from "../../src/engine/registry.ts"
import type * as served from "../../src/to-mcp.ts"
import type * as toHTTP from "../../src/to-http.ts"
import type * as validation from "../../src/core/validation.ts"
import type * as websocket from "../../src/websocket.ts"

/** What the benchmark uses of the built library. */
export type Library = Pick<typeof registry, "OperationRegistry" | "createRegistry"> &
  Pick<typeof define, "defineOperation"> &
  Pick<typeof callMap, "PendingRequestMap"> &
  Pick<typeof serve, "serveCalls"> &
  Pick<typeof client, "createClient"> &
  Pick<typeof compiled, "compileSchema"> &
  Pick<typeof websocket, "createWebSocketTransport" | "serveWebSocket">

/** What it uses to trace calls. */
export type AroundLibrary = Pick<typeof registry, "createRegistry"> &
  Pick<typeof define, "defineOperation"> &
  Pick<typeof otel, "instrument">

/** What it uses to import documents. */
export type ImportLibrary = Pick<typeof openapi, "FromOpenAPI"> &
  Pick<typeof registry, "createRegistry"> &
  Pick<typeof validation, "collectErrors">

/** What it uses to serve documents of an API. */
export type DocumentLibrary = ImportLibrary &
  Pick<typeof define, "defineOperation"> &
  Pick<typeof toHTTP, "toHTTP">

/** What it uses to call and to serve MCP tools. */
export type MCPLibrary = Pick<typeof registry, "createRegistry"> &
  Pick<typeof define, "defineOperation"> &
  Pick<typeof mcp, "createMCPClient"> &
  Pick<typeof served, "toMCP">

/** What it uses to serve a registry over HTTP. */
export type HTTPLibrary = Pick<typeof registry, "createRegistry"> &
  Pick<typeof define, "defineOperation"> &
  Pick<typeof http, "serveHTTP">

/** What it uses to call over HTTP. */
export type HTTPClientLibrary = Pick<typeof client, "createClient"> &
  Pick<typeof httpClient, "createHTTPTransport">

/** What it uses to call over brokers. */
export type BusLibrary = Pick<typeof registry, "createRegistry"> &
  Pick<typeof define, "defineOperation"> &
  Pick<typeof serve, "serveCalls"> &
  Pick<typeof client, "createClient"> &
  Pick<typeof logger, "silentLogger"> &
  Pick<typeof nats, "createNatsTransport"> &
  Pick<typeof redis, "createRedisTransport">

const root = resolve(import.meta.dirname, "../..")

/**
 * Builds the package as it is published. What is measured is loaded from there as plain JavaScript: the loader that
 * runs these files rewrites TypeScript in ways that cost time per call.
 */
export function buildLibrary(): void {
  const { status, stdout, stderr } = spawnSync("npm", ["run", "build"], {
    cwd: root,
    encoding: "utf8",
  })
  if (status !== 0) throw new Error(`npm run build failed:\n${stdout}${stderr}`)
}

/** Loads what was built before. */
export async function loadBuilt(): Promise<Library> {
  return (await load(
    "engine/registry.js",
    "core/define.js",
    "protocol/pending/request-map.js",
    "protocol/server/serve.js",
    "protocol/client.js",
    "schema/compiled.js",
    "websocket.js",
  )) as Library
}

/** Loads what was built before, and of it what traces calls. */
export async function loadBuiltAround(): Promise<AroundLibrary> {
  return (await load("engine/registry.js", "core/define.js", "otel.js")) as AroundLibrary
}

/** Loads what was built before, and of it what imports documents. */
export async function loadBuiltImporter(): Promise<ImportLibrary> {
  return (await load(
    "from-openapi.js",
    "engine/registry.js",
    "core/validation.js",
  )) as ImportLibrary
}

/** Loads what was built before, and of it what serves documents of an API. */
export async function loadBuiltDocuments(): Promise<DocumentLibrary> {
  return (await load(
    "from-openapi.js",
    "engine/registry.js",
    "core/define.js",
    "core/validation.js",
    "to-http.js",
  )) as DocumentLibrary
}

/** Loads what was built before, and of it what speaks MCP. */
export async function loadBuiltMCP(): Promise<MCPLibrary> {
  return (await load(
    "engine/registry.js",
    "core/define.js",
    "from-mcp.js",
    "to-mcp.js",
  )) as MCPLibrary
}

/** Loads what was built before, and of it what speaks HTTP. */
export async function loadBuiltHTTP(): Promise<HTTPLibrary> {
  return (await load("bundle/index.js", "bundle/node.js")) as HTTPLibrary
}

/** Loads what was built before, and of it what calls over HTTP. */
export async function loadBuiltHTTPClient(): Promise<HTTPClientLibrary> {
  return (await load("protocol/client.js", "http.js")) as HTTPClientLibrary
}

/** Loads what was built before, and of it what speaks to brokers. */
export async function loadBuiltBus(): Promise<BusLibrary> {
  const files = [
    "engine/registry.js",
    "core/define.js",
    "protocol/pending/request-map.js",
    "protocol/server/serve.js",
    "protocol/client.js",
    "internal/logger.js",
  ]
  return (await load(...files, "nats.js", "redis.js")) as BusLibrary
}

// Modules and not the barrel: what else the package exports would only fill the heap.
async function load(...files: readonly string[]): Promise<object> {
  const modules = await Promise.all(
    files.map((file) => import(pathToFileURL(resolve(root, "dist", file)).href)),
  )
  return Object.assign({}, ...modules) as object
}
