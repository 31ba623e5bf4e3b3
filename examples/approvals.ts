import { createRegistry, defineOperation, isCallError, isDryRun } from "@alkdev/operations"
import type { ApprovalRule } from "@alkdev/operations"
import { toTools } from "@alkdev/operations/tools"
import { Type } from "@alkdev/operations/type"

const Issue = Type.Object({ owner: Type.String(), title: Type.String() })
const accessControl = { requiredScopes: [] }
const outputSchema = Type.String()

const create = defineOperation({
  type: "mutation",
  description: "Creates an issue",
  inputSchema: Issue,
  ...{ outputSchema, accessControl },
  handler: ({ owner, title }) => `created "${title}" for ${owner}`,
})

const remove = defineOperation({
  type: "mutation",
  description: "Deletes a repository",
  inputSchema: Type.Object({ owner: Type.String() }),
  ...{ outputSchema, accessControl },
  handler: ({ owner }) => `deleted the repository of ${owner}`,
})

// #region rules
const rules: ApprovalRule[] = [
  { match: "*.remove", decide: "deny", reason: "Nothing is deleted from here." },
  {
    match: "issues.*",
    input: { properties: { owner: { const: "my-sandbox" } } },
    decide: "allow",
  },
  { type: "mutation", decide: "ask", reason: "Others can see it." },
]

const registry = createRegistry(
  { issues: { create }, repos: { remove } },
  { approvals: rules, output: "strict" },
)
// #endregion rules

// #region agent
const identity = { id: "agent", scopes: [] }
const tools = toTools(registry, { identity })
console.log(tools.definitions.map(({ name }) => name).filter((name) => name !== "read_result"))

const sandbox = await tools.call("issues_create", { owner: "my-sandbox", title: "Try it" })
console.log(sandbox.parts)

const input = { owner: "octocat", title: "Hello", confirmed: true }
const first = await tools.call("issues_create", input)
console.log(first.isError, first.code)
// #endregion agent

// #region person
const { approvals } = registry
const waiting = approvals?.waiting[0]
console.log(waiting?.operationId, waiting?.caller, waiting?.input)
if (waiting !== undefined) approvals?.answer(waiting.id, { approve: true, by: "grace" })

console.log((await tools.call("issues_create", input)).parts)
console.log((await tools.call("issues_create", input)).code)
// #endregion person

// #region ask
const accepted = await registry.execute(
  "issues.create",
  { owner: "octocat", title: "Again" },
  {
    requestInput: async (request) => {
      if ("message" in request) console.log(request.message)
      return { action: "accept" }
    },
  },
)
console.log(accepted.data)

try {
  await registry.execute("repos.remove", { owner: "octocat" })
} catch (error) {
  if (isCallError(error)) console.log(error.message)
}
// #endregion ask

// #region dry
const plan = await registry.execute("repos.remove", { owner: "octocat" }, { dryRun: true })
if (isDryRun(plan)) console.log(plan.data.decision, plan.data.rule, plan.data.reason)
// #endregion dry

tools.close()
