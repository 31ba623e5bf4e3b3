/**
 * Uses a hub for minutes while its sources break, and checks that nothing grows: `npm run soak -- --minutes 10`.
 *
 * Rounds of load and rest: each rest takes a sample of the heap, handles and listeners. Exit code 1 when the samples
 * grow, a call hangs, an answer is wrong or a surface never answers. `--quick` has a few short rounds, too few to
 * compare their samples.
 */
import { setTimeout as sleep } from "node:timers/promises"
import { parseArgs } from "node:util"
import { VISITS, WrongAnswer } from "./soak/clients.ts"
import type { Place } from "./soak/clients.ts"
import { growthOf, takeSample } from "./soak/growth.ts"
import type { Growth, Sample } from "./soak/growth.ts"
import { startSoakHub } from "./soak/hub.ts"
import type { SoakHub } from "./soak/hub.ts"

/** Clients per surface at the same time. */
const CLIENTS = 2
const MIN_ROUNDS = 3
/** Milliseconds after which a visit counts as hung. */
const HANGS_AFTER = 90_000
/** Milliseconds after which a rest ends although handles still come and go. */
const MAX_REST = 30_000
/** Share of the samples in which caches and pools are filled. */
const WARM_UP = 0.15

/** Milliseconds of a round. */
interface Pace {
  readonly load: number
  readonly beforeFault: number
  /** The time without any activity; longer than connections are kept alive for further requests. */
  readonly rest: number
}

interface Totals {
  answered: number
  readonly errors: Map<string, number>
}

// `tsx` turns source maps on: Node.js decodes a module's map when the first stack through it is read and keeps it, up to
// 3 MB for each. A rare error, hours into a run, would look like growth.
process.setSourceMapsEnabled(false)

const totals = new Map<string, Totals>(
  Object.keys(VISITS).map((name) => [name, { answered: 0, errors: new Map() }]),
)
const problems: string[] = []
let visits = 0
process.on("warning", ({ name, message }) => {
  if (name !== "ExperimentalWarning") problems.push(`${name}: ${message}`)
})
process.on("unhandledRejection", (error) => problems.push(`Unhandled rejection: ${String(error)}`))

const { values } = parseArgs({
  options: {
    minutes: { type: "string", default: "10" },
    quick: { type: "boolean", default: false },
  },
})
const minutes = values.quick ? 0 : Number(values.minutes)
if (!(minutes >= 0)) throw new Error(`--minutes must be a number, got "${values.minutes}".`)
const pace: Pace = values.quick
  ? { load: 400, beforeFault: 100, rest: 500 }
  : { load: 5000, beforeFault: 1500, rest: 5000 }
// Open handles do not keep the process alive.
process.exit(await main(minutes * 60_000))

async function main(duration: number): Promise<number> {
  await using soak = await startSoakHub()
  const ending = new AbortController()
  const place: Place = {
    url: soak.served.url,
    buses: soak.buses.map(({ name, broker }) => ({ name, url: broker.url })),
    signal: ending.signal,
  }
  const samples: Sample[] = []
  const began = performance.now()
  let isDone = false
  for (let round = 0; !isDone; round++) {
    await runRound(soak, place, round)
    isDone = performance.now() - began >= duration && round + 1 >= MIN_ROUNDS
    // A sample takes seconds, and those of a quick run are not compared: its last one shows that they can be taken.
    if (values.quick && !isDone) continue
    samples.push(await takeSample(place.signal))
    process.stderr.write(`${describe(round, samples.at(-1) as Sample)}\n`)
  }
  for (const [name, { answered }] of totals) {
    const isThere = soak.buses.some((bus) => bus.name === name) || !["nats", "redis"].includes(name)
    if (answered === 0 && isThere) problems.push(`No call over ${name} was answered.`)
  }
  const compared = values.quick ? [] : samples.slice(Math.ceil(samples.length * WARM_UP))
  const growth = growthOf(compared)
  print(growth, samples.length)
  return problems.length === 0 && growth.every(({ grows }) => !grows) ? 0 : 1
}

/** Load with a fault in its middle, then rest until nothing runs and all sources are back. */
async function runRound(soak: SoakHub, place: Place, round: number): Promise<void> {
  const until = performance.now() + pace.load
  const clients = Object.keys(VISITS).flatMap((name) =>
    Array.from({ length: CLIENTS }, async () => {
      while (performance.now() < until) await visit(name, place)
    }),
  )
  const fault = soak.faults[round % soak.faults.length]
  await sleep(pace.beforeFault)
  await fault?.inject()
  const hung = Symbol("hung")
  const timer = new AbortController()
  const limit = sleep(HANGS_AFTER, hung, { signal: timer.signal }).catch(() => undefined)
  if ((await Promise.race([Promise.all(clients), limit])) === hung) {
    throw new Error(`A client hangs in round ${round}, after "${fault?.name}".`)
  }
  timer.abort()
  await soak.recovered()
  await rested()
}

async function visit(name: string, place: Place): Promise<void> {
  const total = totals.get(name) as Totals
  try {
    total.answered += (await VISITS[name]?.(place, visits++)) ?? 0
  } catch (error) {
    if (error instanceof WrongAnswer) problems.push(`${name}: ${error.message}`)
    const { code = "", name: kind = "" } = error as { code?: string; name?: string }
    const shown = String(code || kind)
    total.errors.set(shown, (total.errors.get(shown) ?? 0) + 1)
    // A client that is refused does not come back at once.
    await sleep(50)
  }
}

/** Waits until the number of handles has stayed the same for a while. */
async function rested(): Promise<void> {
  const began = performance.now()
  let changed = began
  let last = -1
  for (;;) {
    const handles = process.getActiveResourcesInfo().length
    const now = performance.now()
    if (handles !== last) changed = now
    if (now - changed > pace.rest || now - began > MAX_REST) return
    last = handles
    await sleep(200)
  }
}

function describe(round: number, sample: Sample): string {
  const shown = Object.entries(sample).map(([name, value]) => `${name} ${format(value)}`)
  return `round ${round + 1}: ${shown.join(", ")}`
}

function print(growth: readonly Growth[], samples: number): void {
  console.log(`\n${samples} samples; medians of thirds after the warm-up:`)
  if (growth.length === 0) console.log("too few to compare")
  else
    console.table(
      Object.fromEntries(
        growth.map(({ name, medians: [first, second, last], allowed, grows }) => [
          name,
          {
            first: format(first),
            second: format(second),
            last: format(last),
            allowed: `+${format(allowed)}`,
            result: grows ? "GROWS" : "flat",
          },
        ]),
      ),
    )
  console.table(
    Object.fromEntries(
      [...totals].map(([name, { answered, errors }]) => [
        name,
        {
          answered,
          errors: [...errors].map(([code, count]) => `${code} ${count}`).join(", "),
        },
      ]),
    ),
  )
  for (const problem of new Set(problems)) console.log(`PROBLEM ${problem}`)
}

function format(value: number): string {
  return Number.isInteger(value) ? String(value) : value.toFixed(2)
}
