// #region operations
import { CallError, createRegistry, defineOperation, httpResponse } from "@alkdev/operations"
import { readCookie, toHTTP } from "@alkdev/operations/to-http"
import { Type } from "@alkdev/operations/type"

const DAY = 86_400
/** Ids of sessions, with their users. Keep them in a database. */
const sessions = new Map<string, string>()

const login = defineOperation({
  type: "mutation",
  description: "Starts a session",
  inputSchema: Type.Object({ name: Type.String(), password: Type.String() }),
  outputSchema: Type.Object({ name: Type.String() }),
  accessControl: { requiredScopes: [] },
  handler: ({ name, password }, context) => {
    if (!isPassword(name, password)) {
      throw new CallError("UNAUTHENTICATED", "The name or the password is wrong.")
    }
    const id = crypto.randomUUID()
    sessions.set(id, name)
    const response = httpResponse.read(context)
    response.setCookie("session", id, { maxAge: DAY })
    return { name }
  },
})

const logout = defineOperation({
  type: "mutation",
  description: "Ends the session",
  inputSchema: Type.Object({}),
  outputSchema: Type.Void(),
  accessControl: { requiredScopes: ["user"] },
  handler: (_input, context) => {
    for (const [id, name] of sessions) if (name === context.identity?.id) sessions.delete(id)
    const response = httpResponse.read(context)
    response.status = 204
    response.deleteCookie("session")
  },
})

const me = defineOperation({
  type: "query",
  description: "Returns the name of the caller",
  inputSchema: Type.Object({}),
  outputSchema: Type.String(),
  accessControl: { requiredScopes: ["user"] },
  handler: (_input, context) => context.identity?.id ?? "",
})
// #endregion

// #region serve
const registry = createRegistry({ session: { login, logout, me } }, { output: "strict" })

const api = toHTTP(registry, {
  // Runs for every request. A session that does not exist is an anonymous caller, who may log in.
  authenticate: (request) => {
    const name = sessions.get(readCookie(request, "session") ?? "")
    return name === undefined ? null : { id: name, scopes: ["user"] }
  },
})
// #endregion

/** Compares hashes in a real application. */
function isPassword(name: string, password: string): boolean {
  return name === "ada" && password === "lovelace"
}

/** A browser: it keeps a cookie. */
let jar = ""
async function send(path: string, init: RequestInit = {}): Promise<Response> {
  const headers = new Headers(init.headers)
  if (jar !== "") headers.set("cookie", jar)
  const response = await api.fetch(
    new Request(`https://app.example.com${path}`, { ...init, headers }),
  )
  for (const cookie of response.headers.getSetCookie()) {
    console.log(`  ${cookie.replace(/=[\w-]{36}/, "=…").replace(/ Expires=[^;]+;/, "")}`)
    jar = cookie.includes("Max-Age=0") ? "" : (cookie.split(";", 1)[0] ?? "")
  }
  return response
}

function post(path: string, input: unknown, more = {}): Promise<Response> {
  const headers = { "content-type": "application/json", ...more }
  return send(path, { method: "POST", headers, body: JSON.stringify(input) })
}

const ada = { name: "ada", password: "lovelace" }
console.log("me:", (await send("/api/session/me")).status)
console.log("wrong:", (await post("/api/session/login", { ...ada, password: "?" })).status)
console.log("login:", (await post("/api/session/login", ada)).status)
console.log("me:", await (await send("/api/session/me")).text())

// #region foreign
// A page of another site, whose visitor is logged in here.
const origin = "https://evil.example"
const foreign = await post("/api/session/logout", {}, { origin, "sec-fetch-site": "cross-site" })
console.log("another site:", foreign.status)
const form = await post("/api/session/logout", {}, { "content-type": "text/plain" })
console.log("a form:", form.status)
// #endregion

console.log("logout:", (await post("/api/session/logout", {})).status)
console.log("me:", (await send("/api/session/me")).status)
await api.close()
