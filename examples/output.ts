// #region strip
import { createRegistry, defineOperation } from "@alkdev/operations"
import { silentLogger } from "@alkdev/operations/testing"
import { Type } from "@alkdev/operations/type"

const row = { id: "7", name: "Ada", passwordHash: "x" } as unknown as { id: number; name: string }

const find = defineOperation({
  type: "query",
  description: "Finds a user",
  inputSchema: Type.Unknown(),
  outputSchema: Type.Object({
    id: Type.Integer(),
    name: Type.String(),
    role: Type.Optional(Type.String({ default: "guest" })),
  }),
  accessControl: { requiredScopes: [] },
  handler: () => row,
})

const registry = createRegistry(
  { user: { find } },
  {
    onNormalize: ({ operationId, changes }) => console.log(operationId, changes),
  },
)
console.log((await registry.execute("user.find")).data)
// #endregion

// #region modes
for (const normalize of ["keep", "off"] as const) {
  const other = createRegistry({ user: { find } }, { normalize, logger: silentLogger })
  console.log(normalize, (await other.execute("user.find")).data)
}
// #endregion

// #region warn
const broken = { ...find, handler: () => ({ ...row, id: -0.5 }) }
const warning = createRegistry(
  { user: { find: broken } },
  {
    logger: silentLogger,
    onWarning: ({ operationId, errors }) => console.log(operationId, errors),
  },
)
console.log((await warning.execute("user.find")).data)
// #endregion

// #region strict
const strict = createRegistry({ user: { find: broken } }, { output: "strict" })
await strict.execute("user.find").catch((error: Error) => console.log(error.message))
// #endregion
