// #region zod
import { collectErrors, createRegistry, defineOperation } from "@alkdev/operations"
import { fromStandardSchema } from "@alkdev/operations/from-standard-schema"
import { type } from "arktype"
import * as v from "valibot"
import { z } from "zod"

const signUp = defineOperation({
  type: "mutation",
  description: "Creates an account",
  inputSchema: z
    .object({
      email: z.string().trim().toLowerCase(),
      password: z.string().min(8),
      repeated: z.string(),
    })
    .refine(({ password, repeated }) => password === repeated, {
      path: ["repeated"],
      message: "must repeat the password",
    }),
  outputSchema: z.object({ email: z.string(), plan: z.string().default("free") }),
  accessControl: { requiredScopes: [] },
  handler: ({ email }) => ({ email, plan: "free" }),
})

const registry = createRegistry({ user: { signUp } }, { output: "strict" })
const input = { email: " Ada@Example.com ", password: "correct horse", repeated: "correct horse" }

console.log((await registry.execute("user.signUp", input)).data)
await registry
  .execute("user.signUp", { ...input, repeated: "battery staple" })
  .catch((error: Error) => console.log(error.message))
// #endregion

// #region describe
console.log(registry.getSpec("user.signUp")?.inputSchema)
// #endregion

// #region convert
const ports = [
  fromStandardSchema(z.object({ port: z.int().max(65_535) })),
  fromStandardSchema(v.object({ port: v.pipe(v.number(), v.integer(), v.maxValue(65_535)) })),
  fromStandardSchema(type({ port: "number.integer <= 65535" })),
]
for (const schema of ports) console.log(collectErrors(schema, { port: 70_000 }))
// #endregion

// #region unwritable
try {
  fromStandardSchema(z.object({ at: z.date() }))
} catch (error) {
  console.log((error as Error).message)
}
// #endregion
