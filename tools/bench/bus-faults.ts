/** The same three faults for our calls over NATS and for Moleculer's, audited by the same journal. */
import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { setTimeout as sleep } from "node:timers/promises"
import { audit } from "../faults/audit.ts"
import type { AuditReport } from "../faults/audit.ts"
import { readJournal } from "../faults/journal.ts"
import { provideNats, startNats } from "../../test/support/brokers.ts"
import type { Broker } from "../../test/support/brokers.ts"
import { DEADLINE, moleculer, moleculerTuned, ours } from "./bus-fault-systems.ts"
import type { FaultCaller, FaultSystem, FaultWorker } from "./bus-fault-systems.ts"
import type { Goal } from "./goals.ts"
import { columns } from "./table.ts"

/** The effects of a fault on calls that are not idempotent. */
export interface BusFault {
  readonly fault: string
  readonly system: string
  readonly report: AuditReport
}

export interface BusFaultResults {
  readonly busFaults: readonly BusFault[]
}

interface Fault {
  readonly title: string
  inject(victim: FaultWorker, broker: Broker): Promise<void>
}

const FAULTS: readonly Fault[] = [
  {
    title: "one of three workers killed",
    inject: async (victim) => victim.kill("SIGKILL"),
  },
  {
    title: "broker killed, back after 1 s",
    async inject(_victim, broker) {
      await broker.kill()
      await sleep(1000)
      await broker.restart()
    },
  },
  {
    title: "one of three workers frozen for 8 s",
    async inject(victim) {
      victim.kill("SIGSTOP")
      await sleep(8000)
      victim.kill("SIGCONT")
    },
  },
]

const PER_SECOND = 200
/** Milliseconds after its deadline from which a call counts as hung. */
const HANGS_AFTER = 10_000

/** Runs every system with every fault, one after the other. */
export async function measureBusFaults({
  isQuick,
  log,
}: {
  readonly isQuick: boolean
  readonly log: (text: string) => void
}): Promise<BusFaultResults> {
  if (!(await provideNats())) {
    throw new Error("--bus-faults needs nats-server: apt-get install nats-server")
  }
  const busFaults: BusFault[] = []
  for (const fault of FAULTS) {
    for (const system of [ours, moleculer, moleculerTuned]) {
      log(`${system.name}: ${fault.title}`)
      const report = await runFault(system, fault, isQuick ? 3 : 6)
      busFaults.push({ fault: fault.title, system: system.name, report })
    }
  }
  return { busFaults }
}

async function runFault(system: FaultSystem, fault: Fault, seconds: number): Promise<AuditReport> {
  const folder = mkdtempSync(join(tmpdir(), "operations-bench-"))
  await using broker = await startNats()
  const workers = await Promise.all(
    ["w1", "w2", "w3"].map((name) => system.startWorker(name, broker, folder)),
  )
  const caller = await system.connect(broker)
  try {
    await warm(caller)
    const load = loadFor(caller, seconds)
    await sleep((seconds * 1000) / 3)
    await fault.inject(workers[0] as FaultWorker, broker)
    await waitForAll(await load)
    // Executions that start after their caller received an error start about now.
    await sleep(300)
    return audit(readJournal(folder), caller.report())
  } finally {
    // A hung call would delay it.
    await Promise.race([caller.close(), sleep(2000, undefined, { ref: false })])
    for (const worker of workers) await worker[Symbol.asyncDispose]()
    rmSync(folder, { recursive: true, force: true })
  }
}

/** Makes calls until all three workers must have been discovered. */
async function warm(caller: FaultCaller): Promise<void> {
  for (let round = 0; round < 3; round++) {
    await Promise.all(Array.from({ length: 12 }, () => caller.call()))
  }
}

/** Makes calls at a fixed rate, whatever their outcome. */
async function loadFor(caller: FaultCaller, seconds: number): Promise<Promise<unknown>[]> {
  const calls: Promise<unknown>[] = []
  const began = performance.now()
  while (calls.length < PER_SECOND * seconds) {
    const due = Math.ceil(((performance.now() - began) / 1000) * PER_SECOND)
    while (calls.length < Math.min(due, PER_SECOND * seconds)) calls.push(caller.call())
    await sleep(10)
  }
  return calls
}

async function waitForAll(calls: readonly Promise<unknown>[]): Promise<void> {
  const over = new AbortController()
  const late = sleep(DEADLINE + HANGS_AFTER, undefined, { signal: over.signal })
  await Promise.race([Promise.all(calls), late.catch(() => undefined)])
  over.abort()
}

/** Compares our calls with the goals of the library. */
export function busFaultGoals({ busFaults }: BusFaultResults): Goal[] {
  return busFaults
    .filter(({ system }) => system === ours.name)
    .map(({ fault, report: { hung, twice, untrue } }) => ({
      goal: `${ours.name}, ${fault}: none hung, none run twice, nothing untrue`,
      measured: [hung, twice, untrue].map(({ length }) => length).join(", "),
      isMet: hung.length + twice.length + untrue.length === 0,
    }))
}

/** The faults, as plain text. */
export function busFaultTables({ busFaults }: BusFaultResults): string[] {
  const head = ["", "calls", "ok", "failed", "hung", "ran twice", "untrue", "began late", "p99"]
  return FAULTS.map(({ title }) => {
    const rows = busFaults
      .filter(({ fault }) => fault === title)
      .map(({ system, report }) => [
        system,
        ...[report.calls, report.ok, report.failed, report.hung.length].map(String),
        ...[report.twice.length, report.untrue.length, report.startedLate].map(String),
        `${Math.round(report.latency.p99)} ms`,
      ])
    const load = `${PER_SECOND} calls a second that are not idempotent`
    return `${title}; ${load}\n\n${columns([head, ...rows])}`
  })
}
