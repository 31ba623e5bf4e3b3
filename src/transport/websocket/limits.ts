import { MAX_RESULT_BYTES } from "../../core/socket-sizes.ts"
import type { OptionsSchema } from "../../internal/options.ts"

/** The limits of a socket, with defaults. */
export interface SocketLimitOptions {
  /** Bytes of one frame, in either direction: 1 MiB. */
  readonly maxFrameBytes?: number | undefined
  /** Bytes that may wait to be sent: 1 MiB at a server, 16 MiB at a client. */
  readonly maxBufferedBytes?: number | undefined
  /** Milliseconds between two pings, 0 for none: 30,000. A peer that is silent for two intervals is given up. */
  readonly pingInterval?: number | undefined
  /** Milliseconds after which a peer that reads nothing is given up: 5,000. */
  readonly stallTimeout?: number | undefined
}

/** The limits of one socket, defaults filled in. Beyond a quarter of `maxBufferedBytes`, streams and large results wait. */
export type SocketLimits = { readonly [TKey in keyof SocketLimitOptions]-?: number } & {
  /** Bytes of one frame that is sent. */
  readonly maxSentBytes: number
}

export const SOCKET_LIMITS: OptionsSchema<SocketLimitOptions> = {
  maxFrameBytes: { min: 1024 },
  maxBufferedBytes: { min: 1024 },
  pingInterval: { min: 0 },
  stallTimeout: { min: 1 },
}

const MIB = 1024 * 1024

/** Fills in the defaults. */
export function resolveLimits(
  options: SocketLimitOptions,
  maxBufferedBytes: number = MIB,
): SocketLimits {
  const maxFrameBytes = options.maxFrameBytes ?? MIB
  return {
    maxFrameBytes,
    maxSentBytes: maxFrameBytes,
    maxBufferedBytes: options.maxBufferedBytes ?? maxBufferedBytes,
    pingInterval: options.pingInterval ?? 30_000,
    stallTimeout: options.stallTimeout ?? 5000,
  }
}

/**
 * The limits for a client: `?maxResultBytes=` in the URL of its upgrade means that it accepts larger frames.
 * A configured limit of the server applies to every client.
 */
export function limitsFor(
  url: string | undefined,
  limits: SocketLimits,
  { maxFrameBytes, maxBufferedBytes }: SocketLimitOptions,
): SocketLimits {
  if (maxFrameBytes !== undefined || maxBufferedBytes !== undefined) return limits
  const query = url?.split("?", 2)[1]
  const accepted = Number(new URLSearchParams(query).get("maxResultBytes"))
  if (!(accepted > limits.maxSentBytes)) return limits
  const maxSentBytes = Math.min(accepted, MAX_RESULT_BYTES)
  return { ...limits, maxSentBytes, maxBufferedBytes: limits.maxBufferedBytes + maxSentBytes }
}
