import { CallError } from "../core/errors.ts"

/** The part of a Node server that opens a port. */
export interface PortServerLike {
  listen(port: number, host: string, listener: () => void): unknown
  once(type: "error", listener: (error: Error) => void): unknown
  off(type: "error", listener: (error: Error) => void): unknown
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

/** A host as part of a URL: an IPv6 address in brackets. */
export function urlHost(host: string): string {
  return host.includes(":") && !host.startsWith("[") ? `[${host}]` : host
}
