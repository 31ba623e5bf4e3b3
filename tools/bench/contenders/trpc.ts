import { initTRPC } from "@trpc/server"
import { Compile } from "typebox/schema"
import { Order, placeOrder, Quote, quote, QuoteInput } from "../cases.ts"
import type { Contender } from "./contender.ts"

/** tRPC's server-side caller, with functions over the compiled checks as parsers. */
export function trpc(): Contender {
  const { procedure, router, createCallerFactory } = initTRPC.create()
  const parseOrder = parser<Order>(Order)
  const routes = router({
    quote: procedure
      .input(parser<QuoteInput>(QuoteInput))
      .output(parser<Quote>(Quote))
      .query(({ input }) => quote(input)),
    order: procedure
      .input(parseOrder)
      .output(parseOrder)
      .mutation(({ input }) => placeOrder(input)),
  })
  const caller = createCallerFactory(routes)({})
  return {
    name: "tRPC createCaller",
    small: (input) => caller.quote(input),
    large: (input) => caller.order(input),
    data: (result) => result,
    close: () => Promise.resolve(),
  }
}

function parser<TValue>(schema: object): (value: unknown) => TValue {
  const compiled = Compile(schema)
  return (value) => {
    if (!compiled.Check(value)) throw new TypeError("The value is invalid.")
    return value as TValue
  }
}
