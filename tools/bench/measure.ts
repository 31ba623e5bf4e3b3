/** Interleaved rounds, CPU time, ratios per round; README.md explains the method. */
import { INPUTS } from "./cases.ts"

/** Something that can be done any number of times. */
export interface Workload {
  readonly name: string
  /** The workload it is compared with; by default the first of the list. */
  readonly against?: string | undefined
  /** Repetitions that run together: counts are multiples of it. */
  readonly step?: number | undefined
  readonly run: (count: number) => Promise<void>
  /** CPU nanoseconds so far, if another process does the work. */
  readonly cpu?: (() => Promise<number>) | undefined
}

/** How long to measure. */
export interface Effort {
  readonly rounds: number
  /** CPU milliseconds of one batch. */
  readonly batch: number
  /** CPU milliseconds each workload runs before anything counts. */
  readonly warmUp: number
}

/** A median and its spread. */
export interface Spread {
  readonly median: number
  readonly p10: number
  readonly p90: number
}

/** The result for one workload. */
export interface Measurement {
  readonly name: string
  readonly against: string
  readonly ratio: Spread
  /** Repetitions in a second, to those of what it is compared with in the same round. */
  readonly rate: Spread
  /** CPU time of one repetition. It depends on the computer; compare ratios instead. */
  readonly nanoseconds: number
  /** Repetitions per second of wall time. */
  readonly perSecond: number
  /** Heap that one repetition allocates. */
  readonly bytes: number
}

export const THOROUGH: Effort = { rounds: 21, batch: 25, warmUp: 400 }
export const QUICK: Effort = { rounds: 7, batch: 8, warmUp: 150 }

/**
 * A loop that awaits a call again and again.
 *
 * Each loop is generated with a different text. In a shared loop, the engine would mix its type feedback for
 * the contenders, and the first one would determine the optimization for the rest.
 */
export function callLoop<TInput>(
  name: string,
  call: (input: TInput) => Promise<unknown>,
  inputs: readonly TInput[],
): (count: number) => Promise<void> {
  return generate(
    name,
    "for (let index = 0; index < count; index++) await call(inputs[index & last])",
    { call, inputs, last: INPUTS - 1 },
  )
}

/** A loop with a fixed number of calls in flight: each lane starts its next call when one ends. */
export function laneLoop<TInput>(
  name: string,
  call: (input: TInput) => Promise<unknown>,
  inputs: readonly TInput[],
  lanes: number,
): (count: number) => Promise<void> {
  const body = `let next = 0
    const lane = async () => { while (next < count) await call(inputs[next++ & last]) }
    await Promise.all(Array.from({ length: Math.min(lanes, count) }, lane))`
  return generate(name, body, { call, inputs, lanes, last: INPUTS - 1 })
}

/** A loop that starts a number of calls at once, and waits for all of them before it starts the next. */
export function waveLoop<TInput>(
  name: string,
  call: (input: TInput) => Promise<unknown>,
  inputs: readonly TInput[],
  width: number,
): (count: number) => Promise<void> {
  const body = `for (let index = 0; index < count;) {
      const wave = new Array(Math.min(width, count - index))
      for (let at = 0; at < wave.length; at++) wave[at] = call(inputs[index++ & last])
      await Promise.all(wave)
    }`
  return generate(name, body, { call, inputs, width, last: INPUTS - 1 })
}

/** A loop that reads a stream of as many items as it is asked for. */
export function streamLoop(
  name: string,
  open: (count: number) => AsyncIterable<unknown>,
): (count: number) => Promise<void> {
  const body = `let seen = 0
    for await (const item of open(count)) if (item !== undefined) seen++
    if (seen !== count) throw new Error("Got " + seen + " items of " + count)`
  return generate(name, body, { open })
}

function generate(
  name: string,
  body: string,
  names: Readonly<Record<string, unknown>>,
): (count: number) => Promise<void> {
  const source = `return async (count) => { ${body} } // ${name} ${++loops}`
  // oxlint-disable-next-line typescript/no-implied-eval -- our own text; see callLoop
  const factory = new Function(...Object.keys(names), source)
  return factory(...Object.values(names)) as (count: number) => Promise<void>
}

let loops = 0

