/**
 * Feeds generated hostile data to the library: `npm run fuzz -- --minutes 10 --only patterns,mcp`.
 *
 * Prints how many cases there were, how they ended and the seeds of those that failed; `--only <name> --seed <seed>` runs
 * one again and prints it. Each fuzzer runs in a separate process: a case that ends or hangs it is found, too.
 */
import { fork } from "node:child_process"
import { parseArgs } from "node:util"
import { FUZZERS } from "../../test/fuzz/index.ts"
import { describeError, pollution } from "../../test/fuzz/laws.ts"

/** Sent by a process when it begins a case, and when it is done with one. */
type Message = readonly [
  seed: number,
  result?: { readonly outcome?: string; readonly failure?: string },
]

interface Totals {
  readonly outcomes: Record<string, number>
  readonly failures: Array<readonly [seed: number, failure: string]>
  cases: number
}

/** Milliseconds on the same case after which a process counts as hung. */
const HANGS_AFTER = 120_000
/** Number of failures after which a fuzzer ends. */
const MAX_FAILURES = 20

const { values } = parseArgs({
  options: {
    only: { type: "string", default: Object.keys(FUZZERS).join() },
    minutes: { type: "string", default: "1" },
    seed: { type: "string" },
    from: { type: "string", default: String(Math.floor(Date.now() / 1000) % 1_000_000_000) },
    // Of the processes that are started.
    work: { type: "string" },
  },
})
const names = values.only.split(",")
for (const name of names) {
  if (!Object.hasOwn(FUZZERS, name)) {
    throw new Error(`There is no fuzzer "${name}": ${Object.keys(FUZZERS).join(", ")}.`)
  }
}

if (values.work !== undefined) await work(values.work, Number(values.from))
else if (values.seed !== undefined) await replay(names, Number(values.seed))
else process.exitCode = await main(Number(values.minutes) * 60_000)

/** The fuzzers one after the other, each with the same share of the time. */
async function main(duration: number): Promise<number> {
  if (!(duration > 0))
    throw new Error(`--minutes must be a positive number, got "${values.minutes}".`)
  let failureCount = 0
  for (const name of names) {
    const { cases, outcomes, failures } = await fuzz(name, duration / names.length)
    failureCount += failures.length
    const shown = Object.entries(outcomes).map(([outcome, count]) => `${outcome} ${count}`)
    console.log(`${name}: ${cases} cases from seed ${values.from} (${shown.join(", ")})`)
    for (const [seed, failure] of failures) {
      console.log(`  npm run fuzz -- --only ${name} --seed ${seed}: ${failure}`)
    }
  }
  console.log(failureCount === 0 ? "No failures." : `${failureCount} failureCount.`)
  return failureCount === 0 ? 0 : 1
}

/** If a process ends too early, another one continues after the case that ended it. */
async function fuzz(name: string, duration: number): Promise<Totals> {
  const totals: Totals = { outcomes: {}, failures: [], cases: 0 }
  const until = performance.now() + duration
  for (let next = Number(values.from); ; next++) {
    const last = await runProcess(name, next, until, totals)
    if (last === undefined || totals.failures.length >= MAX_FAILURES) return totals
    next = last
  }
}

/** Returns the seed at which the process ended, unless its time was over. */
async function runProcess(
  name: string,
  from: number,
  until: number,
  totals: Totals,
): Promise<number | undefined> {
  const child = fork(import.meta.filename, [`--work=${name}`, `--from=${from}`], {
    execArgv: process.execArgv,
  })
  let at: number | undefined
  let watch: NodeJS.Timeout | undefined
  let isOver = false
  child.on("message", ([seed, result]: Message) => {
    clearTimeout(watch)
    if (result === undefined) {
      at = seed
      watch = setTimeout(() => child.kill("SIGKILL"), HANGS_AFTER)
      return
    }
    totals.cases++
    const { outcome, failure } = result
    if (outcome !== undefined) totals.outcomes[outcome] = (totals.outcomes[outcome] ?? 0) + 1
    if (failure !== undefined) totals.failures.push([seed, failure])
    isOver = performance.now() >= until || totals.failures.length >= MAX_FAILURES
    if (isOver) child.kill("SIGKILL")
  })
  const code = await new Promise<number | null>((resolve) => child.once("exit", resolve))
  clearTimeout(watch)
  if (isOver) return undefined
  if (at === undefined) throw new Error(`The process of "${name}" ended before its first case.`)
  totals.failures.push([at, code === null ? "hangs" : `ended its process with ${code}`])
  return at
}

async function work(name: string, from: number): Promise<void> {
  const fuzzer = await FUZZERS[name]?.()
  for (let seed = from; fuzzer !== undefined; seed++) {
    process.send?.([seed])
    const result = await fuzzer.run(seed).then(
      (outcome) => ({ outcome, failure: pollution() }),
      (error: unknown) => ({ failure: describeError(error) }),
    )
    process.send?.([seed, result])
    // Sends pending messages first, so that an unhandled rejection ends the process at its own seed.
    await new Promise(setImmediate)
  }
}

async function replay(fuzzers: readonly string[], seed: number): Promise<void> {
  for (const name of fuzzers) {
    await using fuzzer = await FUZZERS[name]?.()
    console.log(name, seed, fuzzer?.show(seed))
    console.log(await fuzzer?.run(seed))
  }
}
