import { createServer } from "node:http"
import type { IncomingMessage, Server, ServerResponse } from "node:http"
import type { AddressInfo } from "node:net"
import { Type } from "typebox"
import { onTestFinished } from "vitest"
import { createHubClient } from "../../../console/src/api/client.ts"
import type { HubClient } from "../../../console/src/api/model.ts"
import { Session } from "../../../console/src/api/session.ts"
import type { AnyOperation } from "../../../src/core/define.ts"
import { createRegistry, defineOperation } from "../../../src/index.ts"
import { serveHTTP } from "../../../src/node/serve-http.ts"

const open = { accessControl: { requiredScopes: [] } }

/** Gives what it was given. */
export const echo = defineOperation({
  ...open,
  namespace: "demo",
  name: "echo",
  type: "query",
  description: "Gives what it was given",
  inputSchema: Type.Object({ text: Type.String() }),
  outputSchema: Type.Object({ text: Type.String() }),
  handler: (input) => input,
})

/** Counts up; below nothing it fails after its first item. */
export const count = defineOperation({
  ...open,
  namespace: "demo",
  name: "count",
  type: "subscription",
  description: "Counts",
  inputSchema: Type.Object({ to: Type.Integer() }),
  outputSchema: Type.Integer(),
  async *handler({ to }) {
    if (to < 0) {
      yield await Promise.resolve(0)
      throw new Error("cannot count down")
    }
    for (let at = 1; at <= to; at++) yield await Promise.resolve(at)
  },
})

interface Watched {
  readonly started: Promise<void>
  readonly ended: Promise<void>
  readonly start: () => void
  readonly end: () => void
}

function watched(): Watched {
  let start = (): void => undefined
  let end = (): void => undefined
  const started = new Promise<void>((resolve) => (start = resolve))
  const ended = new Promise<void>((resolve) => (end = resolve))
  return { started, ended, start: () => start(), end: () => end() }
}

interface Served {
  readonly hub: HubClient
  readonly session: Session
  readonly hung: Watched
  readonly endless: Watched
}

/** Some operations, with one that never answers and one that never ends. */
export async function serve(
  operations: readonly AnyOperation[],
  keys?: Readonly<Record<string, string>>,
): Promise<Served> {
  const hung = watched()
  const endless = watched()
  const hang = defineOperation({
    ...open,
    namespace: "demo",
    name: "hang",
    type: "mutation",
    description: "Never answers",
    inputSchema: Type.Object({}),
    outputSchema: Type.Unknown(),
    async handler(_input, { signal }) {
      hung.start()
      await new Promise<void>((resolve) => signal.addEventListener("abort", () => resolve()))
      hung.end()
    },
  })
  const forever = defineOperation({
    ...open,
    namespace: "demo",
    name: "endless",
    type: "subscription",
    description: "Never ends",
    inputSchema: Type.Object({}),
    outputSchema: Type.Integer(),
    async *handler() {
      try {
        for (let at = 0; ; at++) {
          yield at
          await new Promise((resolve) => setImmediate(resolve))
        }
      } finally {
        endless.end()
      }
    },
  })
  const served = await serveHTTP(createRegistry([...operations, hang, forever]), {
    port: 0,
    ...(keys !== undefined && {
      authenticate: (request) => {
        const { headers } = request
        const key = headers["x-api-key"] ?? String(headers["authorization"]).replace("Bearer ", "")
        const id = typeof key === "string" && Object.hasOwn(keys, key) ? keys[key] : undefined
        return id === undefined ? undefined : { id, scopes: [] }
      },
    }),
  })
  onTestFinished(() => served.close())
  const session = new Session()
  const hub = createHubClient({ baseUrl: `${served.url}/`, session })
  return { hub, session, hung, endless }
}

/** A client of a server that answers in its own way. */
export async function answering(
  answer: (request: IncomingMessage, response: ServerResponse) => void,
  session = new Session(),
): Promise<HubClient> {
  const server: Server = createServer(answer)
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve))
  onTestFinished(async () => {
    server.closeAllConnections()
    await new Promise((resolve) => server.close(resolve))
  })
  const { port } = server.address() as AddressInfo
  return createHubClient({ baseUrl: `http://127.0.0.1:${port}/`, session })
}

/** A signal that nobody aborts. */
export function never(): AbortSignal {
  return new AbortController().signal
}