/** Measures workloads against each other: every one of them in every round, the order rotated. */
export async function measure(
  workloads: readonly Workload[],
  effort: Effort,
): Promise<Measurement[]> {
  const base = workloads[0]?.name ?? ""
  const lanes = workloads.map((workload) => ({
    workload,
    count: 1,
    times: [] as number[],
    walls: [] as number[],
  }))
  // Twice, because what one workload teaches the optimizer can undo what another taught it.
  for (const lane of [...lanes, ...lanes]) {
    const perCall = await warmUp(lane.workload, effort.warmUp / 2)
    const { step = 1 } = lane.workload
    lane.count = step * Math.max(1, Math.round((effort.batch * 1e6) / perCall / step))
  }
  for (let round = 0; round < effort.rounds; round++) {
    for (let step = 0; step < lanes.length; step++) {
      const lane = lanes[(round + step) % lanes.length] as (typeof lanes)[number]
      // Its code and data left the caches while others ran.
      const { workload, count } = lane
      await workload.run(Math.max(workload.step ?? 1, Math.ceil(count / 10)))
      const start = performance.now()
      lane.times.push((await cpuTime(workload, count)) / count)
      lane.walls.push((performance.now() - start) / count)
    }
  }
  const laneOf = new Map(lanes.map((lane) => [lane.workload.name, lane]))
  const measurements: Measurement[] = []
  for (const { workload, times, walls } of lanes) {
    const { name, against = base } = workload
    const floor = laneOf.get(against)
    if (floor === undefined)
      throw new TypeError(`"${name}" is compared with "${against}", which does not run.`)
    const ratios = times.map((time, round) => time / (floor.times[round] as number))
    const rates = walls.map((wall, round) => (floor.walls[round] as number) / wall)
    measurements.push({
      name,
      against,
      ratio: spreadOf(ratios),
      rate: spreadOf(rates),
      nanoseconds: spreadOf(times).median,
      perSecond: 1000 / spreadOf(walls).median,
      bytes: await bytesPerCall(workload),
    })
  }
  return measurements
}

/** The median and the tenth and ninetieth percentile. */
export function spreadOf(values: readonly number[]): Spread {
  const sorted = values.toSorted((left, right) => left - right)
  const at = (part: number): number => sorted[Math.round((sorted.length - 1) * part)] ?? Number.NaN
  return { median: at(0.5), p10: at(0.1), p90: at(0.9) }
}

/** Runs a workload until it is optimized; returns the nanoseconds that one repetition takes then. */
async function warmUp(workload: Workload, milliseconds: number): Promise<number> {
  let count = workload.step ?? 1
  let spent = 0
  let last = 0
  while (spent < milliseconds * 1e6) {
    last = await cpuTime(workload, count)
    spent += last
    if (last < 5e6) count *= 2
  }
  return last / count
}

async function cpuTime({ run, cpu }: Workload, count: number): Promise<number> {
  if (cpu === undefined) return await cpuOf(() => run(count))
  const start = await cpu()
  await run(count)
  return Math.max(1, (await cpu()) - start)
}

/** CPU nanoseconds that something takes of the whole process, garbage collection included. */
export async function cpuOf(run: () => unknown): Promise<number> {
  const start = process.cpuUsage()
  await run()
  const { user, system } = process.cpuUsage(start)
  return Math.max(1, (user + system) * 1000)
}

const BATCH_BYTES = 1_000_000

/**
 * Heap allocated by one repetition: how much the used heap grows over a batch far smaller than the young
 * generation. A batch in which a collection ran shrinks it instead; the median of many passes over those.
 */
export async function bytesPerCall(workload: Workload): Promise<number> {
  // Of many at once, a young generation is too small for a batch; another process has a separate heap.
  if (workload.step !== undefined || workload.cpu !== undefined) return Number.NaN
  const rough = await growth(workload, 64)
  const count = Math.max(8, Math.min(2000, Math.round(BATCH_BYTES / Math.max(64, rough))))
  return await growth(workload, count)
}

async function growth(workload: Workload, count: number): Promise<number> {
  const samples: number[] = []
  for (let batch = 0; batch < 41; batch++) {
    const before = process.memoryUsage().heapUsed
    await workload.run(count)
    const grown = process.memoryUsage().heapUsed - before
    if (grown > 0) samples.push(grown / count)
  }
  return spreadOf(samples).median
}
