/** Calls of typed clients over HTTP. CPU time is that of both ends, each in a separate process. */
import assert from "node:assert/strict"
import { fileURLToPath } from "node:url"
import { AskedChild } from "./asked-child.ts"
import { quoteInputs } from "./cases.ts"
import type { ClientName } from "./contenders/http-clients.ts"
import { startServer } from "./http.ts"
import type { HTTPProcess } from "./http.ts"
import type { ClientLoad } from "./http-client-load.ts"
import type { ServerName } from "./http-targets.ts"
import type { Workload } from "./measure.ts"

const LOAD = fileURLToPath(import.meta.resolve("./http-client-load.ts"))
/** Concurrent calls of clients with batches: all of them fit into one request. */
const WIDTH = 10

export const OUR_CLIENT = "operations"
export const PEER_CLIENTS: readonly string[] = ["tRPC", "oRPC"]

const SINGLE: readonly (readonly [name: string, client: ClientName, server: ServerName])[] = [
  ["fetch by hand", "fetch", "floor"],
  [OUR_CLIENT, "ours", "ours"],
  ["tRPC", "trpc", "trpc"],
  ["oRPC", "orpc", "orpc"],
]
const BATCHED: typeof SINGLE = [
  ["fetch by hand, one by one", "fetch", "floor"],
  [OUR_CLIENT, "ours", "ours"],
  ["tRPC", "trpc-batch", "trpc"],
  ["oRPC", "orpc-batch", "orpc-batch"],
]

/** The rows, and what ends their processes. */
export interface HTTPClientRows {
  readonly single: readonly Workload[]
  readonly batched: readonly Workload[]
  close(): void
}

/** Every client, checked for doing the work. */
export async function httpClients(): Promise<HTTPClientRows> {
  const processes: { end(): void }[] = []
  const row = async ([name, client, serves]: (typeof SINGLE)[number], width: number) => {
    const server: HTTPProcess = await startServer(serves)
    const load = new AskedChild<ClientLoad>(LOAD, client)
    processes.push(server, load)
    const { port } = server
    const ask = async (count: number, isChecked?: boolean): Promise<void> => {
      const base = { port, count, width }
      const question = isChecked === true ? { ...base, isChecked } : base
      assert.equal(await load.ask<number | string>(question), count, name)
    }
    await ask(quoteInputs.length, true)
    const cpu = async (): Promise<number> =>
      (await server.ask<number>("cpu")) + (await load.ask<number>("cpu"))
    return { name, step: width, cpu, run: (count: number) => ask(count) }
  }
  const rows = async (contenders: typeof SINGLE, width: number): Promise<Workload[]> => {
    const made: Workload[] = []
    for (const contender of contenders) made.push(await row(contender, width))
    return made
  }
  return {
    single: await rows(SINGLE, 1),
    batched: await rows(BATCHED, WIDTH),
    close() {
      for (const one of processes) one.end()
    },
  }
}
