// #region serve
import { createClient, createRegistry, defineOperation, isCallError } from "@alkdev/operations"
import { createHTTPTransport } from "@alkdev/operations/http"
import { serveHTTP } from "@alkdev/operations/node"
import { Type } from "@alkdev/operations/type"

const price = defineOperation({
  type: "query",
  description: "Returns the price of an article",
  inputSchema: Type.Object({ article: Type.String() }),
  outputSchema: Type.Object({ cents: Type.Integer() }),
  accessControl: { requiredScopes: ["shop.read"] },
  handler: ({ article }) => ({ cents: article.length * 100 }),
})

const news = defineOperation({
  type: "subscription",
  description: "Streams news",
  inputSchema: Type.Object({}),
  outputSchema: Type.String(),
  accessControl: { requiredScopes: ["shop.read"] },
  async *handler(_input, context) {
    const last = Number(context.metadata?.["lastEventId"] ?? 0)
    for (let at = last + 1; at <= 3; at++) yield await Promise.resolve(`news ${at}`)
  },
})

export const registry = createRegistry({ shop: { price, news } }, { output: "strict" })
const served = await serveHTTP(registry, {
  port: 0,
  authenticate: ({ headers }) =>
    headers["authorization"] === "Bearer t-1" ? { id: "ada", scopes: ["shop.read"] } : null,
})
// #endregion

// #region call
const client = createClient<typeof registry>(
  createHTTPTransport(served.url, { headers: () => ({ authorization: "Bearer t-1" }) }),
)

const [tea, cake] = await Promise.all([
  client.shop.price({ article: "tea" }),
  client.shop.price({ article: "cake" }),
])
console.log(tea.data.cents, cake.data.cents)

for await (const { data } of client.shop.news({})) console.log(data)
// #endregion

// #region error
const stranger = createClient<typeof registry>(createHTTPTransport(served.url))
try {
  await stranger.shop.price({ article: "tea" })
} catch (error) {
  if (isCallError(error)) console.log(error.code, error.mayHaveExecuted)
}
// #endregion

// #region function
process.env["SHOP_URL"] = served.url
const { default: handle } = await import("./http-client/function.ts")

const page = new Request("https://pages.example.com/?article=tea", {
  headers: { authorization: "Bearer t-1" },
})
console.log(await (await handle(page)).text())
// #endregion

await client.close()
await stranger.close()
await served.close()
await registry.close()
