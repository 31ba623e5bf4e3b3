/** The links over which one registry calls another, for tables of what holds over each of them. */
import {
  fromCall,
  serveCalls,
  type Identity,
  type OperationRegistry,
  type Transport,
} from "../../src/index.ts"
import { createMemoryTransports, silentLogger } from "../../src/testing.ts"
import { createHTTPTransport } from "../../src/http.ts"
import { createNatsTransport } from "../../src/nats.ts"
import { serveHTTP } from "../../src/node.ts"
import { createRedisTransport } from "../../src/redis.ts"
import { createWebSocketTransport } from "../../src/websocket.ts"
import { createWorkerTransport } from "../../src/worker.ts"
import { provideBrokers } from "./brokers.ts"
import type { Broker } from "./brokers.ts"
import { quietRegistry } from "./operations.ts"

/** What a registry is served with, and what is closed afterwards. */
export class LinkGround implements AsyncDisposable {
  readonly closers: (() => unknown)[] = []
  /** Who calls over the links. */
  readonly identity: Identity
  readonly broker: Broker | undefined

  constructor(broker?: Broker, identity: Identity = { id: "peer", scopes: [] }) {
    this.broker = broker
    this.identity = identity
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const close of this.closers.toReversed()) await close()
    await this.broker?.[Symbol.asyncDispose]()
  }
}

/** Serves a registry, and returns the calling end of a link to it. */
type OpenLink = (registry: OperationRegistry, ground: LinkGround) => Promise<Transport>

let prefixes = 0

const overTransports =
  (make: (ground: LinkGround) => readonly [serving: Transport, calling: Transport]): OpenLink =>
  async (registry, ground) => {
    const [serving, calling] = make(ground)
    const resolveIdentity = (): Identity => ground.identity
    const server = serveCalls(registry, { transport: serving, resolveIdentity })
    ground.closers.push(
      () => server.close(),
      () => calling.close(),
    )
    return calling
  }

const overHTTP =
  (websocket: boolean, connect: (url: string) => Transport): OpenLink =>
  async (registry, ground) => {
    const authenticate = (): Identity => ground.identity
    const served = await serveHTTP(registry, { port: 0, authenticate, websocket })
    const calling = connect(served.url)
    ground.closers.push(
      () => served.close(),
      () => calling.close(),
    )
    return calling
  }

const memory: OpenLink = overTransports(() => createMemoryTransports())

const brokers = await provideBrokers()

/** Links over which operations can be imported. */
export const IMPORT_LINKS: Readonly<Record<string, OpenLink>> = {
  memory,
  worker: overTransports(() => {
    const { port1, port2 } = new MessageChannel()
    return [createWorkerTransport(port1), createWorkerTransport(port2)]
  }),
  WebSocket: overHTTP(true, (url) =>
    createWebSocketTransport(`${url.replace("http", "ws")}/ws`, { logger: silentLogger }),
  ),
  ...("NATS" in brokers && {
    NATS: overTransports(({ broker }) => {
      const prefix = `links${++prefixes}`
      const options = { servers: broker?.url, prefix, logger: silentLogger }
      return [createNatsTransport(options), createNatsTransport(options)]
    }),
  }),
  ...("Redis" in brokers && {
    Redis: overTransports(({ broker }) => {
      const prefix = `links${++prefixes}`
      const options = { url: broker?.url ?? "", prefix, logger: silentLogger }
      return [createRedisTransport(options), createRedisTransport(options)]
    }),
  }),
  "two hops": async (registry, ground) => {
    const gateway = quietRegistry()
    ground.closers.push(() => gateway.close())
    await fromCall(await memory(registry, ground), { registry: gateway, logger: silentLogger })
    return await memory(gateway, ground)
  },
}

/** All links; a program calls over them with a client. */
export const LINKS: Readonly<Record<string, OpenLink>> = {
  ...IMPORT_LINKS,
  "HTTP client": overHTTP(false, (url) => createHTTPTransport(url)),
}

/** The ground for one of the links: with its broker, if it needs one. */
export async function groundFor(name: string, identity?: Identity): Promise<LinkGround> {
  return new LinkGround(await brokers[name]?.(), identity)
}
