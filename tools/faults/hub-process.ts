// A hub of the fault lab, in a separate process. Its one argument is its settings, as JSON.
import type { ApiKeyConfig, SourceConfig } from "../../src/config.ts"
import { createHub } from "../../src/hub/create-hub.ts"
import { serveHub } from "../../src/hub/serve-hub.ts"
import { silentLogger } from "../../src/internal/logger.ts"
import { configOf, sourceOf } from "../../test/hub/plain.ts"

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
process.on("message", ({ type }: { readonly type: string }) => {
  if (type === "sources") process.send?.({ type, sources: hub.sources })
  else void reload().then(() => process.send?.({ type }))
})
await hub.ready()
const served = await serveHub(hub, { ...options, console: false })
process.once("SIGTERM", () => {
  void served
    .close()
    .then(() => hub.close())
    .then(() => process.exit(0))
})
const { url, wsUrl, mcpUrl } = served
process.send?.({ type: "ready", url, wsUrl, mcpUrl })

/** Opens all sources again, and applies a configuration with one source more, and then without it. */
async function reload(): Promise<void> {
  const { config } = hub
  for (const { name } of hub.sources) await hub.reopen(name)
  const more = sourceOf("more", { remote: "ws://127.0.0.1:9" })
  await hub.apply({ ...config, sources: [...config.sources, more] })
  await hub.apply(config)
}
