import { build } from "esbuild"
import { relative } from "node:path"
import { gzipSync } from "node:zlib"

/** An application for browsers or workers, as a bundler sees it; sizes are in bytes, minified and compressed with gzip. */
export interface BrowserBundle {
  readonly name: string
  readonly source: string
  /** The allowed size. Lower it with every improvement. */
  readonly limit: number
  /** The size to reach, if it is not reached yet. */
  readonly goal?: number
}

/** Typical applications of users. */
export const BROWSER_BUNDLES: readonly BrowserBundle[] = [
  {
    name: "a client over HTTP",
    source: `export { createClient } from "@alkdev/operations"
      export { createHTTPTransport } from "@alkdev/operations/http"`,
    limit: 17_920,
    goal: 14_000,
  },
  {
    name: "a client over WebSocket",
    source: `export { createClient } from "@alkdev/operations"
      export { createWebSocketTransport } from "@alkdev/operations/websocket"`,
    limit: 19_300,
  },
  {
    name: "a registry in the page",
    source: `export { createRegistry, defineOperation } from "@alkdev/operations"`,
    limit: 99_100,
  },
  {
    name: "an OpenAPI import",
    source: `export { FromOpenAPI } from "@alkdev/operations/from-openapi"`,
    limit: 133_400,
  },
  {
    name: "an HTTP server with a registry",
    source: `export { createRegistry, defineOperation } from "@alkdev/operations"
      export { toHTTP } from "@alkdev/operations/to-http"`,
    limit: 126_600,
    goal: 115_000,
  },
]

/**
 * Bytes that a page loads at its start; code that is imported on demand is in separate files.
 *
 * What both need is compressed with the page, where most bundlers put it.
 */
export async function bundledSize(source: string, folder: string): Promise<number> {
  const { outputFiles, metafile } = await build({
    stdin: { contents: source, resolveDir: folder },
    absWorkingDir: folder,
    bundle: true,
    minify: true,
    splitting: true,
    outdir: "out",
    write: false,
    metafile: true,
    format: "esm",
    platform: "browser",
    logLevel: "error",
    // Like an application: the repository maps its own name to the sources.
    tsconfigRaw: "{}",
  })
  const loaded = new Set(["out/stdin.js"])
  // A set that grows while it is walked is walked to its end.
  for (const file of loaded) {
    for (const { kind, path } of metafile.outputs[file]?.imports ?? []) {
      if (kind === "import-statement") loaded.add(path)
    }
  }
  const files = outputFiles.filter(({ path }) => loaded.has(relative(folder, path)))
  return gzipSync(Buffer.concat(files.map(({ contents }) => contents))).length
}
