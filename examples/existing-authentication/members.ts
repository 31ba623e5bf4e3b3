// #region api
import { createRegistry, defineContextValue, defineOperation } from "@alkdev/operations"
import type { Identity } from "@alkdev/operations"
import { toHTTP } from "@alkdev/operations/to-http"
import { Type } from "@alkdev/operations/type"

/** The user, as your application knows it. */
export interface User {
  readonly id: string
  readonly roles: readonly string[]
}

/** The caller, as operations know it; `null` for an anonymous one. */
export function toIdentity(user: User | undefined): Identity | null {
  return user === undefined ? null : { id: user.id, scopes: user.roles }
}

const locale = defineContextValue<string>("locale")

const greet = defineOperation({
  type: "query",
  description: "Greets the caller",
  inputSchema: Type.Object({}),
  outputSchema: Type.String(),
  accessControl: { requiredScopes: ["member"] },
  handler: (_input, context) => {
    const hello = locale.read(context) === "de" ? "Hallo" : "Hello"
    return `${hello}, ${context.identity?.id}`
  },
})

export const api = toHTTP(createRegistry({ me: { greet } }, { output: "strict" }), {
  basePath: "/v1",
  context: (request) => locale.provide(request.headers.get("accept-language") ?? "en"),
})
// #endregion
