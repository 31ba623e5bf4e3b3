import { once } from "node:events"
import { createServer } from "node:http"
import type { AddressInfo } from "node:net"
import { FromOpenAPI } from "../../src/from-openapi.ts"
import type { ImportedOperations } from "../../src/from-openapi.ts"
import type { JournalWriter } from "./journal.ts"

/** The operation `lab.relay`, which workers import from the API at a URL. */
export function relayOperations(baseUrl: string): ImportedOperations {
  const content = { "application/json": { schema: { type: "object" } } }
  return FromOpenAPI(
    {
      openapi: "3.1.0",
      info: { title: "Relay", version: "1.0.0" },
      paths: {
        "/relay": {
          post: {
            operationId: "relay",
            parameters: ["id", "ms"].map((name) => ({ name, in: "query", schema: {} })),
            responses: { "200": { description: "Done", content } },
          },
        },
      },
    },
    { namespace: "lab", baseUrl },
  )
}

/** An API that truncates every second response. */
export interface TruncatingApi extends AsyncDisposable {
  readonly url: string
  /** Calls, by their ids, whose answers were cut. */
  readonly cut: ReadonlySet<string>
}

export async function startTruncatingApi(journal: JournalWriter): Promise<TruncatingApi> {
  const cut = new Set<string>()
  let answers = 0
  const server = createServer(({ url = "" }, response) => {
    const id = new URL(url, "http://127.0.0.1").searchParams.get("id") ?? ""
    const run = journal.start(id)
    journal.note("end", id, run)
    const answer = JSON.stringify({ id, run, worker: "api", size: 0 })
    const isCut = ++answers % 2 === 0
    if (isCut) cut.add(id)
    response
      .writeHead(200, { "content-type": "application/json" })
      .end(isCut ? answer.slice(0, answer.length / 2) : answer)
  })
  server.listen(0, "127.0.0.1")
  await once(server, "listening")
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    cut,
    async [Symbol.asyncDispose]() {
      server.close()
      server.closeAllConnections()
      await once(server, "close")
    },
  }
}
