// #region listen
import { createRegistry, defineOperation } from "@alkdev/operations"
import { createMCPClient } from "@alkdev/operations/from-mcp"
import { toMCP } from "@alkdev/operations/to-mcp"
import { Type } from "@alkdev/operations/type"

const price = defineOperation({
  type: "query",
  description: "Returns the price of an article",
  inputSchema: Type.Object({ article: Type.String(), count: Type.Integer({ minimum: 1 }) }),
  outputSchema: Type.Object({ cents: Type.Integer() }),
  accessControl: { requiredScopes: [] },
  handler: ({ article, count }) => ({ cents: article.length * 100 * count }),
})

const registry = createRegistry({ shop: { price } }, { output: "strict" })
const server = toMCP(registry, { name: "shop" })
const { url } = await server.listen({ port: 0 })
// #endregion

// #region call
const shop = await createMCPClient("shop", { url })
console.log(shop.client.peer?.protocolVersion, shop.tools[0]?.name)

const called = await shop.client.callTool("shop_price", { article: "tea", count: 2 })
console.log(called.data)

const wrong = await shop.client.callTool("shop_price", { article: "tea", count: 0 })
console.log(wrong.data)
// #endregion

// #region change
const changed = new Promise<string[]>((resolve) => {
  shop.onToolsChanged(({ added }) => resolve(added.map(({ name }) => name)))
})
registry.register(defineOperation({ ...price, namespace: "shop", name: "offer" }))
console.log("new:", await changed)
// #endregion

// #region cost
const { mode, all, search } = server.cost()
console.log(mode, all.tools, search.tools, all.tokens < search.tokens)
// #endregion

await shop.close()
await server.close()
