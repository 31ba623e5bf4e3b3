/**
 * Runs only `execute`, on what `npm run bench` built last, for a profiler to watch:
 *
 *   node --import tsx --cpu-prof tools/bench/profile.ts [small|large|scopes] [seconds]
 *
 * Prints the CPU time of a call; `--cpu-prof` leaves a file that the browser's developer tools open.
 */
import { orderInputs, quoteInputs } from "./cases.ts"
import { execute, executeWithScopes } from "./contenders/ours.ts"
import { loadBuilt } from "./library.ts"
import { callLoop } from "./measure.ts"

const [what = "small", seconds = "5"] = process.argv.slice(2)
const library = await loadBuilt()
const contender = what === "scopes" ? executeWithScopes(library) : execute(library)
const loop =
  what === "large"
    ? callLoop(what, contender.large, orderInputs)
    : callLoop(what, contender.small, quoteInputs)

await loop(200_000)
const start = process.cpuUsage()
let calls = 0
while (process.cpuUsage(start).user < Number(seconds) * 1e6) {
  await loop(50_000)
  calls += 50_000
}
const { user, system } = process.cpuUsage(start)
console.log(`${what}: ${(((user + system) * 1000) / calls).toFixed(0)} ns a call`)
await contender.close()
