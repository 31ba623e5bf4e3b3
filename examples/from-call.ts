// #region import
import {
  createRegistry,
  defineOperation,
  fromCall,
  isCallError,
  OperationRegistry,
  serveCalls,
} from "@alkdev/operations"
import { createMemoryTransports } from "@alkdev/operations/testing"
import { Type } from "@alkdev/operations/type"

const stock = defineOperation({
  type: "query",
  description: "Returns how many are in stock",
  inputSchema: Type.Object({ article: Type.String() }),
  outputSchema: Type.Integer(),
  accessControl: { requiredScopes: [] },
  handler: ({ article }) => article.length,
})

const sales = defineOperation({
  type: "subscription",
  description: "Streams sales",
  inputSchema: Type.Object({}),
  outputSchema: Type.Object({ article: Type.String() }),
  accessControl: { requiredScopes: [] },
  async *handler() {
    for (const article of ["lamp", "chair"]) yield { article }
  },
})

// The remote shop.
const shop = createRegistry({ shop: { stock, sales } }, { output: "strict" })
const [near, far] = createMemoryTransports()
const server = serveCalls(shop, { transport: far })

// The local registry.
const gateway = new OperationRegistry()
const remote = await fromCall(near, { namespace: "eu", registry: gateway })
console.log(gateway.list().map(({ namespace, name }) => `${namespace}.${name}`))

const { data, meta } = await gateway.execute("eu.shop.stock", { article: "lamp" })
console.log(data, meta.source === "local" && meta.operationId)
for await (const sale of gateway.subscribe("eu.shop.sales", {})) console.log(sale.data)
// #endregion

// #region changes
const added = new Promise<string>((resolve) => {
  const stop = gateway.onChange(({ type, id }) => {
    stop()
    resolve(`${type} ${id}`)
  })
})
const description = "Returns the price"
shop.register({ ...stock, namespace: "shop", name: "price", description })
console.log(await added)
// #endregion

// #region loss
await server.close()
try {
  await gateway.execute("eu.shop.stock", { article: "lamp" })
} catch (error) {
  if (isCallError(error)) console.log(error.code, error.retryable)
}

await remote.close()
console.log(gateway.list().length)
// #endregion
