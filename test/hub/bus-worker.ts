// A worker behind a broker in a process of its own: node bus-worker.mjs <url> <settings as JSON>
import { setTimeout as sleep } from "node:timers/promises"
import { createRegistry, serveCalls } from "../../src/index.ts"
import { silentLogger } from "../../src/testing.ts"
import type { AnyOperation, OperationContext } from "../../src/index.ts"
import { createTicketVerifier } from "../../src/transport/bus/tickets/verifier.ts"
import { createNatsTransport } from "../../src/nats.ts"
import { createRedisTransport } from "../../src/redis.ts"

/** What a worker is told when it is started. */
export interface BusWorkerSettings {
  /** What it says when it is asked who answered. */
  readonly name: string
  /** Ids of further queries that it serves. */
  readonly more?: readonly string[] | undefined
  readonly prefix?: string | undefined
  /** The public key of whoever signs tickets. */
  readonly publicKey?: string | undefined
}

const [url = "", text = "{}"] = process.argv.slice(2)
const { name, more = [], prefix, publicKey } = JSON.parse(text) as BusWorkerSettings
const verifier =
  publicKey === undefined
    ? undefined
    : createTicketVerifier({
        issuer: "hub",
        audience: "workers",
        keys: publicKey,
        senders: "any",
        logger: silentLogger,
      })
const options = { prefix, verifier, logger: silentLogger }
const transport = url.startsWith("redis")
  ? createRedisTransport({ ...options, url })
  : createNatsTransport({ ...options, servers: url })

const common = {
  version: "1.0.0",
  description: "Says something",
  inputSchema: {},
  outputSchema: {},
  accessControl: { requiredScopes: [] },
} as const
const operations: AnyOperation[] = [
  { ...common, namespace: "who", name: "answers", type: "query", handler: () => name },
  {
    ...common,
    namespace: "who",
    name: "asks",
    type: "query",
    handler: (_input: unknown, { identity }: OperationContext) => identity ?? null,
  },
  {
    ...common,
    namespace: "who",
    name: "knows",
    type: "query",
    accessControl: { requiredScopes: ["secrets"] },
    handler: (_input: unknown, { identity }: OperationContext) => identity?.id ?? null,
  },
  {
    ...common,
    namespace: "who",
    name: "counts",
    type: "subscription",
    async *handler(_input: unknown, { signal }: OperationContext) {
      for (let count = 1; ; count++) {
        yield count
        await sleep(1, undefined, { signal })
      }
    },
  },
  ...more.map((id): AnyOperation => {
    const [namespace = "", own = ""] = id.split(".")
    return { ...common, namespace, name: own, type: "query", handler: () => id }
  }),
]

const server = serveCalls(createRegistry(operations), { transport, logger: silentLogger })
process.once("SIGTERM", () => void server.drain())
await transport.whenConnected()
process.stdout.write("ready\n")
