// @isolated: it replaces the API of the guides, and Hono changes what the whole process uses.
// The programs of the guides, with an API that takes uploads, sets cookies and has routes of all methods.
import { getRequestListener } from "@hono/node-server"
import { toNodeHandler } from "h3/node"
import { expect, test, vi } from "vitest"
import { listening, type Mounted } from "./mounts.ts"

const NativeRequest = Request

/** An API with what the guides promise of every mount. */
const createAPI = vi.hoisted(() => async (basePath: string) => {
  const { createRegistry, defineOperation, httpResponse } = await import("../../../src/index.ts")
  const { readCookie, toHTTP } = await import("../../../src/to-http.ts")
  const { FileStream, toFile, Type } = await import("../../../src/type.ts")
  const rest = { description: "Of a test", accessControl: { requiredScopes: [] } } as const
  const upload = defineOperation({
    ...rest,
    type: "mutation",
    inputSchema: Type.Object({ file: FileStream() }),
    outputSchema: Type.String(),
    handler: async ({ file }) => `${file.type}: ${await file.text()}`,
  })
  const download = defineOperation({
    ...rest,
    type: "query",
    inputSchema: Type.Object({}),
    outputSchema: FileStream(),
    handler: () => toFile("meow", { name: "cat.txt", type: "text/plain" }),
  })
  const visit = defineOperation({
    ...rest,
    type: "mutation",
    inputSchema: Type.Object({}),
    outputSchema: Type.String(),
    handler: (_input, context) => {
      const response = httpResponse.read(context)
      response.setCookie("a", "1")
      response.setCookie("b", "2")
      return context.identity?.id ?? ""
    },
  })
  const routed = (method: "PUT" | "PATCH" | "DELETE") =>
    defineOperation({
      ...rest,
      type: "mutation",
      route: { method, path: "/things/{id}" },
      inputSchema: Type.Object({ id: Type.Integer() }),
      outputSchema: Type.String(),
      handler: ({ id }) => `${method} ${id}`,
    })
  const thing = { put: routed("PUT"), patch: routed("PATCH"), remove: routed("DELETE") }
  return toHTTP(createRegistry({ file: { upload, download }, me: { visit }, thing }), {
    basePath,
    authenticate: (request) => ({
      id: readCookie(request, "session") ?? "anonymous",
      scopes: [],
    }),
  })
})

vi.mock("../../../examples/frameworks/api.ts", async () => ({ api: await createAPI("/api/v1") }))
vi.mock("../../../examples/existing-authentication/members.ts", async () => ({
  api: await createAPI("/v1"),
  toIdentity: (user?: { readonly id: string }) => ({ id: user?.id ?? "anonymous", scopes: [] }),
}))

type Routes = Readonly<Record<string, (request: Request) => Promise<Response>>>

/** The handlers that a file of Next.js exports. */
function inNext(route: object): Mounted {
  return {
    send: async (path, init) => {
      const request = new NativeRequest(`https://app.example.com${path}`, init)
      const handle = (route as Routes)[request.method]
      return handle === undefined ? new Response(null, { status: 405 }) : await handle(request)
    },
    async [Symbol.asyncDispose]() {},
  }
}

async function inLambda(): Promise<Mounted> {
  const { handler } = await import("../../../examples/frameworks/lambda.ts")
  return {
    send: async (path, init) => {
      const request = new NativeRequest(`https://api.example.com${path}`, init)
      const { cookie, ...headers } = Object.fromEntries(request.headers)
      const [rawPath = "", rawQueryString = ""] = path.split("?")
      const answer = (await handler({
        rawPath,
        rawQueryString,
        headers,
        ...(cookie !== undefined && { cookies: cookie.split("; ") }),
        requestContext: { domainName: "api.example.com", http: { method: request.method } },
        ...(request.body !== null && {
          body: Buffer.from(await request.arrayBuffer()).toString("base64"),
        }),
        isBase64Encoded: true,
      })) as {
        readonly statusCode: number
        readonly headers: Record<string, string>
        readonly cookies: readonly string[]
        readonly body: string
      }
      const received = new Headers(answer.headers)
      for (const line of answer.cookies) received.append("set-cookie", line)
      const { statusCode: status, body } = answer
      return new Response(Buffer.from(body, "base64"), { status, headers: received })
    },
    async [Symbol.asyncDispose]() {},
  }
}

