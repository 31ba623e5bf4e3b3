import { createRegistry, defineOperation, isCallError } from "@alkdev/operations"
import { Type } from "@alkdev/operations/type"

// An operation is a spec (plain data) and a handler (a function).
const publish = defineOperation({
  type: "mutation",
  description: "Publishes a post",
  inputSchema: Type.Object({ title: Type.String() }),
  outputSchema: Type.Object({ url: Type.String() }),
  accessControl: { requiredScopes: ["posts:write"] },
  handler: ({ title }) => ({ url: `/posts/${title.toLowerCase()}` }),
})

// A registry stores operations by id, and is the only way to call them.
const registry = createRegistry({ post: { publish } }, { output: "strict" })
console.log(Object.keys(registry.getSpec("post.publish") ?? {}).join(", "))

// An identity describes the caller. The envelope contains the result and its origin.
const identity = { id: "ada", scopes: ["posts:write"] }
const envelope = await registry.execute("post.publish", { title: "Hello" }, { identity })
console.log(envelope.data, envelope.meta.source)

// A call that fails throws a CallError with a code.
try {
  await registry.execute("post.publish", { title: "Hello" })
} catch (error) {
  if (isCallError(error)) console.log(error.code, error.mayHaveExecuted)
}
