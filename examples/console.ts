import { silentLogger } from "@alkdev/operations/testing"
import { defineConfig, resolveConfig } from "@alkdev/operations/config"
import { createHub, serveHub } from "@alkdev/operations/node"

const config = defineConfig({
  sources: {
    local: { scan: "./operations" },
    library: { openapi: "./openapi/library.yaml", baseUrl: "http://127.0.0.1:9" },
  },
})
const resolved = resolveConfig(config, { baseDir: import.meta.dirname })
await using hub = createHub(resolved, { logger: silentLogger })
await hub.ready()
await using served = await serveHub(hub, { port: 0 })

// The request that the search of the console sends to the hub.
for (const query of ["borrow a book", "/books", "POST /loans"]) {
  const response = await fetch(`${served.url}/hub/search?${new URLSearchParams({ query })}`)
  const { ids } = (await response.json()) as { ids: string[] }
  console.log(`${query}: ${ids.slice(0, 3).join(", ")}`)
}
