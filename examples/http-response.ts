// #region operations
import { createRegistry, defineContextValue, defineOperation } from "@alkdev/operations"
import { httpResponse } from "@alkdev/operations"
import { toHTTP } from "@alkdev/operations/to-http"
import { Type } from "@alkdev/operations/type"

const tenant = defineContextValue<string>("tenant")

const create = defineOperation({
  type: "mutation",
  description: "Adds a note",
  inputSchema: Type.Object({ text: Type.String() }),
  outputSchema: Type.Object({ id: Type.Integer() }),
  accessControl: { requiredScopes: [] },
  handler: (_input, context) => {
    const response = httpResponse.read(context)
    response.status = 201
    response.headers.set("location", "/notes/1")
    return { id: 1 }
  },
})

const list = defineOperation({
  type: "query",
  description: "Lists notes",
  inputSchema: Type.Object({}),
  outputSchema: Type.Array(Type.String()),
  accessControl: { requiredScopes: [] },
  handler: (_input, context) => {
    const { headers } = httpResponse.read(context)
    headers.set("cache-control", "private, no-cache")
    headers.set("etag", `"${tenant.read(context)}-7"`)
    return [`A note of ${tenant.read(context)}`]
  },
})
// #endregion

// #region serve
const registry = createRegistry({ note: { create, list } }, { output: "strict" })
const api = toHTTP(registry, {
  context: (request, { identity }) =>
    tenant.provide(request.headers.get("x-tenant") ?? identity?.id ?? "public"),
})
// #endregion

const url = "http://localhost/api/note"
const headers = { "x-tenant": "acme", "content-type": "application/json" }
const created = await api.fetch(
  new Request(`${url}/create`, { method: "POST", headers, body: '{"text":"Milk"}' }),
)
console.log(created.status, created.headers.get("location"), await created.text())
const listed = await api.fetch(new Request(`${url}/list`, { headers }))
console.log(listed.status, listed.headers.get("etag"), await listed.text())
const again = await api.fetch(
  new Request(`${url}/list`, { headers: { ...headers, "if-none-match": '"acme-7"' } }),
)
console.log(again.status)

// In the same process the result is the same, and nothing reads the rest.
const metadata = tenant.provide("acme")
console.log((await registry.execute("note.list", {}, { metadata })).data)
await api.close()
