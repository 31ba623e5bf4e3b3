// #region open
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { createRegistry, defineOperation } from "@alkdev/operations"
import { Type } from "@alkdev/operations/type"
import { openAudit, verifyAudit } from "@alkdev/operations/node"

const close = defineOperation({
  type: "mutation",
  description: "Closes an account",
  inputSchema: Type.Object({ id: Type.Integer() }),
  outputSchema: Type.String(),
  accessControl: { requiredScopes: [] },
  handler: ({ id }) => `closed ${id}`,
})

const registry = createRegistry({ account: { close } }, { output: "strict" })

const folder = await mkdtemp(join(tmpdir(), "audit-"))
const file = join(folder, "audit.jsonl")
const key = process.env["AUDIT_KEY"] ?? "only for this example"

const audit = await openAudit(file, { key })
audit.attach(registry)
await registry.execute("account.close", { id: 7 }, { identity: { id: "ada", scopes: [] } })
await audit.close()

for (const line of (await readFile(file, "utf8")).trim().split("\n")) {
  const { seq, phase, identity, operation, outcome } = JSON.parse(line)
  console.log([seq, phase, identity, operation, outcome].join(" ").trim())
}
// #endregion open

// #region verify
console.log("as written:", (await verifyAudit(file, { key, head: audit.head })).ok)

// Somebody changes who it was.
await writeFile(file, (await readFile(file, "utf8")).replace('"ada"', '"bob"'))
for (const { line, message } of (await verifyAudit(file, { key })).problems) {
  console.log(`line ${line} ${message}`)
}
// #endregion verify

await rm(folder, { recursive: true })
