// Run by test/e2e/no-eval.process.test.ts where code cannot be made from strings. Prints one JSON value.
import { Type } from "typebox"
import { collectErrors, createRegistry, FromSchema } from "../../src/index.ts"
import { silentLogger } from "../../src/testing.ts"
import { compileSchema } from "../../src/schemas.ts"

let isForbidden = false
try {
  // oxlint-disable-next-line no-implied-eval, no-new-func -- to see that it is forbidden
  void new Function("return 1")
} catch {
  isForbidden = true
}

const registry = createRegistry(
  [
    {
      namespace: "a",
      name: "b",
      version: "1.0.0",
      type: "query",
      description: "",
      inputSchema: Type.Object({ n: Type.Number({ default: 1 }) }),
      outputSchema: Type.Object({
        n: Type.Number(),
        list: Type.Optional(Type.Array(Type.String(), { default: [] })),
      }),
      accessControl: { requiredScopes: [] },
      handler: ({ n }: { n: number }) => ({ n: String(n), extra: true }),
    },
  ],
  { logger: silentLogger },
)

// Reused validators of TypeBox keep `unevaluated*` state in this mode, and then accept what they must not.
const closed = FromSchema({
  allOf: [{ properties: { a: { type: "number" } } }],
  properties: { b: { type: "string" } },
  unevaluatedProperties: false,
})
const compiled = compileSchema(closed)
const verdicts = [{ a: 1, b: "x" }, { c: 1 }, { a: 1 }, { a: 1, c: 1 }, { c: 1 }].map((value) =>
  compiled.check(value),
)

process.stdout.write(
  JSON.stringify({
    isForbidden,
    result: (await registry.execute("a.b", {} as never)).data,
    refused: await registry
      .execute("a.b", { n: "x" } as never)
      .catch((error: Error) => error.message),
    verdicts,
    faults: collectErrors(closed, { c: 1 }),
  }),
)
