// #region hub
import type { CredentialContext } from "@alkdev/operations"
import { CallError } from "@alkdev/operations"
import { silentLogger } from "@alkdev/operations/testing"
import { defineConfig, resolveConfig } from "@alkdev/operations/config"
import { createHub } from "@alkdev/operations/node"
import { startNotes } from "./user-tokens/server.ts"

await using notes = await startNotes()
const tokens = new Map([
  ["ada", "token-of-ada-71c3"],
  ["bob", "token-of-bob-90fe"],
])

function tokenOf({ identity }: CredentialContext): string {
  const token = tokens.get(identity?.id ?? "")
  if (token === undefined) throw new CallError("UNAUTHENTICATED", "Connect your notes first.")
  return token
}

const config = defineConfig({
  sources: {
    notes: { openapi: `${notes.url}/openapi.json`, baseUrl: notes.url, auth: tokenOf },
  },
})
const resolved = resolveConfig(config, { baseDir: import.meta.dirname })
await using hub = createHub(resolved, { logger: silentLogger })
await hub.ready()

for (const id of ["ada", "bob", "eve"]) {
  const call = hub.registry.execute("notes.list", {}, { identity: { id, scopes: [] } })
  console.log(
    id,
    await call.then(
      ({ data }) => data,
      (error: Error) => error.message,
    ),
  )
}
// #endregion hub
