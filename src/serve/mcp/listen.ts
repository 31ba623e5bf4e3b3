import { closePort, createPortServer, openPort, PORT_OPTIONS, portUrl } from "../port.ts"
import type { PortOptions } from "../port.ts"
import type { OptionsSchema } from "../../internal/options.ts"
import { pathOf } from "../upgrade.ts"
import { isLoopback } from "../../internal/unencrypted.ts"
import type { NodeRequestLike, NodeResponseLike } from "../node-types.ts"

/** Options of `listen`. */
export interface ListenOptions extends PortOptions {
  /** Default: 127.0.0.1. Any address other than a loopback needs `authenticate`. */
  readonly host?: string | undefined
  /** The only path that is served; default: `/mcp`. */
  readonly path?: string | undefined
}

export const LISTEN_OPTIONS: OptionsSchema<ListenOptions> = {
  ...PORT_OPTIONS,
  path: { pattern: /^\//, expected: 'a path such as "/mcp"' },
}

/** A listening server. */
export interface Listening extends AsyncDisposable {
  readonly url: string
  close(): Promise<void>
}

/** Opens a Node port for a request handler. */
export async function listenOn(
  answer: (request: NodeRequestLike, response: NodeResponseLike) => Promise<void>,
  options: ListenOptions,
  hasAuthentication: boolean,
): Promise<Listening> {
  const { port = 3000, host = "127.0.0.1", path = "/mcp" } = options
  if (!hasAuthentication && !isLoopback(host)) {
    throw new TypeError(
      `listen({ host }): "${host}" can be reached from other machines. Give toMCP authenticate; ` +
        "() => null lets everyone in, anonymously.",
    )
  }
  const server = await createPortServer("listen()", options)
  server.on("request", (request, response) => {
    const asked = pathOf(request)
    if (asked === path || asked.startsWith("/.well-known/")) {
      // Never rejects: failures are answered.
      void answer(request, response)
      return
    }
    response.writeHead(404, ["content-type", "text/plain"] as never)
    response.end()
    request.resume()
  })
  await openPort(server, port, host)
  let closing: Promise<void> | undefined
  const close = (): Promise<void> => (closing ??= closePort(server))
  return { url: `${portUrl(server, host)}${path}`, close, [Symbol.asyncDispose]: close }
}
