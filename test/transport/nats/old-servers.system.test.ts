import { generateKeyPairSync } from "node:crypto"
import { once } from "node:events"
import { connect as dial, createServer } from "node:net"
import type { AddressInfo, Socket } from "node:net"
import { networkInterfaces } from "node:os"
import { connect } from "@nats-io/transport-node"
import type { NatsConnection } from "@nats-io/transport-node"
import { describe, expect, test } from "vitest"
import { createTicketSigner, createTicketVerifier } from "../../../src/nats.ts"
import type { NatsTransportOptions } from "../../../src/nats.ts"
import { provideNats, startNats } from "../../support/brokers.ts"
import { operation } from "../../support/operations.ts"
import { NatsSystem } from "./system.ts"

const { privateKey, publicKey } = generateKeyPairSync("ed25519")
const pinned = { issuer: "hub", audience: "ops" }
const signer = createTicketSigner({ ...pinned, key: privateKey })
const verifier = createTicketVerifier({ ...pinned, keys: publicKey, senders: "any" })
const identity = { id: "ada", scopes: [] }

/** An address of this machine that is not a loopback address; where there is none, one that leads to it all the same. */
const ELSEWHERE =
  Object.values(networkInterfaces())
    .flatMap((addresses) => addresses ?? [])
    .find(({ family, internal }) => family === "IPv4" && !internal)?.address ?? "0.0.0.0"

/** Connections come back soon, and are never given up. */
const SOON = { maxReconnectAttempts: -1, reconnectTimeWait: 50, reconnectJitter: 10 }

interface Front extends AsyncDisposable {
  readonly port: number
  /** What the server says its version is from the next connection on. */
  version: string
  /** Ends all connections. */
  cut(): void
}

/** A way to a server by an address of its own, which changes the version that the server reports. */
async function startFront(to: number, host: string, version: string): Promise<Front> {
  const sockets = new Set<Socket>()
  const server = createServer((near) => {
    const far = dial(to, "127.0.0.1")
    for (const socket of [near, far]) {
      sockets.add(socket)
      socket.on("error", () => {})
      socket.on("close", () => {
        sockets.delete(socket)
        near.destroy()
        far.destroy()
      })
    }
    near.pipe(far)
    let isFirst = true
    far.on("data", (data) => {
      const text = data.toString("latin1")
      const said = isFirst
        ? text.replace(/"version":"[^"]*"/, `"version":"${front.version}"`)
        : text
      isFirst = false
      near.write(said, "latin1")
    })
  })
  server.listen(0, host)
  await once(server, "listening")
  const cut = (): void => {
    for (const socket of sockets) socket.destroy()
  }
  const front: Front = {
    port: (server.address() as AddressInfo).port,
    version,
    cut,
    async [Symbol.asyncDispose]() {
      cut()
      server.close()
      await once(server, "close")
    },
  }
  return front
}

/** A worker and a caller, each with a connection of its own to these addresses. */
async function withBoth(
  places: { readonly worker: string; readonly caller: string },
  options: { readonly worker?: NatsTransportOptions; readonly caller?: NatsTransportOptions },
  run: (parts: {
    readonly call: () => Promise<unknown>
    readonly runs: unknown[]
    readonly links: { readonly worker: NatsConnection; readonly caller: NatsConnection }
  }) => Promise<void>,
): Promise<void> {
  const links = {
    worker: await connect({ servers: places.worker, ...SOON }),
    caller: await connect({ servers: places.caller, ...SOON }),
  }
  try {
    await using system = new NatsSystem({})
    const runs: unknown[] = []
    const whoami = operation("demo.whoami", {
      handler: (_: unknown, context: { identity?: { id: string } }) => {
        runs.push(context.identity?.id)
        return context.identity?.id
      },
    })
    system.worker([whoami], { connection: links.worker, verifier, ...options.worker })
    const { map } = system.caller({
      connection: links.caller,
      signer,
      user: "hub",
      ...options.caller,
    })
    const call = async (): Promise<unknown> =>
      (await map.call("demo.whoami", {}, { identity, timeout: 30_000 })).data
    // Without an identity there is no ticket: this says that both are there.
    await expect
      .poll(() => map.call("demo.whoami", {}, { timeout: 30_000 }).then(() => true, String))
      .toBe(true)
    runs.length = 0
    await run({ call, runs, links })
  } finally {
    await Promise.all([links.worker.close(), links.caller.close()])
  }
}

const OLD = "2.9.10"
const FIXED = "2.12.7"

describe.skipIf(!(await provideNats()))(
  "tickets over a NATS server with known ways to bypass its permissions",
  () => {
    const at = ({ port }: Front): string => `${ELSEWHERE}:${port}`
    const refused = {
      code: "UNAVAILABLE",
      retryable: false,
      mayHaveExecuted: false,
      message: expect.stringMatching(
        /^"demo\.whoami" was not (sent|called): .* version 2\.9\.10, .*Install 2\.11\.16.*insecure: true/,
      ),
    }

    test("tickets are neither sent to nor accepted from an old NATS server", async () => {
      await using broker = await startNats()
      await using old = await startFront(broker.port, ELSEWHERE, OLD)
      const here = `127.0.0.1:${broker.port}`
      await withBoth({ worker: here, caller: at(old) }, {}, async ({ call, runs }) => {
        await expect(call()).rejects.toMatchObject(refused)
        expect(runs).toEqual([])
      })
      // A caller that sends them all the same.
      await withBoth({ worker: at(old), caller: here }, {}, async ({ call, runs }) => {
        await expect(call()).rejects.toMatchObject(refused)
        expect(runs).toEqual([])
      })
    })

    test("tickets are allowed with a later NATS version, on this machine, and with insecure", async () => {
      await using broker = await startNats()
      await using fixed = await startFront(broker.port, ELSEWHERE, FIXED)
      await using local = await startFront(broker.port, "127.0.0.1", OLD)
      await using old = await startFront(broker.port, ELSEWHERE, OLD)
      const insecure = { insecure: true }
      const cases = [
        [at(fixed), {}],
        [`127.0.0.1:${local.port}`, {}],
        [at(old), { worker: insecure, caller: insecure }],
      ] as const
      for (const [place, options] of cases) {
        await withBoth({ worker: place, caller: place }, options, async ({ call, runs }) => {
          await expect(call()).resolves.toBe("ada")
          expect(runs).toEqual(["ada"])
        })
      }
    })

    test("tickets are refused while a connection is to an old NATS server, also after a reconnect", async () => {
      await using broker = await startNats()
      await using front = await startFront(broker.port, ELSEWHERE, FIXED)
      const here = `127.0.0.1:${broker.port}`
      for (const end of ["worker", "caller"] as const) {
        front.version = FIXED
        const places = { worker: here, caller: here, [end]: at(front) }
        await withBoth(places, {}, async ({ call, links }) => {
          const moveTo = async (version: string): Promise<void> => {
            front.version = version
            front.cut()
            await expect.poll(() => links[end].info?.version).toBe(version)
          }
          await expect(call()).resolves.toBe("ada")
          await moveTo(OLD)
          await expect(call()).rejects.toMatchObject(refused)
          await moveTo(FIXED)
          await expect(call()).resolves.toBe("ada")
        })
      }
    })
  },
)
