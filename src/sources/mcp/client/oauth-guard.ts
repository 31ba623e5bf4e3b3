import type { MCPHttpChannel, ResolvedServer } from "../config.ts"
import type { RunningRequest } from "./running-request.ts"
import { CallError } from "../../../core/errors.ts"
import type { MCPAuthProvider } from "../transport-like.ts"

type Method = (this: unknown, ...args: unknown[]) => unknown

/**
 * Wraps the user's provider so that it receives only addresses that a browser may open.
 *
 * The address of the sign-in page comes from the server. Providers pass it to the system, where `file:` or
 * the scheme of a program would do something else.
 */
export function guardOAuth({ channel, server }: HttpHost): MCPAuthProvider | undefined {
  const provider = channel.authProvider
  if (provider === undefined || !("redirectToAuthorization" in provider)) return provider
  const redirect = provider.redirectToAuthorization as Method
  const guarded: Method = async (url, ...rest) => {
    const { protocol } = new URL(String(url))
    if (protocol !== "https:" && protocol !== "http:") {
      throw new CallError(
        "EGRESS_BLOCKED",
        `MCP server "${server.name}" asks you to sign in at an address with the scheme "${protocol}", which is not opened. Only http and https are allowed.`,
      )
    }
    return await redirect.call(provider, url, ...rest)
  }
  return new Proxy(provider, {
    get(target, key) {
      if (key === "redirectToAuthorization") return guarded
      const value: unknown = Reflect.get(target, key, target)
      return typeof value === "function" ? (value as Method).bind(target) : value
    },
  })
}

/** The shared dependencies of the requests of one connection. */
export interface HttpHost {
  readonly server: ResolvedServer
  readonly channel: MCPHttpChannel
  /** Finds a pending request. */
  exchange(token: number): RunningRequest | undefined
  /** Called when the shared response stream can no longer be read. */
  broken(error: CallError): void
  /** Receives values that must be masked. */
  readonly secret: (value: string) => void
}
