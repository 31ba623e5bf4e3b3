// #region import
import { createRegistry, FromOpenAPIUrl, isCallError } from "@alkdev/operations"
import { paginate } from "@alkdev/operations/from-openapi"
import { prepareRequest } from "@alkdev/operations/from-openapi"
import { startLibrary } from "./openapi/server.ts"

const library = await startLibrary()

// #region use
const operations = await FromOpenAPIUrl(`${library.url}/openapi.yaml`, {
  namespace: "library",
  baseUrl: library.url,
  credentials: { reader: () => "key-of-ada-7531" },
  reconnect: { maxAttempts: 3, delayMs: 10, maxDelayMs: 1000 },
})
const registry = createRegistry(operations)

const isbn = "978-0141439518"
const book = await registry.execute("library.get_books_by_isbn", { isbn })
console.log(book.data, book.meta.source)
// #endregion
// #endregion

// #region report
console.log(String(operations.report))
// #endregion

// #region list
for (const { name, type, title, inputSchema } of registry.list()) {
  const { properties = {} } = inputSchema as { properties?: object }
  console.log(`${type} ${name}(${Object.keys(properties).join(", ")}): ${title}`)
}
// #endregion

// #region call
const loan = await registry.execute("library.loans_create", { body: { isbn, note: null } })
if (loan.meta.source === "http") console.log(loan.meta.statusCode, loan.data)
// #endregion

// #region prepare
const input = { id: "978/1", query_id: [3, 4] }
const copies = registry.get("library.copies")
if (copies !== undefined) {
  const request = await prepareRequest(copies, input, { baseUrl: "https://library.example/v2" })
  console.log(request.method, request.url)
}
// #endregion

// #region stream
for await (const { data } of registry.subscribe("library.ask_stream", {
  body: { question: "Where is Jane Eyre?" },
})) {
  console.log(data)
}
// #endregion

// #region reconnect
for await (const { data, meta } of registry.subscribe("library.events", {})) {
  if (meta.source === "http") console.log(data, meta.event)
}
// #endregion

// #region paginate
for await (const page of paginate(registry, "library.books_list")) {
  console.log((page.data as { title: string }[]).map(({ title }) => title))
}
// #endregion

// #region errors
try {
  await registry.execute("library.get_books_by_isbn", { isbn: "0" })
} catch (error) {
  if (!isCallError(error)) throw error
  const { statusCode, body, declared } = error.details as Record<string, unknown>
  console.log(error.code, error.retryable, statusCode, body, declared)
}
// #endregion

// #region secrets
try {
  await registry.execute("library.loans_create", { body: { isbn: "978-0141441146" } })
} catch (error) {
  if (isCallError(error)) console.log((error.details as { body: unknown }).body)
}
// #endregion

// #region blocked
try {
  await registry.execute("library.covers_put", { isbn, body: new Uint8Array([137, 80, 78, 71]) })
} catch (error) {
  if (isCallError(error)) console.log(error.code, error.message)
}
// #endregion

// #region access
const guarded = createRegistry(
  operations.map((operation) =>
    operation.type === "mutation"
      ? { ...operation, accessControl: { requiredScopes: ["library.write"] } }
      : operation,
  ),
)
try {
  await guarded.execute("library.loans_create", { body: { isbn } })
} catch (error) {
  if (isCallError(error)) console.log(error.message)
}
// #endregion

await library.close()
