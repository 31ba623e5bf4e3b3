import { runLines } from "./http/run-lines.ts"
// #region serve
import { createRegistry, defineOperation } from "@alkdev/operations"
import { serveHTTP } from "@alkdev/operations/node"
import { Type } from "@alkdev/operations/type"

const time = defineOperation({
  type: "query",
  description: "Returns the current year",
  inputSchema: Type.Object({}),
  outputSchema: Type.Integer(),
  accessControl: { requiredScopes: [] },
  handler: () => 2026,
})

const served = await serveHTTP(createRegistry({ clock: { year: time } }, { output: "strict" }), {
  port: 8789,
  basePath: "/v1",
  allowedHosts: ["api.example.com"],
  trustedProxies: ["127.0.0.1"],
  signals: true,
})
// #endregion

await runLines("http/proxied.sh")
await served.close()
