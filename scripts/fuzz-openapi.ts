/**
 * Imports mutants of OpenAPI documents and uses what comes out: `tsx scripts/fuzz-openapi.ts --count 100000 --seed 1`.
 *
 * Prints how many there were and the seeds of those that failed; `--show <seed>` says more of one.
 */
import { fork } from "node:child_process"
import { availableParallelism } from "node:os"
import { parseArgs } from "node:util"
import { mutantOf, tryMutant } from "../test/openapi/fuzz.ts"
import type { Outcome } from "../test/openapi/fuzz.ts"
import { allFuzzDocuments } from "../test/openapi/fuzz/documents.ts"

/** Said by a process when it begins a mutant, and when it is done with one. */
type Message = readonly [seed: number, outcome?: Outcome]

/** A process that is at the same mutant for so many milliseconds hangs. */
const HANGS_AFTER = 30_000

const totals = { imported: 0, refused: 0, operations: 0, requests: 0, refusedRequests: 0 }
const faults: Array<readonly [seed: number, fault: string]> = []

const { values } = parseArgs({
  options: {
    count: { type: "string", default: "10000" },
    seed: { type: "string", default: "1" },
    processes: { type: "string", default: String(availableParallelism()) },
    show: { type: "string" },
    step: { type: "string" },
  },
})
const from = Number(values.seed)
const to = from + Number(values.count)

if (values.show !== undefined) await show(Number(values.show))
else if (values.step !== undefined) await work(Number(values.step))
else await main(Number(values.processes))

async function main(processes: number): Promise<void> {
  const shares = Array.from({ length: processes }, (_, index) => from + index)
  await Promise.all(shares.map(async (first) => await share(first, processes)))
  console.log(`${totals.imported + totals.refused} mutants from seed ${from}:`, totals)
  for (const [seed, fault] of faults.toSorted(([left], [right]) => left - right)) {
    console.log(`seed ${seed}: ${fault}`)
  }
  console.log(faults.length === 0 ? "No failures." : `${faults.length} failures.`)
  if (faults.length > 0) process.exitCode = 1
}

/** Every so manieth mutant; when a process ends too early, another goes on after it. */
async function share(first: number, step: number): Promise<void> {
  for (let next = first; next < to; next += step) {
    const last = await runProcess(next, step)
    if (last === undefined) return
    next = last
  }
}

/** Gives the seed at which the process was stopped, if it did not come to its end. */
async function runProcess(first: number, step: number): Promise<number | undefined> {
  const options = [`--seed=${first}`, `--count=${to - first}`, `--step=${step}`]
  const child = fork(import.meta.filename, options, { execArgv: process.execArgv })
  let at: number | undefined
  let watch: NodeJS.Timeout | undefined
  child.on("message", ([seed, outcome]: Message) => {
    if (outcome !== undefined) {
      count(seed, outcome)
      return
    }
    at = seed
    clearTimeout(watch)
    watch = setTimeout(() => child.kill("SIGKILL"), HANGS_AFTER)
  })
  const code = await new Promise<number | null>((resolve) => child.once("exit", resolve))
  clearTimeout(watch)
  if (code === 0) return undefined
  if (at === undefined) throw new Error("A process ended before its first mutant.")
  faults.push([
    at,
    code === null ? "hangs, or ended its process" : `ended its process with ${code}`,
  ])
  return at
}

function count(seed: number, outcome: Outcome): void {
  totals[outcome.kind]++
  totals.operations += outcome.operations
  totals.requests += outcome.requests
  totals.refusedRequests += outcome.refusedRequests
  if (outcome.fault !== undefined) faults.push([seed, outcome.fault])
}

async function work(step: number): Promise<void> {
  const bases = allFuzzDocuments()
  for (let seed = from; seed < to; seed += step) {
    process.send?.([seed])
    const outcome = await tryMutant(mutantOf(seed, bases))
    process.send?.([seed, outcome])
    // Lets the messages out.
    if (seed % 64 < step) await new Promise(setImmediate)
  }
  process.disconnect()
}

async function show(seed: number): Promise<void> {
  const mutant = mutantOf(seed, allFuzzDocuments())
  const { base, steps } = mutant
  console.log({ base, steps, ...(await tryMutant(mutant)) })
}
