/** Requests and streams over HTTP, every server and the client in a separate process. */
import assert from "node:assert/strict"
import { fileURLToPath } from "node:url"
import { AskedChild } from "./asked-child.ts"
import { quote, quoteInputs } from "./cases.ts"
import { quotes } from "./contenders/socket.ts"
import type { Load } from "./http-load.ts"
import { streamTargets, targets } from "./http-targets.ts"
import type { ServerName, StreamTarget, Target } from "./http-targets.ts"
import type { Workload } from "./measure.ts"

/** Requests in flight. */
export const CONNECTIONS = 32

/** The program of the client. */
export const LOAD: string = fileURLToPath(import.meta.resolve("./http-load.ts"))
const SERVER = fileURLToPath(import.meta.resolve("./http-server.ts"))

/** The rows, and what ends their processes. */
export interface HTTPRows {
  readonly requests: readonly Workload[]
  readonly events: readonly Workload[]
  close(): void
}

/** Every contender, checked for doing the work. */
export async function http(): Promise<HTTPRows> {
  const load = new AskedChild<Load>(LOAD)
  const servers = new Map<ServerName, HTTPProcess>()
  for (const { server } of targets) {
    if (!servers.has(server)) servers.set(server, await startServer(server))
  }
  const serverOf = (name: ServerName): HTTPProcess => servers.get(name) as HTTPProcess
  const cpu = (name: ServerName) => (): Promise<number> => serverOf(name).ask<number>("cpu")
  for (const target of targets) await verify(target, serverOf(target.server).port)
  for (const target of streamTargets) await verifyStream(target, serverOf(target.server).port)
  const ask = async (question: Load, expected: number, name: string): Promise<void> => {
    assert.equal(await load.ask<number | string>(question), expected, name)
  }
  return {
    requests: targets.map(({ name, server, path, body }) => {
      const { port } = serverOf(server)
      const bodies = quoteInputs.map((input) => JSON.stringify(body(input)))
      const base = { kind: "requests", port, path, bodies, connections: CONNECTIONS } as const
      return { name, cpu: cpu(server), run: (count) => ask({ ...base, count }, count, name) }
    }),
    events: streamTargets.map(({ name, server, path }) => {
      const { port } = serverOf(server)
      return {
        name,
        cpu: cpu(server),
        // One more event marks the end.
        run: (count) => ask({ kind: "stream", port, path: path(count) }, count + 1, name),
      }
    }),
    close() {
      load.end()
      for (const server of servers.values()) server.end()
    },
  }
}

/** A server that listens. */
export interface HTTPProcess {
  readonly port: number
  ask<TAnswer>(question: "cpu" | "weigh"): Promise<TAnswer>
  end(): void
}

/** Starts a server in a separate process. */
export async function startServer(name: ServerName): Promise<HTTPProcess> {
  const child = new AskedChild<"cpu" | "weigh">(SERVER, name)
  const port = await child.listen<number>()
  return { port, ask: (question) => child.ask(question), end: () => child.end() }
}

async function verify({ name, path, body, data }: Target, port: number): Promise<void> {
  const post = (input: unknown): Promise<Response> =>
    fetch(`http://127.0.0.1:${port}${path}`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify(body(input as (typeof quoteInputs)[number])),
    })
  for (const input of quoteInputs) {
    const answer = await post(input)
    assert.equal(answer.status, 200, name)
    assert.deepEqual(data(await answer.json()), await quote(input), name)
  }
  const { status } = await post({ ...quoteInputs[0], quantity: 0 })
  assert.ok(status >= 400 && status < 500, `${name} must refuse an invalid input, gave ${status}`)
}

async function verifyStream({ name, path, data }: StreamTarget, port: number): Promise<void> {
  const answer = await fetch(`http://127.0.0.1:${port}${path(20)}`, {
    headers: { accept: "text/event-stream" },
  })
  const items = (await answer.text())
    .split("\n")
    .filter((line) => line.startsWith("data: "))
    .map((line): unknown => JSON.parse(line.slice(6)))
  const expected: unknown[] = []
  for await (const item of quotes(20)) expected.push(item)
  // The last one belongs to the end.
  assert.deepEqual(items.slice(0, -1).map(data), expected, name)
}
