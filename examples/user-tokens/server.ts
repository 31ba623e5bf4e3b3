import { createServer } from "node:http"
import type { AddressInfo } from "node:net"

const NOTES: Readonly<Record<string, readonly string[]>> = {
  "Bearer token-of-ada-71c3": ["Write the first program"],
  "Bearer token-of-bob-90fe": ["Buy milk", "Call Ada"],
}

const DOCUMENT = {
  openapi: "3.1.0",
  info: { title: "Notes", version: "1.0.0" },
  paths: {
    "/notes": {
      get: {
        operationId: "list",
        security: [{ login: [] }],
        responses: { 200: { description: "Notes", content: { "application/json": {} } } },
      },
    },
  },
  components: { securitySchemes: { login: { type: "http", scheme: "bearer" } } },
}

/** An API that identifies its users by their tokens. */
export async function startNotes(): Promise<AsyncDisposable & { readonly url: string }> {
  const server = createServer((request, response) => {
    const mine = NOTES[request.headers.authorization ?? ""]
    const answer = request.url === "/openapi.json" ? DOCUMENT : mine
    response.writeHead(answer === undefined ? 401 : 200, { "content-type": "application/json" })
    response.end(JSON.stringify(answer ?? {}))
  })
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve))
  const { port } = server.address() as AddressInfo
  return {
    url: `http://127.0.0.1:${port}`,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections()
      await new Promise<void>((resolve) => server.close(() => resolve()))
    },
  }
}
