import { Compile } from "typebox/schema"
import { Order, placeOrder, Quote, quote, QuoteInput } from "../cases.ts"
import type { Contender } from "./contender.ts"

const quoteInput = Compile(QuoteInput)
const quoteOutput = Compile(Quote)
const orderInput = Compile(Order)
const orderOutput = Compile(Order)

// Written out twice: with one function for both cases the optimizer could not specialise either,
// and a floor slower than hand-written code would favor all other contenders.

/** The small case by hand: check, await the handler, check. */
export async function quoteByHand(input: QuoteInput): Promise<Quote> {
  if (!quoteInput.Check(input)) throw new TypeError("The input is invalid.")
  const output = await quote(input)
  if (!quoteOutput.Check(output)) throw new TypeError("The output is invalid.")
  return output
}

/** An operation whose handler runs the small case, by hand. */
export async function nestedQuoteByHand(input: QuoteInput): Promise<Quote> {
  if (!quoteInput.Check(input)) throw new TypeError("The input is invalid.")
  const output = await quoteByHand(input)
  if (!quoteOutput.Check(output)) throw new TypeError("The output is invalid.")
  return output
}

/** The large case by hand. */
async function placeOrderByHand(input: Order): Promise<Order> {
  if (!orderInput.Check(input)) throw new TypeError("The input is invalid.")
  const output = await placeOrder(input)
  if (!orderOutput.Check(output)) throw new TypeError("The output is invalid.")
  return output
}

/** The contender that all others are compared with. */
export function floor(): Contender {
  return {
    name: "floor",
    small: quoteByHand,
    large: placeOrderByHand,
    data: (result) => result,
    close: () => Promise.resolve(),
  }
}
