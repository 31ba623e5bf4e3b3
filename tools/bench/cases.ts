/** The work of every contender: the same schemas, handlers and inputs. */
import Type from "typebox"

/** Three fields in. */
export const QuoteInput = Type.Object({
  sku: Type.String({ minLength: 1 }),
  quantity: Type.Integer({ minimum: 1 }),
  express: Type.Boolean(),
})
export type QuoteInput = Type.Static<typeof QuoteInput>

/** Three fields out. */
export const Quote = Type.Object({
  sku: Type.String({ minLength: 1 }),
  total: Type.Integer({ minimum: 0 }),
  express: Type.Boolean(),
})
export type Quote = Type.Static<typeof Quote>

/** Thirty leaves, nested, with an array of three items; the same in and out. */
export const Order = Type.Object({
  id: Type.String({ minLength: 1 }),
  number: Type.Integer({ minimum: 1 }),
  status: Type.Union([Type.Literal("open"), Type.Literal("paid"), Type.Literal("sent")]),
  currency: Type.String({ minLength: 3, maxLength: 3 }),
  total: Type.Number({ minimum: 0 }),
  isGift: Type.Boolean(),
  note: Type.String(),
  customer: Type.Object({
    id: Type.String({ minLength: 1 }),
    name: Type.String(),
    email: Type.String(),
    phone: Type.String(),
    address: Type.Object({
      street: Type.String(),
      city: Type.String(),
      zip: Type.String(),
      country: Type.String({ minLength: 2, maxLength: 2 }),
    }),
  }),
  shipping: Type.Object({
    method: Type.String(),
    cost: Type.Number({ minimum: 0 }),
    tracking: Type.String(),
  }),
  items: Type.Array(
    Type.Object({
      sku: Type.String({ minLength: 1 }),
      title: Type.String(),
      quantity: Type.Integer({ minimum: 1 }),
      price: Type.Number({ minimum: 0 }),
    }),
  ),
})
export type Order = Type.Static<typeof Order>

/** The handler of the small case. */
export async function quote(input: QuoteInput): Promise<Quote> {
  return quoteNow(input)
}

/** The same, synchronously. */
export function quoteNow(input: QuoteInput): Quote {
  return { sku: input.sku, total: input.quantity * 995, express: input.express }
}

/** The handler of the large case. */
export async function placeOrder(input: Order): Promise<Order> {
  return input
}

/** The operation that is called, without its names. */
export const QUOTE = {
  type: "query",
  description: "Prices an article",
  inputSchema: QuoteInput,
  outputSchema: Quote,
  accessControl: { requiredScopes: [] },
  handler: quote,
} as const

/** A power of two: loops rotate through the inputs with a mask. */
export const INPUTS = 8

export const quoteInputs: readonly QuoteInput[] = Array.from({ length: INPUTS }, (_, index) => ({
  sku: `sku-${index}`,
  quantity: index + 1,
  express: index % 2 === 0,
}))

/** Wrong in all three fields. */
export const badQuoteInputs: readonly unknown[] = Array.from({ length: INPUTS }, (_, index) => ({
  sku: "",
  quantity: -index,
  express: "no",
}))

export const orderInputs: readonly Order[] = Array.from({ length: INPUTS }, (_, index) => ({
  id: `order-${index}`,
  number: index + 1,
  status: "open" as const,
  currency: "EUR",
  total: 120.5 + index,
  isGift: index % 2 === 0,
  note: "leave it with the neighbour",
  customer: {
    id: `customer-${index}`,
    name: "Ada Lovelace",
    email: "ada@example.com",
    phone: "+44 20 7946 0000",
    address: { street: "12 St James's Square", city: "London", zip: "SW1Y 4JH", country: "GB" },
  },
  shipping: { method: "parcel", cost: 4.9, tracking: `track-${index}` },
  items: [1, 2, 3].map((item) => ({
    sku: `sku-${index}-${item}`,
    title: `Item ${item}`,
    quantity: item,
    price: 19.5 * item,
  })),
}))
