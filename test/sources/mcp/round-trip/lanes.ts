// The ways from a client through a gateway to a server, and the way without it.

import { describe } from "vitest"
import { serveAwkward } from "../awkward/http.ts"
import { awkward } from "../support/awkward.ts"
import { connect, gateway, gatewayProcess } from "./support.ts"
import type { ClientSettings, Era, WatchedClient } from "./support.ts"

/** What is spoken where: to the server, to the client, and over what. */
export interface Lane {
  readonly up: Era
  readonly down: Era
  /** The server is a process and the gateway listens on a port, or the other way round. */
  readonly kind: "stdio to HTTP" | "HTTP to stdio"
}

const ERAS = ["legacy", "modern"] as const

/** Every pair of eras, over both kinds of transports. */
const LANES: readonly Lane[] = (["stdio to HTTP", "HTTP to stdio"] as const).flatMap((kind) =>
  ERAS.flatMap((up) => ERAS.map((down) => ({ up, down, kind }))),
)

/** The same client twice: one speaks to the server, the other to what a gateway makes of it. */
export interface Pair extends AsyncDisposable {
  readonly direct: WatchedClient
  readonly through: WatchedClient
}

export type AwkwardFaults = Readonly<Record<string, string | number | boolean>>

/** Opens a lane to an awkward server. */
export async function openLane(
  { up, down, kind }: Lane,
  faults: AwkwardFaults = {},
  settings: ClientSettings & { readonly forwardInput?: boolean } = {},
): Promise<Pair> {
  const stack: AsyncDisposable[] = []
  const keep = <TResource extends AsyncDisposable>(resource: TResource): TResource => {
    stack.push(resource)
    return resource
  }
  const { forwardInput = false } = settings
  const start = (): ReturnType<typeof serveAwkward> => serveAwkward({ sessions: true, ...faults })
  try {
    if (kind === "HTTP to stdio") {
      // A server of its own for each: the awkward ones take clients with the same ids for one.
      const [server, other] = [keep(await start()), keep(await start())]
      const way = gatewayProcess({ url: server.url, era: up, forwardInput })
      const through = keep(await connect(way, down, settings))
      const direct = keep(await connect({ url: other.url }, down, settings))
      return { direct, through, [Symbol.asyncDispose]: () => closeAll(stack) }
    }
    const server = awkward(faults)
    const gate = keep(await gateway({ ...server, era: up, forwardInput }))
    const through = keep(await connect(gate.way, down, settings))
    const direct = keep(await connect(server, down, settings))
    return { direct, through, [Symbol.asyncDispose]: () => closeAll(stack) }
  } catch (error) {
    await closeAll(stack)
    throw error
  }
}

async function closeAll(stack: readonly AsyncDisposable[]): Promise<void> {
  for (const resource of stack.toReversed()) await resource[Symbol.asyncDispose]()
}

/** Describes something for every lane. */
export function describeLanes(what: string, tests: (lane: Lane) => void): void {
  describe.each(LANES)(`${what}: $up server, $down client, $kind`, (lane) => {
    tests(lane)
  })
}
