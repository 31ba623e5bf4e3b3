import { ServiceBroker } from "moleculer"
import type { Context } from "moleculer"
import { placeOrder, quote } from "../cases.ts"
import type { Order, QuoteInput } from "../cases.ts"
import type { Contender } from "./contender.ts"

const string = { type: "string", empty: true } as const
const name = { type: "string", min: 1 } as const
const amount = { type: "number", min: 0 } as const
const count = { type: "number", integer: true, min: 1 } as const

export const quoteParams = { sku: name, quantity: count, express: "boolean" } as const

const orderParams = {
  id: name,
  number: count,
  status: { type: "enum", values: ["open", "paid", "sent"] },
  currency: { type: "string", length: 3 },
  total: amount,
  isGift: "boolean",
  note: string,
  customer: {
    $$type: "object",
    id: name,
    name: string,
    email: string,
    phone: string,
    address: {
      $$type: "object",
      street: string,
      city: string,
      zip: string,
      country: { type: "string", length: 2 },
    },
  },
  shipping: { $$type: "object", method: string, cost: amount, tracking: string },
  items: {
    type: "array",
    items: { type: "object", props: { sku: name, title: string, quantity: count, price: amount } },
  },
} as const

/** Moleculer's local call. It has no output schemas: it validates the input only, with its own validator. */
export async function moleculer(): Promise<Contender> {
  const broker = new ServiceBroker({ logger: false })
  broker.createService({
    name: "shop",
    actions: {
      quote: {
        params: quoteParams,
        handler: (context: Context<QuoteInput>) => quote(context.params),
      },
      order: {
        params: orderParams,
        handler: (context: Context<Order>) => placeOrder(context.params),
      },
    },
  })
  await broker.start()
  return {
    name: "Moleculer broker.call (input only)",
    small: (input) => broker.call("shop.quote", input),
    large: (input) => broker.call("shop.order", input),
    data: (result) => result,
    close: () => broker.stop(),
  }
}