type Way = readonly [name: string, base: string, open: () => Promise<Mounted>]

const FRAMEWORKS: readonly Way[] = [
  [
    "Express",
    "/api/v1",
    async () => await listening((await import("../../../examples/frameworks/express.ts")).app),
  ],
  [
    "Fastify",
    "/api/v1",
    async () => {
      const { app } = await import("../../../examples/frameworks/fastify.ts")
      await app.ready()
      return await listening((request, response) => app.routing(request, response))
    },
  ],
  [
    "Hono",
    "/api/v1",
    async () =>
      await listening(
        getRequestListener((await import("../../../examples/frameworks/hono.ts")).app.fetch),
      ),
  ],
  [
    "h3",
    "/api/v1",
    async () =>
      await listening(toNodeHandler((await import("../../../examples/frameworks/h3.ts")).app)),
  ],
  ["Next.js", "/api/v1", async () => inNext(await import("../../../examples/frameworks/next.ts"))],
  ["Lambda", "/api/v1", inLambda],
]

const AUTHENTICATED: readonly Way[] = [
  [
    "Express with a session",
    "/v1",
    async () =>
      await listening((await import("../../../examples/existing-authentication/express.ts")).app),
  ],
  [
    "Fastify with a session",
    "/v1",
    async () => {
      const { app } = await import("../../../examples/existing-authentication/fastify.ts")
      await app.ready()
      return await listening((request, response) => app.routing(request, response))
    },
  ],
  [
    "Hono with a session",
    "/v1",
    async () => {
      const { app } = await import("../../../examples/existing-authentication/hono.ts")
      return await listening(getRequestListener(app.fetch))
    },
  ],
  [
    "Next.js with a session",
    "/v1",
    async () => inNext(await import("../../../examples/existing-authentication/next.ts")),
  ],
]

test.each([...FRAMEWORKS, ...AUTHENTICATED])(
  "the guide's program for %s takes uploads, sends downloads and cookies, and has all methods",
  async (_name, base, open) => {
    await using app = await open()

    const image = { method: "POST", body: "meow", headers: { "content-type": "image/png" } }
    const raw = await app.send(`${base}/api/file/upload`, image)
    expect(await raw.text()).toBe('"image/png: meow"')
    const form = new FormData()
    form.append("file", new File(["purr"], "cat.gif", { type: "image/gif" }))
    const sent = await app.send(`${base}/api/file/upload`, { method: "POST", body: form })
    expect(await sent.text()).toBe('"image/gif: purr"')

    const file = await app.send(`${base}/api/file/download`)
    expect(file.headers.get("content-disposition")).toContain("cat.txt")
    expect(await file.text()).toBe("meow")

    const headers = { "content-type": "application/json", cookie: "other=1; session=ada" }
    const visited = await app.send(`${base}/operations/me.visit`, {
      method: "POST",
      body: "{}",
      headers,
    })
    expect(await visited.json()).toMatchObject({ data: "ada" })
    const cookies = visited.headers.getSetCookie().map((line) => line.split(";", 1)[0])
    expect(cookies).toEqual(["a=1", "b=2"])

    const json = { "content-type": "application/json" }
    for (const method of ["PUT", "PATCH", "DELETE"]) {
      const init = { method, headers: json, ...(method !== "DELETE" && { body: "{}" }) }
      const changed = await app.send(`${base}/things/7`, init)
      expect(`${changed.status} ${await changed.text()}`).toBe(`200 "${method} 7"`)
    }
  },
)
