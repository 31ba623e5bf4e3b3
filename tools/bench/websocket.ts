/** Calls and streams over WebSockets on the loop-back interface; both ends in this process. */
import assert from "node:assert/strict"
import { quote, quoteInputs } from "./cases.ts"
import type { QuoteInput } from "./cases.ts"
import type { SocketContender } from "./contenders/socket.ts"
import { socketFloor } from "./contenders/socket-floor.ts"
import { orpcOverSocket } from "./contenders/socket-orpc.ts"
import { oursOverSocket } from "./contenders/socket-ours.ts"
import { trpcOverSocket } from "./contenders/socket-trpc.ts"
import type { Library } from "./library.ts"
import { laneLoop } from "./measure.ts"
import type { Workload } from "./measure.ts"

export const LANES = 64

/** The rows, and what closes their servers. */
export interface SocketRows {
  readonly calls: readonly Workload[]
  readonly streams: readonly Workload[]
  /** Our own stream. */
  readonly stream: (count: number) => AsyncIterable<unknown>
  close(): Promise<void>
}

/** Every contender, checked for doing the work. */
export async function sockets(library: Library): Promise<SocketRows> {
  const ours = await oursOverSocket(library)
  const contenders = [await socketFloor(), ours, await trpcOverSocket(), await orpcOverSocket()]
  for (const contender of contenders) await verify(contender)
  return {
    calls: contenders.map(({ name, call }) => ({
      name,
      run: laneLoop(name, call, quoteInputs, LANES),
    })),
    streams: contenders.map(({ name, stream }) => ({
      name,
      run: async (count) => {
        assert.equal(await stream(count), count, name)
      },
    })),
    stream: ours.open,
    async close() {
      for (const contender of contenders) await contender.close()
    },
  }
}

async function verify({ name, call, stream, data }: SocketContender): Promise<void> {
  for (const input of quoteInputs)
    assert.deepEqual(data(await call(input)), await quote(input), name)
  assert.equal(await stream(1000), 1000, name)
  const [input] = quoteInputs
  await assert.rejects(
    call({ ...(input as QuoteInput), quantity: 0 }),
    `${name} must refuse an invalid input`,
  )
}
