import { createRegistry, defineOperation } from "@alkdev/operations"
import { silentLogger } from "@alkdev/operations/testing"
import { compileSchema } from "@alkdev/operations/schemas"
import { toHTTP } from "@alkdev/operations/to-http"
import { Type } from "@alkdev/operations/type"

const registry = createRegistry(
  {
    vault: {
      open: defineOperation({
        type: "mutation",
        description: "Opens the vault",
        inputSchema: Type.Object({ code: Type.String() }),
        outputSchema: Type.Boolean(),
        accessControl: { requiredScopes: ["vault"] },
        handler: () => true,
      }),
      check: defineOperation({
        type: "query",
        description: "Checks the vault",
        inputSchema: Type.Object({}),
        outputSchema: Type.Boolean(),
        accessControl: { requiredScopes: [] },
        handler: () => {
          throw new Error("connect postgres://admin:hunter2@db failed")
        },
      }),
    },
  },
  { logger: silentLogger, output: "strict" },
)

// An input cannot claim an identity.
const forged = { code: "1", identity: { id: "ada", scopes: ["vault"] }, trusted: true }
await registry.execute("vault.open", forged).catch((error: Error) => console.log(error.message))

// A caller does not see the message of an error that was not written for callers.
await using api = toHTTP(registry)
const response = await api.fetch(new Request("http://localhost/api/vault/check"))
console.log(response.status, ((await response.json()) as { detail: string }).detail)

// A hostile pattern cannot block the process.
const schema = compileSchema(Type.String({ pattern: "^(a+)+$" }))
console.log(schema.check(`${"a".repeat(50_000)}!`))
