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

/** A client of what a gateway makes of a server. */
export interface Through extends AsyncDisposable {
  readonly through: WatchedClient
}

/** The same client twice: one speaks to the server, the other to the gateway. */
export interface Pair extends Through {
  readonly direct: WatchedClient
}

export type AwkwardFaults = Readonly<Record<string, string | number | boolean>>

type LaneSettings = ClientSettings & { readonly forwardInput?: boolean }

/** Opens a lane to an awkward server, and the way without the gateway to another of the same kind. */
export async function openLane(
  lane: Lane,
  faults: AwkwardFaults = {},
  settings: LaneSettings = {},
): Promise<Pair> {
  return await stacked(async (keep) => {
    const { through } = keep(await openThrough(lane, faults, settings))
    // A server of its own: the awkward ones take clients with the same ids for one.
    const way =
      lane.kind === "HTTP to stdio" ? { url: keep(await served(faults)).url } : awkward(faults)
    return { through, direct: keep(await connect(way, lane.down, settings)) }
  })
}

/** Opens a lane to an awkward server. */
export async function openThrough(
  { up, down, kind }: Lane,
  faults: AwkwardFaults = {},
  { forwardInput = false, ...settings }: LaneSettings = {},
): Promise<Through> {
  return await stacked(async (keep) => {
    const config = { era: up, forwardInput }
    const way =
      kind === "HTTP to stdio"
        ? gatewayProcess({ url: keep(await served(faults)).url, ...config })
        : keep(await gateway({ ...awkward(faults), ...config })).way
    return { through: keep(await connect(way, down, settings)) }
  })
}

const served = (faults: AwkwardFaults): ReturnType<typeof serveAwkward> =>
  serveAwkward({ sessions: true, ...faults })

/** What is opened, to be closed in the opposite order; at once, if opening fails. */
async function stacked<TOpened>(
  open: (keep: <TResource extends AsyncDisposable>(resource: TResource) => TResource) => TOpened,
): Promise<Awaited<TOpened> & AsyncDisposable> {
  const stack: AsyncDisposable[] = []
  const close = async (): Promise<void> => {
    for (const resource of stack.toReversed()) await resource[Symbol.asyncDispose]()
  }
  try {
    const opened = await open((resource) => {
      stack.push(resource)
      return resource
    })
    return { ...opened, [Symbol.asyncDispose]: close }
  } catch (error) {
    await close()
    throw error
  }
}

/** Describes something for every lane. */
export function describeLanes(what: string, tests: (lane: Lane) => void): void {
  describe.each(LANES)(`${what}: $up server, $down client, $kind`, (lane) => {
    tests(lane)
  })
}
