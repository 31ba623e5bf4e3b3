import { CallError, defineOperation } from "@alkdev/operations"
import { Type } from "typebox"

const PER_EURO = { EUR: 1, USD: 1.08, GBP: 0.85, JPY: 169.2, CHF: 0.94 } as const

const Currency = Type.Union(
  [
    Type.Literal("EUR"),
    Type.Literal("USD"),
    Type.Literal("GBP"),
    Type.Literal("JPY"),
    Type.Literal("CHF"),
  ],
  { description: "A currency code of three letters" },
)

export const convert = defineOperation({
  namespace: "money",
  name: "convert",
  type: "query",
  title: "Convert money",
  description: "Converts an amount from one currency to another, at rates that never change",
  tags: ["money"],
  inputSchema: Type.Object({
    amount: Type.Number({ minimum: 0, description: "The amount" }),
    from: Currency,
    to: Currency,
  }),
  outputSchema: Type.Object({ amount: Type.Number(), rate: Type.Number() }),
  examples: [{ amount: 12.9, from: "EUR", to: "JPY" }],
  annotations: { readOnly: true, idempotent: true, openWorld: false },
  accessControl: { requiredScopes: [] },
  handler: ({ amount, from, to }) => {
    const rate = PER_EURO[to] / PER_EURO[from]
    return { amount: Math.round(amount * rate * 100) / 100, rate: Math.round(rate * 1e6) / 1e6 }
  },
})

const Person = Type.Object({
  name: Type.String({ minLength: 1 }),
  parts: Type.Optional(
    Type.Integer({
      minimum: 0,
      default: 1,
      description: "Number of parts of the bill that this person pays",
    }),
  ),
})

export const split = defineOperation({
  namespace: "money",
  name: "split",
  type: "query",
  title: "Split a bill",
  description: "Splits a bill exactly, so that the shares add up to the total",
  tags: ["money"],
  inputSchema: Type.Object({
    cents: Type.Integer({ minimum: 1, description: "The whole bill, in cents" }),
    people: Type.Array(Person, { minItems: 1, maxItems: 50 }),
  }),
  outputSchema: Type.Array(Type.Object({ name: Type.String(), cents: Type.Integer() })),
  errorSchemas: [
    {
      code: "NOBODY_PAYS",
      description: "All parts are 0: the bill cannot be split",
      schema: Type.Object({ people: Type.Array(Type.String()) }),
      httpStatus: 422,
    },
  ],
  examples: [{ cents: 4380, people: [{ name: "Ada" }, { name: "Grace", parts: 2 }] }],
  annotations: { readOnly: true, idempotent: true, openWorld: false },
  accessControl: { requiredScopes: [] },
  handler: ({ cents, people }) => {
    const all = people.reduce((sum, { parts = 1 }) => sum + parts, 0)
    if (all === 0) {
      const details = { people: people.map(({ name }) => name) }
      throw new CallError("NOBODY_PAYS", "Give somebody at least one part.", { details })
    }
    let before = 0
    return people.map(({ name, parts = 1 }) => {
      const from = Math.round((cents * before) / all)
      before += parts
      return { name, cents: Math.round((cents * before) / all) - from }
    })
  },
})
