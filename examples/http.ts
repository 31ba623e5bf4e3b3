import { runLines } from "./http/run-lines.ts"
// #region serve
import { createRegistry, defineOperation } from "@alkdev/operations"
import { serveHTTP } from "@alkdev/operations/node"
import { Type } from "@alkdev/operations/type"

const price = defineOperation({
  type: "query",
  description: "Returns the price of an article",
  inputSchema: Type.Object({ article: Type.String(), count: Type.Integer({ minimum: 1 }) }),
  outputSchema: Type.Object({ cents: Type.Integer() }),
  accessControl: { requiredScopes: [] },
  handler: ({ article, count }) => ({ cents: article.length * 100 * count }),
})

const countdown = defineOperation({
  type: "subscription",
  description: "Counts down to the opening",
  inputSchema: Type.Object({ from: Type.Integer({ maximum: 10 }) }),
  outputSchema: Type.Integer(),
  accessControl: { requiredScopes: [] },
  async *handler({ from }) {
    for (let left = from; left > 0; left--) yield await Promise.resolve(left)
  },
})

const served = await serveHTTP(
  createRegistry({ shop: { price, countdown } }, { output: "strict" }),
  {
    port: 8787,
    title: "Shop",
  },
)
// #endregion

await runLines("http/calls.sh")
await served.close()
