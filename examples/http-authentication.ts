import { runLines } from "./http/run-lines.ts"
// #region keys
import { createRegistry, defineOperation } from "@alkdev/operations"
import { serveHTTP } from "@alkdev/operations/node"
import { hashApiKey } from "@alkdev/operations/to-http"
import { Type } from "@alkdev/operations/type"

const whoAmI = defineOperation({
  type: "query",
  description: "Returns the id of the caller",
  inputSchema: Type.Object({}),
  outputSchema: Type.Object({ id: Type.String() }),
  accessControl: { requiredScopes: ["staff"] },
  handler: (_, { identity }) => ({ id: identity?.id ?? "anonymous" }),
})

const ada = { id: "ada", scopes: ["staff"] }
const bob = { id: "bob", scopes: [] }
const served = await serveHTTP(createRegistry({ staff: { whoAmI } }, { output: "strict" }), {
  port: 8788,
  auth: {
    apiKeys: [
      // Store only the hash, which "operations hash-key" prints.
      { hash: "547bdb3133ca7606ca79ef931a1eb92c5508264e9ece874a7671aa9c7a4813c4", identity: ada },
      { hash: hashApiKey("bob-key-0123456789"), identity: bob },
    ],
  },
  rateLimit: { perSecond: 50, burst: 100 },
})
// #endregion

await runLines("http/keys.sh")
await served.close()
