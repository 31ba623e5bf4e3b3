import { defineOperation, OperationRegistry } from "@alkdev/operations"
import { Type } from "@alkdev/operations/type"

const price = defineOperation({
  namespace: "shop",
  name: "price",
  type: "query",
  description: "Returns the price of an article in cents",
  inputSchema: Type.Object({ article: Type.String() }),
  outputSchema: Type.Integer(),
  accessControl: { requiredScopes: [] },
  handler: ({ article }) => article.length * 100,
})

const registry = new OperationRegistry().register(price).register({
  namespace: "shop",
  name: "total",
  version: "1.0.0",
  type: "query",
  description: "Returns the price of several articles in cents",
  inputSchema: Type.Object({ articles: Type.Array(Type.String()) }),
  outputSchema: Type.Integer(),
  accessControl: { requiredScopes: [] },
  handler: async ({ articles }, { env }) => {
    const prices = await Promise.all(articles.map((article) => env.shop.price({ article })))
    return prices.reduce((sum, { data }) => sum + data, 0)
  },
})

registry.onCall(({ phase, operationId, parentRequestId }) => {
  console.log(parentRequestId === undefined ? phase : `  ${phase}`, operationId)
})
console.log((await registry.execute("shop.total", { articles: ["cup", "lamp"] })).data)
