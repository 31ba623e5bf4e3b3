import { join } from "node:path"
import type { ServerConfig, ResolvedSource } from "../../../../src/config/model.ts"
import { createHub } from "../../../../src/hub/create-hub.ts"
import type { Hub, HubOptions } from "../../../../src/hub/model.ts"
import { serveHub } from "../../../../src/hub/serve-hub.ts"
import { silentLogger } from "../../../../src/internal/logger.ts"
import { configOf, EVERYTHING, sourceOf } from "../../../hub/plain.ts"
import { program } from "../../../sources/mcp/support/program.ts"
import { root } from "../../../support/manifest.ts"
import { builtConsole } from "./build.ts"

const FIXTURES = join(root, "test/fixtures/console")

/** A hub that listens and serves the console. */
export interface TestHub extends AsyncDisposable {
  readonly url: string
  readonly hub: Hub
}

/** Serves sources, and the console beside them, on any port of loopback. */
export async function startHub(
  sources: readonly ResolvedSource[],
  server: ServerConfig = {},
  options: HubOptions = {},
): Promise<TestHub> {
  const console = await builtConsole()
  const hub = createHub(configOf(sources, { server: { title: "Test hub", ...server } }), {
    logger: silentLogger,
    ...options,
  })
  try {
    await hub.ready()
    const served = await serveHub(hub, { port: 0, console, drainMs: 100 })
    const close = async (): Promise<void> => {
      await served.close()
      await hub.close()
    }
    return { url: served.url, hub, [Symbol.asyncDispose]: close }
  } catch (error) {
    await hub.close()
    throw error
  }
}

/** The sources of the fixtures, by name. */
export const fixtures = {
  operations: sourceOf("local", { scan: join(FIXTURES, "operations") }),
  api: sourceOf("library", { openapi: join(FIXTURES, "api.json") }),
  media: sourceOf("media", { mcp: serverAt("media-server.ts") }),
  everything: sourceOf("everything", { mcp: { command: process.execPath, args: [EVERYTHING] } }),
  served: sourceOf("served", { scan: join(FIXTURES, "served") }),
  hostile: sourceOf("hostile", { scan: join(FIXTURES, "hostile") }),
  evil: sourceOf("evil", { mcp: serverAt("hostile-server.ts") }),
  missing: sourceOf("missing", { openapi: join(FIXTURES, "nowhere.json") }),
} as const satisfies Record<string, ResolvedSource>

function serverAt(file: string): { command: string; args: string[]; cwd: string } {
  const args = [program(join(FIXTURES, file))]
  return { command: process.execPath, args, cwd: root }
}
