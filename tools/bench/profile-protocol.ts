/**
 * Runs one row of the call protocol, on what `npm run bench` built last, for a profiler to watch:
 *
 *   node --import tsx --cpu-prof tools/bench/profile-protocol.ts [row] [seconds]
 *
 * Rows: call, signal, target, execute, few, many, stream, socket, socket-stream. Prints the CPU time of one
 * repetition; `--cpu-prof` leaves a file that the browser's developer tools open.
 */
import { quoteInputs } from "./cases.ts"
import { oursOverSocket } from "./contenders/socket-ours.ts"
import { loadBuilt } from "./library.ts"
import { laneLoop } from "./measure.ts"
import { protocol } from "./protocol.ts"
import { LANES } from "./websocket.ts"

const [what = "call", seconds = "5"] = process.argv.slice(2)
const library = await loadBuilt()
const inProcess = protocol(library)
const overSocket = what.startsWith("socket") ? await oursOverSocket(library) : undefined

const [execute, call, signal, target, , stream] = inProcess.calls
const [few, many] = inProcess.inFlight
const rows: Record<string, ((count: number) => Promise<unknown>) | undefined> = {
  execute: execute?.run,
  call: call?.run,
  signal: signal?.run,
  target: target?.run,
  few: few?.run,
  many: many?.run,
  stream: stream?.run,
  socket: overSocket && laneLoop(what, overSocket.call, quoteInputs, LANES),
  "socket-stream": overSocket?.stream,
}
const run = rows[what]
if (run === undefined) throw new TypeError(`Rows are ${Object.keys(rows).join(", ")}.`)

const BATCH = 20_000
for (let warm = 0; warm < 5; warm++) await run(BATCH)
const start = process.cpuUsage()
let count = 0
while (process.cpuUsage(start).user < Number(seconds) * 1e6) {
  await run(BATCH)
  count += BATCH
}
const { user, system } = process.cpuUsage(start)
console.log(`${what}: ${(((user + system) * 1000) / count).toFixed(0)} ns`)
await inProcess.close()
await overSocket?.close()
