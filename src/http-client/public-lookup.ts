import { egressBlocked } from "./egress.ts"
import { nodeBuiltin } from "../internal/node-builtin.ts"
import { isPrivateHost } from "../internal/private-host.ts"

/** One address of a host, as Node's resolver returns it. */
interface Address {
  readonly address: string
  readonly family: number
}

type LookupCallback = (
  error: Error | null,
  address?: string | readonly Address[],
  family?: number,
) => void

/** A lookup function with the signature that Node's sockets expect. */
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

/** Throws if a host, or the address it resolves to, is private. */
export function assertPublic(
  host: string,
  address?: string,
  isPrivate: (host: string) => boolean = isPrivateHost,
): void {
  if (!isPrivate(address ?? host)) return
  const what = address === undefined ? "is a private address" : "resolves to a private address"
  throw egressBlocked(host, `${what}, and "blockPrivate" is set`)
}

/** Wraps a lookup: returns public addresses or an error. */
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

/** A lookup for Node's sockets that returns public addresses or an error; `undefined` on other platforms. */
export async function publicLookup(): Promise<SocketLookup | undefined> {
  try {
    const dns = await nodeBuiltin<{ readonly lookup: LookupLike }>("dns")
    // Read from the module on each use, so that a replaced `lookup` takes effect.
    return checkedLookup((...args) => dns.lookup(...args))
  } catch {
    return undefined
  }
}
