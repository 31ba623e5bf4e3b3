import type { AccessControl } from "../../../src/core/types.ts"
import { Order, placeOrder, Quote, quote, QuoteInput } from "../cases.ts"
import type { Library } from "../library.ts"
import type { Contender } from "./contender.ts"

/** `execute` of an operation that anyone may call. */
export function execute({ createRegistry, defineOperation }: Library): Contender {
  const registry = createRegistry(operations(defineOperation, { requiredScopes: [] }))
  return {
    name: "execute",
    small: (input) => registry.execute("shop.quote", input),
    large: (input) => registry.execute("shop.order", input),
    data: dataOf,
    close: () => registry.close(),
  }
}

/** `execute` with an identity that needs two scopes. */
export function executeWithScopes({ createRegistry, defineOperation }: Library): Contender {
  const registry = createRegistry(
    operations(defineOperation, { requiredScopes: ["shop:read", "shop:write"] }),
  )
  const identity = { id: "ada", scopes: ["profile", "shop:read", "shop:write"] }
  return {
    name: "execute, identity and scopes",
    small: (input) => registry.execute("shop.quote", input, { identity }),
    large: (input) => registry.execute("shop.order", input, { identity }),
    data: dataOf,
    close: () => registry.close(),
  }
}

// No return type: it is what the registry's types are made of, and follows from the definitions.
function operations(defineOperation: Library["defineOperation"], accessControl: AccessControl) {
  return [
    defineOperation({
      namespace: "shop",
      name: "quote",
      type: "query",
      description: "Prices an article",
      inputSchema: QuoteInput,
      outputSchema: Quote,
      accessControl,
      handler: quote,
    }),
    defineOperation({
      namespace: "shop",
      name: "order",
      type: "mutation",
      description: "Places an order",
      inputSchema: Order,
      outputSchema: Order,
      accessControl,
      handler: placeOrder,
    }),
  ] as const
}

/** The data of an envelope. */
function dataOf(result: unknown): unknown {
  return (result as { readonly data: unknown }).data
}
