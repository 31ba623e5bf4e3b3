import { withTimeout } from "../../internal/wait.ts"
import type { Clock } from "../../internal/platform.ts"

/** A client of the package `ioredis` that you created, and close: a `Redis`, or a `Cluster`. */
export interface RedisCommandClient {
  call(command: string, ...args: string[]): Promise<unknown>
}

/** Sends a command; rejects if there is no response in time, for example while the client reconnects. */
export async function sendCommand(
  client: RedisCommandClient,
  [command, ...args]: readonly [string, ...string[]],
  { clock, timeout }: { readonly clock: Clock; readonly timeout: number },
): Promise<unknown> {
  const late = (): never => {
    throw new Error(`Redis did not answer ${command} within ${timeout} ms.`)
  }
  return await withTimeout(client.call(command, ...args), timeout, late, { clock })
}
