import { CallError } from "../core/errors.ts"
import { isPrivateHost } from "../internal/private-host.ts"

/** One address of a host, as Node's resolver gives it. */
interface Address {
  readonly address: string
  readonly family: number
}

type LookupCallback = (
  error: Error | null,
  address?: string | readonly Address[],
  family?: number,
) => void

/** A look-up in the form that Node's sockets use. */
export type SocketLookup = (
  hostname: string,
  options: { readonly all?: boolean },
  callback: LookupCallback,
) => void

/** Resolves a host name; `dns.lookup` of Node is one. */
export type LookupLike = (
  hostname: string,
  options: { readonly all: true },
  callback: (error: Error | null, addresses: readonly Address[]) => void,
) => void

/** Throws for a host that is private as it is written, or one of whose addresses is. */
export function assertPublic(
  host: string,
  address?: string,
  isPrivate: (host: string) => boolean = isPrivateHost,
): void {
  if (!isPrivate(address ?? host)) return
  const what = address === undefined ? "is a private address" : "resolves to a private address"
  throw egressBlocked(host, `${what}, and "blockPrivate" is set`)
}

/** Why a host is sent nothing, after "it". */
export function egressBlocked(host: string, why: string): CallError {
  return new CallError("EGRESS_BLOCKED", `Nothing was sent to "${host}": it ${why}.`, {
    retryable: false,
    mayHaveExecuted: false,
  })
}

/** A look-up in the form that Node's sockets use, which gives public addresses or an error. */
export function checkedLookup(
  lookup: LookupLike,
  isPrivate: (host: string) => boolean = isPrivateHost,
): SocketLookup {
  return (hostname, options, callback) => {
    lookup(hostname, { ...options, all: true }, (error, addresses) => {
      if (error !== null) return callback(error)
      try {
        for (const { address } of addresses) assertPublic(hostname, address, isPrivate)
      } catch (blocked) {
        return callback(blocked as Error)
      }
      const [first] = addresses
      if (first === undefined) {
        const missing = Object.assign(new Error(`${hostname} has no address`), {
          code: "ENOTFOUND",
        })
        return callback(missing)
      }
      if (options.all === true) callback(null, addresses)
      else callback(null, first.address, first.family)
    })
  }
}

/** A look-up for sockets of Node that gives public addresses or an error; `undefined` on other platforms. */
export async function publicLookup(): Promise<SocketLookup | undefined> {
  const name = "node:dns"
  try {
    const { default: dns } = (await import(/* @vite-ignore */ name)) as {
      readonly default: { readonly lookup: LookupLike }
    }
    // Read from the module with each use: what is put in its place counts.
    return checkedLookup((...given) => dns.lookup(...given))
  } catch {
    return undefined
  }
}
