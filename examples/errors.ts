// #region declared
import {
  CallError,
  createRegistry,
  defineOperation,
  isCallError,
  isDeclaredError,
  mapError,
} from "@alkdev/operations"
import { Type } from "@alkdev/operations/type"

const order = defineOperation({
  type: "mutation",
  description: "Orders an article",
  inputSchema: Type.Object({ article: Type.String(), count: Type.Integer({ minimum: 1 }) }),
  outputSchema: Type.Object({ orderId: Type.String() }),
  errorSchemas: [
    {
      code: "OUT_OF_STOCK",
      description: "The stock is too low",
      schema: Type.Object({ left: Type.Integer() }),
      httpStatus: 409,
    },
  ],
  accessControl: { requiredScopes: [] },
  handler: ({ article, count }) => {
    if (article === "fuse") throw new Error("The database is down.")
    if (count > 3) {
      throw new CallError("OUT_OF_STOCK", `Only 3 of "${article}" are left.`, {
        details: { left: 3 },
        mayHaveExecuted: false,
      })
    }
    return { orderId: "o-1" }
  },
})

const registry = createRegistry({ shop: { order } }, { output: "strict" })

try {
  await registry.execute("shop.order", { article: "lamp", count: 9 })
} catch (error) {
  if (isDeclaredError(order, error)) console.log(error.code, error.details?.left)
}
// #endregion

// #region codes
for (const [article, count] of [
  ["lamp", 0],
  ["fuse", 1],
] as const) {
  try {
    await registry.execute("shop.order", { article, count })
  } catch (error) {
    if (!isCallError(error)) throw error
    const { code, message, retryable, mayHaveExecuted } = error
    console.log({ code, message, retryable, mayHaveExecuted })
  }
}
// #endregion

// #region mapError
const plain = Object.assign(new Error("Nothing left."), {
  code: "OUT_OF_STOCK",
  details: { left: 0 },
})
console.log(mapError(plain, order.errorSchemas).code)
console.log(mapError(Object.assign(new Error("Let me in."), { code: "ACCESS_DENIED" })).code)
console.log(mapError("just a string").message)
// #endregion

// #region json
const secret = new CallError("UNAVAILABLE", "GET https://bob:pw@api.example.com failed", {
  cause: new Error("socket hang up"),
  details: { headers: { authorization: "Bearer abcdef" } },
  retryAfterMs: 500,
})
console.log(JSON.stringify(secret))
// #endregion
