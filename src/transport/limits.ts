import type { SocketLimits } from "./socket.ts"

/** The limits of a socket; what is left out has its default. */
export interface SocketLimitOptions {
  /** Bytes of one frame, in either direction: 1 MiB. */
  readonly maxFrameBytes?: number | undefined
  /** Bytes that may wait to be sent: 1 MiB at a server, 16 MiB at a client. */
  readonly maxBufferedBytes?: number | undefined
  /** Milliseconds between two pings, 0 for none: 30,000. A peer that is silent for two is given up. */
  readonly pingInterval?: number | undefined
  /** Milliseconds after which a peer that reads nothing is given up: 5,000. */
  readonly stallTimeout?: number | undefined
}

const MIB = 1024 * 1024

/** The limits with their defaults. Throws a `TypeError` that names the one that is no number. */
export function settleLimits(
  user: string,
  options: SocketLimitOptions,
  maxBufferedBytes: number = MIB,
): SocketLimits {
  const settle = (name: keyof SocketLimitOptions, otherwise: number, least: number): number => {
    const value = options[name] ?? otherwise
    if (typeof value === "number" && value >= least) return value
    throw new TypeError(`${user}({ ${name} }) must be a number of at least ${least}.`)
  }
  return {
    maxFrameBytes: settle("maxFrameBytes", MIB, 1024),
    maxBufferedBytes: settle("maxBufferedBytes", maxBufferedBytes, 1024),
    pingInterval: settle("pingInterval", 30_000, 0),
    stallTimeout: settle("stallTimeout", 5000, 1),
  }
}
