import { openPort, urlHost } from "../port.ts"
import type { PortServerLike } from "../port.ts"
import { CallError } from "../../core/errors.ts"
import { TIMER } from "../../internal/options.ts"
import type { OptionsSchema } from "../../internal/options.ts"
import { isLoopback, pathOf } from "../upgrade.ts"
import type { NodeRequestLike, NodeResponseLike } from "../node-types.ts"

/** Options of `listen`. */
export interface ListenOptions {
  /** 0 for any free port; default: 3000. */
  readonly port?: number | undefined
  /** Default: 127.0.0.1. Any address other than a loopback needs `authenticate`. */
  readonly host?: string | undefined
  /** The only path that is served; default: `/mcp`. */
  readonly path?: string | undefined
  /** Milliseconds in which a request must arrive, with its body; default: 30,000. */
  readonly requestTimeout?: number | undefined
}

export const LISTEN_OPTIONS: OptionsSchema<ListenOptions> = {
  port: "port",
  host: "text",
  path: { pattern: /^\//, expected: 'a path such as "/mcp"' },
  requestTimeout: TIMER,
}

/** A listening server. */
export interface Listening extends AsyncDisposable {
  readonly url: string
  close(): Promise<void>
}

interface NodeServerLike extends PortServerLike {
  address(): unknown
  close(callback: () => void): unknown
  closeIdleConnections?(): void
  closeAllConnections?(): void
}

interface NodeServerOptions {
  readonly headersTimeout: number
  readonly requestTimeout: number
  readonly connectionsCheckingInterval: number
}

interface NodeHttpLike {
  createServer(
    options: NodeServerOptions,
    listener: (request: NodeRequestLike, response: NodeResponseLike) => void,
  ): NodeServerLike
}

type Answer = (request: NodeRequestLike, response: NodeResponseLike) => Promise<void>

/** Opens a Node port for a request handler. */
export async function listenOn(
  answer: Answer,
  { port = 3000, host = "127.0.0.1", path = "/mcp", requestTimeout = 30_000 }: ListenOptions,
  hasAuthentication: boolean,
): Promise<Listening> {
  if (!hasAuthentication && !isLoopback(host)) {
    throw new TypeError(
      `listen({ host }): "${host}" can be reached from other machines. Give toMCP authenticate; ` +
        "() => null lets everyone in, anonymously.",
    )
  }
  const http = await nodeHttp()
  // Otherwise a client that sends a byte now and then could hold a connection for minutes.
  const limits: NodeServerOptions = {
    requestTimeout,
    headersTimeout: Math.min(requestTimeout, 10_000),
    connectionsCheckingInterval: Math.min(requestTimeout, 5000),
  }
  const server = http.createServer(limits, (request, response) => {
    const asked = pathOf(request)
    if (asked !== path && !asked.startsWith("/.well-known/")) {
      response.writeHead(404, { "Content-Type": "text/plain" })
      response.end()
      request.resume()
      return
    }
    // Never rejects: failures are answered.
    void answer(request, response)
  })
  await openPort(server, port, host)
  const address = server.address() as { readonly port: number }
  let closing: Promise<void> | undefined
  const close = (): Promise<void> => {
    closing ??= new Promise<void>((resolve) => {
      server.close(() => resolve())
      server.closeIdleConnections?.()
      server.closeAllConnections?.()
    })
    return closing
  }
  return {
    url: `http://${urlHost(host)}:${address.port}${path}`,
    close,
    [Symbol.asyncDispose]: close,
  }
}

async function nodeHttp(): Promise<NodeHttpLike> {
  const name = "http"
  try {
    return (await import(/* @vite-ignore */ `node:${name}`)) as NodeHttpLike
  } catch (cause) {
    throw new CallError(
      "UNAVAILABLE",
      "listen(): this platform has no HTTP server of Node. Use fetch with the server that it has.",
      { cause, retryable: false },
    )
  }
}
