import type { MCPHttpChannel, SettledServer } from "../config.ts"
import type { Exchange } from "./frames.ts"
import { CallError } from "../../../core/errors.ts"
import type { MCPAuthProvider } from "../transport-like.ts"

type Method = (this: unknown, ...args: unknown[]) => unknown

/**
 * The user's provider, which gets to see only addresses that a browser may open.
 *
 * The address of the page to sign in at comes from the server. Openers hand it to the system, where
 * `file:` or the scheme of a program would do something else.
 */
export function guardOAuth({ channel, settled }: HttpHost): MCPAuthProvider | undefined {
  const provider = channel.authProvider
  if (provider === undefined || !("redirectToAuthorization" in provider)) return provider
  const redirect = provider.redirectToAuthorization as Method
  const guarded: Method = async (url, ...rest) => {
    const { protocol } = new URL(String(url))
    if (protocol !== "https:" && protocol !== "http:") {
      throw new CallError(
        "EGRESS_BLOCKED",
        `MCP server "${settled.name}" asks to sign in at an address of the scheme "${protocol}", which is not opened. Only http and https are.`,
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

/** What the requests of one connection share. */
export interface HttpHost {
  readonly settled: SettledServer
  readonly channel: MCPHttpChannel
  /** A request that is under way. */
  exchange(token: number): Exchange | undefined
  /** The stream that brings all answers can no longer be read. */
  broken(error: CallError): void
  /** Told what must not be shown. */
  readonly secret: (value: string) => void
}
