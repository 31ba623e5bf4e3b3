import { CallError } from "../core/errors.ts"
import { nodeBuiltin } from "../internal/node-builtin.ts"
import { TIMER, type OptionsSchema } from "../internal/options.ts"
import { withTimeout } from "../internal/wait.ts"
import type { NodeRequestLike, NodeResponseLike } from "./node-types.ts"

/** Options of a port. */
export interface PortOptions {
  /** 0 for any free port; default: 3000. */
  readonly port?: number | undefined
  /** Milliseconds in which a request must arrive, with its body; default: 30,000. */
  readonly requestTimeout?: number | undefined
}

export const PORT_OPTIONS: OptionsSchema<PortOptions & { readonly host?: string | undefined }> = {
  port: "port",
  host: "text",
  requestTimeout: TIMER,
}

/** Limits of a server that opens its own port. */
interface ServerLimits extends PortOptions {
  readonly maxHeaderBytes?: number | undefined
  readonly keepAliveTimeout?: number | undefined
}

/** The used part of a server of Node; `http.Server` is one. */
export interface PortServerLike {
  readonly listening: boolean
  maxHeadersCount: number | null
  listen(port: number, host: string, listener: () => void): unknown
  address(): unknown
  on(
    type: "request",
    listener: (request: NodeRequestLike, response: NodeResponseLike) => void,
  ): unknown
  on(
    type: "upgrade",
    listener: (request: NodeRequestLike, socket: unknown, head: unknown) => void,
  ): unknown
  once(type: "error", listener: (error: Error) => void): unknown
  off(type: "error", listener: (error: Error) => void): unknown
  close(callback: () => void): unknown
  closeIdleConnections(): void
  closeAllConnections(): void
}

/**
 * Creates a server of Node with time limits; otherwise a client that sends a byte now and then holds a connection for
 * minutes. `user` is for the error on platforms without one.
 */
export async function createPortServer(
  user: string,
  { requestTimeout = 30_000, maxHeaderBytes = 16 * 1024, keepAliveTimeout = 5000 }: ServerLimits,
): Promise<PortServerLike> {
  let http: { createServer(options: Readonly<Record<string, unknown>>): PortServerLike }
  try {
    http = await nodeBuiltin("http")
  } catch (cause) {
    throw new CallError(
      "UNAVAILABLE",
      `${user}: this platform has no HTTP server of Node. Use fetch with the server that it has.`,
      { cause, retryable: false },
    )
  }
  const server = http.createServer({
    requestTimeout,
    headersTimeout: Math.min(requestTimeout, 10_000),
    connectionsCheckingInterval: Math.min(requestTimeout, 5000),
    keepAliveTimeout,
    maxHeaderSize: maxHeaderBytes,
    noDelay: true,
  })
  server.maxHeadersCount = 200
  return server
}

/** Resolves when a server listens on a port; rejects with `UNAVAILABLE` when it cannot. */
export async function openPort(server: PortServerLike, port: number, host: string): Promise<void> {
  await new Promise<void>((resolve, reject) => {
    const fail = (cause: Error): void => {
      const message = `Cannot listen on ${host}:${port}: ${cause.message}`
      reject(new CallError("UNAVAILABLE", message, { cause, retryable: false }))
    }
    server.once("error", fail)
    server.listen(port, host, () => {
      server.off("error", fail)
      resolve()
    })
  })
}

/** Closes the port and all connections of a server. */
export async function closePort(server: PortServerLike): Promise<void> {
  if (!server.listening) return
  const closed = new Promise<void>((resolve) => {
    server.close(() => resolve())
  })
  server.closeIdleConnections()
  // Answers that were just written need time to leave the process.
  await withTimeout(closed, 200, () => undefined, { keepsAlive: false })
  server.closeAllConnections()
  await closed
}

/** The URL of a server, without a path. `host` is what it was opened with. */
export function portUrl(
  server: Pick<PortServerLike, "address">,
  host: string | undefined,
  scheme = "http",
): string {
  const at = server.address() as { readonly address: string; readonly port: number } | null
  const name = host ?? at?.address ?? "127.0.0.1"
  // An IPv6 address is in brackets.
  const shown = name.includes(":") && !name.startsWith("[") ? `[${name}]` : name
  return `${scheme}://${shown}:${at?.port ?? 0}`
}
