import { spawnSync } from "node:child_process"
import { resolve } from "node:path"
import type * as call from "../src/call.ts"
import type * as client from "../src/client.ts"
import type * as define from "../src/define.ts"
import type * as registry from "../src/registry.ts"
import type * as websocket from "../src/websocket.ts"

/** What the benchmark uses of the built library. */
export type Library = Pick<typeof registry, "OperationRegistry" | "createRegistry"> &
  Pick<typeof define, "defineOperation"> &
  Pick<typeof call, "PendingRequestMap" | "serveCalls"> &
  Pick<typeof client, "createClient"> &
  Pick<typeof websocket, "createWebSocketTransport" | "serveWebSocket">

const here = import.meta.dirname

/**
 * Compiles the library and loads it, file by file: what is published is the same code, joined.
 *
 * The loader that runs these files rewrites TypeScript in ways that cost time per call; what the compiler
 * emits is loaded as it stands. Type errors are printed and stop nothing: they do not change what runs.
 */
export async function loadLibrary(): Promise<Library> {
  const compiler = resolve(here, "../node_modules/typescript/bin/tsc")
  const out = resolve(here, "dist")
  const { status, stdout } = spawnSync(
    process.execPath,
    [compiler, "-p", resolve(here, "../tsconfig.build.json"), "--outDir", out],
    { encoding: "utf8" },
  )
  if (status !== 0) process.stderr.write(stdout)
  return await loadBuilt()
}

/** Loads what was built before. */
export async function loadBuilt(): Promise<Library> {
  // Its modules and not its barrel: what else the package exports would only fill the heap.
  const modules = await Promise.all(
    ["registry.js", "define.js", "call.js", "client.js", "websocket.js"].map(load),
  )
  return Object.assign({}, ...modules) as Library
}

async function load(file: string): Promise<object> {
  return (await import(new URL(`dist/${file}`, import.meta.url).href)) as object
}
