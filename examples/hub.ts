// #region hub
import { fileURLToPath } from "node:url"
import { silentLogger } from "@alkdev/operations/testing"
import { createHub, loadConfig, serveHub } from "@alkdev/operations/node"

const file = fileURLToPath(new URL("./hub/operations.config.yaml", import.meta.url))
await using hub = createHub(await loadConfig(file), { logger: silentLogger })
await hub.ready()

// A source that cannot be opened has a reason, also while it is retried.
for (const { name, state, reason, operations } of hub.sources) {
  console.log(name, reason === undefined ? state : "failed", operations)
}
console.log((await hub.registry.execute("math.add", { left: 2, right: 3 })).data)
// #endregion hub

// #region serve
await using served = await serveHub(hub, { port: 0 })
const answer = await fetch(`${served.url}/hub/sources`)
const { sources } = (await answer.json()) as { sources: { name: string; reason?: string }[] }
console.log(sources.find(({ name }) => name === "office")?.reason)
// #endregion serve
