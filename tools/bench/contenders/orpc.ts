import { call, os } from "@orpc/server"
import { Compile } from "typebox/schema"
import { Order, placeOrder, Quote, quote, QuoteInput } from "../cases.ts"
import type { Contender } from "./contender.ts"

/** oRPC's `call`, with Standard Schemas over the compiled checks. */
export function orpc(): Contender {
  const quoteProcedure = os
    .input(standard<QuoteInput>(QuoteInput))
    .output(standard<Quote>(Quote))
    .handler(({ input }) => quote(input))
  const orderProcedure = os
    .input(standard<Order>(Order))
    .output(standard<Order>(Order))
    .handler(({ input }) => placeOrder(input))
  return {
    name: "oRPC call",
    small: (input) => call(quoteProcedure, input),
    large: (input) => call(orderProcedure, input),
    data: (result) => result,
    close: () => Promise.resolve(),
  }
}

/** The part of Standard Schema that oRPC reads. */
interface StandardSchema<TValue> {
  readonly "~standard": {
    readonly version: 1
    readonly vendor: string
    readonly types?: { readonly input: TValue; readonly output: TValue }
    readonly validate: (
      value: unknown,
    ) => { readonly value: TValue } | { readonly issues: readonly { readonly message: string }[] }
  }
}

/** A Standard Schema over a compiled check. */
export function standard<TValue>(schema: object): StandardSchema<TValue> {
  const compiled = Compile(schema)
  return {
    "~standard": {
      version: 1,
      vendor: "typebox",
      validate: (value) =>
        compiled.Check(value)
          ? { value: value as TValue }
          : { issues: [{ message: "The value is invalid." }] },
    },
  }
}
