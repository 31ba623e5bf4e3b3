// #region scopes
import { createRegistry, defineOperation, isCallError } from "@alkdev/operations"
import { Type } from "@alkdev/operations/type"

const rename = defineOperation({
  type: "mutation",
  description: "Renames a project",
  inputSchema: Type.Object({ projectId: Type.String(), title: Type.String() }),
  outputSchema: Type.Object({ title: Type.String(), by: Type.String() }),
  accessControl: {
    requiredScopes: ["project.write"],
    resourceType: "project",
    resourceAction: "edit",
    resourceIdPath: "/projectId",
  },
  // Called with the application's authority: callers of project.rename need no audit scope.
  composes: ["audit.write"],
  handler: async ({ projectId, title }, context) => {
    await context.call("audit.write", { text: `${projectId} is now "${title}"` })
    return { title, by: context.identity?.id ?? "anonymous" }
  },
})

const audit = defineOperation({
  type: "mutation",
  description: "Adds a line to the audit log",
  inputSchema: Type.Object({ text: Type.String() }),
  outputSchema: Type.Null(),
  accessControl: { requiredScopes: ["audit.write"] },
  handler: ({ text }, context) => {
    console.log(`audit: ${text}, says ${context.identity?.id ?? "the application"}`)
    return null
  },
})

const registry = createRegistry(
  { project: { rename }, audit: { write: audit } },
  { output: "strict" },
)
const ada = {
  id: "ada",
  scopes: ["project.write"],
  resources: { "project:apollo": ["edit"] },
}

const input = { projectId: "apollo", title: "Apollo 11" }
const { data } = await registry.execute("project.rename", input, { identity: ada })
console.log(data)
// #endregion

// #region denied
const denied = (error: unknown): void => {
  if (isCallError(error, "ACCESS_DENIED")) console.log(error.message)
}

await registry.execute("project.rename", input).catch(denied)
await registry
  .execute("project.rename", { ...input, projectId: "gemini" }, { identity: ada })
  .catch(denied)
await registry.execute("audit.write", { text: "forged" }, { identity: ada }).catch(denied)
// #endregion

// #region trusted
await registry.trusted.execute("audit.write", { text: "nightly run" })
// #endregion
