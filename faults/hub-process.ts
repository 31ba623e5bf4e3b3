// A hub of the fault lab, in a separate process. Its one argument is its settings, as JSON.
import type { ApiKeyConfig, SourceConfig } from "../src/config/model.ts"
import { createHub } from "../src/hub/create-hub.ts"
import { serveHub } from "../src/hub/serve-hub.ts"
import { silentLogger } from "../src/internal/logger.ts"
import { configOf, sourceOf } from "../test/hub/plain.ts"

/** The settings of a hub process. */
export interface HubSettings {
  /** By their names. */
  readonly sources: Readonly<Record<string, SourceConfig>>
  readonly port: number
  readonly apiKeys?: readonly ApiKeyConfig[] | undefined
}

const { sources, ...options } = JSON.parse(process.argv[2] ?? "{}") as HubSettings
const hub = createHub(
  configOf(Object.entries(sources).map(([name, config]) => sourceOf(name, config))),
  { logger: silentLogger },
)

process.once("disconnect", () => process.exit(3))
process.on("message", () => process.send?.({ type: "sources", sources: hub.sources }))
await hub.ready()
const { url, wsUrl, mcpUrl } = await serveHub(hub, { ...options, console: false })
process.send?.({ type: "ready", url, wsUrl, mcpUrl })
