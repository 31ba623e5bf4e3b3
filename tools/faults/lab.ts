import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { monitorEventLoopDelay } from "node:perf_hooks"
import { setTimeout as sleep } from "node:timers/promises"
import type { SourceStatus } from "../../src/hub/model.ts"
import type { GuardOptions } from "../../src/transport/bus/options.ts"
import type { BusStats, CallingStats } from "../../src/transport/bus/stats.ts"
import type { Transport } from "../../src/protocol/transport.ts"
import type { Broker } from "../../test/support/brokers.ts"
import { startNatsCluster, startRedisSentinel } from "../../test/support/clusters.ts"
import { audit } from "./audit.ts"
import type { AuditReport } from "./audit.ts"
import { startBroker } from "./brokers.ts"
import { HANGS_AFTER, LabCaller } from "./caller.ts"
import type { CallersOrder, CallersSettings } from "./caller-process.ts"
import { Child, memoryOf } from "./children.ts"
import { createTransport, urlOf } from "./engines.ts"
import type { BusAddress, Engine } from "./engines.ts"
import type { HubSettings } from "./hub-process.ts"
import { readJournal } from "./journal.ts"
import type { Journal } from "./journal.ts"
import { now } from "./now.ts"
import { FaultProxy } from "./proxy.ts"
import type { Check, Size } from "./scenario.ts"
import type { CallerRecords } from "./records.ts"
import type { WorkerSettings } from "./worker.ts"

/** Options of a lab. */
export interface LabOptions {
  readonly engine: Engine
  readonly size: Size
  readonly seed: number
}

type WorkerOptions = Partial<
  Pick<WorkerSettings, "limits" | "grace" | "skew" | "sabotage" | "version" | "api" | "keys">
> & {
  /** The proxy to connect through, instead of directly to the broker. */
  readonly proxy?: FaultProxy | undefined
}

/** The report of a caller process. */
export interface CallersReport {
  readonly records: CallerRecords
  /** The times at which one of them connected. */
  readonly connections: readonly number[]
  readonly stats: readonly CallingStats[]
}

/** A hub in a separate process, and where it is. */
export interface LabHub {
  readonly child: Child
  readonly url: string
  readonly wsUrl: string
  readonly mcpUrl: string
}

const open = new Set<Lab>()

/** Closes all labs, with everything that runs in them. */
export async function closeLabs(): Promise<void> {
  await Promise.all([...open].map((lab) => lab[Symbol.asyncDispose]()))
}

/** A broker, workers and callers for one scenario, and the results of its checks. */
export class Lab implements AsyncDisposable {
  readonly engine: Engine
  readonly size: Size
  readonly checks: Check[] = []
  readonly facts: Record<string, string | number> = {}
  /** The guard options of all processes; set them before any is started. */
  guard: GuardOptions | undefined
  /** Listeners throw; set it before any process is started. */
  hasBadListeners = false
  /** For files of a scenario. */
  readonly folder = mkdtempSync(join(tmpdir(), "operations-faults-"))
  readonly #ended: AsyncDisposable[] = []
  readonly #callers: LabCaller<Transport>[] = []
  readonly #reports: CallersReport[] = []
  readonly #loop = monitorEventLoopDelay({ resolution: 10 })
  #random: number
  #workers = 0
  #broker: Broker | undefined
  #password: string | undefined
  #others: readonly number[] | undefined

  constructor({ engine, size, seed }: LabOptions) {
    this.engine = engine
    this.size = size
    this.#random = seed >>> 0
    this.#loop.enable()
    open.add(this)
  }

  get broker(): Broker {
    if (this.#broker === undefined) throw new Error("The lab has no broker yet: startBroker().")
    return this.#broker
  }

  /** Picks a value by the size of the run. */
  pick<TValue>(full: TValue, quick: TValue, short: TValue = quick): TValue {
    return { full, quick, short }[this.size]
  }

  /** A number from 0 to 1, the same ones for the same seed. */
  readonly random = (): number => {
    this.#random = (this.#random + 0x6d2b79f5) >>> 0
    let mixed = Math.imul(this.#random ^ (this.#random >>> 15), this.#random | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 0x1_0000_0000
  }

  /** The memory of the broker in bytes. */
  brokerMemory(): number {
    return memoryOf(this.broker.pid)
  }

  /** Starts the broker, with a password that all processes use. */
  async startBroker(password?: string): Promise<Broker> {
    this.#password = password
    this.#broker = this.own(await startBroker(this.engine, { password }))
    return this.#broker
  }

  /** Starts three NATS servers, or two of Redis with a sentinel; returns those that may be lost one after the other. */
  async startCluster(): Promise<readonly Broker[]> {
    if (this.engine === "nats") {
      const servers = (await startNatsCluster()).map((server) => this.own(server))
      this.#broker = servers[0]
      this.#others = servers.slice(1).map(({ port }) => port)
      return servers.slice(0, 2)
    }
    const { main, other, sentinel } = await startRedisSentinel()
    for (const server of [main, other, sentinel]) this.own(server)
    this.#broker = main
    this.#others = [sentinel.port]
    return [main]
  }

  /** Replaces the broker for a while by one with another password. */
  async refuseFor(milliseconds: number): Promise<void> {
    await this.broker.kill()
    const other = this.own(
      await startBroker(this.engine, { password: "another", port: this.broker.port }),
    )
    await sleep(milliseconds)
    await other.kill()
    await this.broker.restart()
  }

  /** A proxy to the broker that can inject faults. */
  async proxy(): Promise<FaultProxy> {
    return this.own(await FaultProxy.start(this.broker.port, this.random))
  }

  /** Starts a worker; resolves when its process runs, which may be long before it is connected. */
  async launchWorker(options: WorkerOptions = {}): Promise<Child> {
    const { grace = 10_000, proxy, ...rest } = options
    const name = `w${++this.#workers}`
    const settings: WorkerSettings = {
      name,
      bus: this.#address(proxy),
      folder: this.folder,
      grace,
      ...rest,
    }
    const worker = this.own(new Child("worker.ts", name, settings))
    await worker.message("started")
    return worker
  }

  /** Starts workers; resolves when all of them are connected. */
  async workers(count: number, options: WorkerOptions = {}): Promise<Child[]> {
    const workers = await Promise.all(
      Array.from({ length: count }, () => this.launchWorker(options)),
    )
    await Promise.all(workers.map((worker) => worker.message("ready")))
    return workers
  }

  /** The statistics of a worker. */
  async statsOf(worker: Child): Promise<BusStats> {
    return (await worker.ask({ type: "stats" }, "stats"))["stats"] as BusStats
  }

  /** A caller in this process. */
  caller(proxy?: FaultProxy): LabCaller {
    return this.callerOver(createTransport(this.#address(proxy)))
  }

  /** A caller with its own transport, and its own prefix of operation ids. */
  callerOver<TTransport extends Transport>(
    transport: TTransport,
    prefix?: string,
  ): LabCaller<TTransport> {
    const caller = new LabCaller(`c${this.#callers.length + 1}`, transport, prefix)
    this.#callers.push(caller)
    return this.own(caller)
  }

  /** Starts a hub whose source "far" is the broker, with further sources. */
  async hub({ sources, port = 0, apiKeys }: Partial<HubSettings> = {}): Promise<LabHub> {
    const name = `hub${this.#ended.length}`
    const settings: HubSettings = {
      sources: { far: { remote: urlOf(this.#address()) }, ...sources },
      port,
      apiKeys,
    }
    const child = this.own(new Child("hub-process.ts", name, settings))
    const { url, wsUrl, mcpUrl } = await child.message("ready")
    return { child, url: String(url), wsUrl: String(wsUrl), mcpUrl: String(mcpUrl) }
  }

  /** The state of a source of a hub. */
  async stateOf({ child }: LabHub, source: string): Promise<string> {
    const { sources } = await child.ask({ type: "sources" }, "sources")
    const found = (sources as readonly SourceStatus[]).find(({ name }) => name === source)
    return found?.state ?? "missing"
  }

  /** Starts callers in a separate process. */
  async callers(count = 1): Promise<CallerGroup> {
    const name = `g${this.#ended.length}`
    const settings: CallersSettings = { name, bus: this.#address(), callers: count }
    const child = this.own(new Child("caller-process.ts", name, settings))
    await child.message("ready")
    return new CallerGroup(child, (report) => this.#reports.push(report))
  }

  /**
   * Makes calls until each of these workers has answered one, so that all are discovered. Returns the names of those that
   * did not.
   */
  async warm(caller: LabCaller<Transport>, workers: readonly Child[]): Promise<readonly string[]> {
    const missing = new Set(workers.map(({ name }) => name))
    for (const until = now() + HANGS_AFTER; missing.size > 0 && now() < until;) {
      const records = await Promise.all(
        Array.from({ length: 4 * workers.length }, () => caller.call({ operation: "work", ms: 5 })),
      )
      for (const { worker = "" } of records) missing.delete(worker)
    }
    return [...missing]
  }

  journal(): Journal {
    return readJournal(this.folder)
  }

  /** The records of all callers so far. */
  records(): CallerRecords {
    const all = [
      ...this.#callers.map(({ records }) => records),
      ...this.#reports.map(({ records }) => records),
    ]
    return {
      calls: all.flatMap(({ calls }) => calls),
      streams: all.flatMap(({ streams }) => streams),
    }
  }

  audit(): AuditReport {
    return audit(this.journal(), this.records())
  }

  /** Adds a check. */
  check(what: string, holds: boolean, saw: string | number): void {
    this.checks.push({ what, holds, saw: String(saw), isTimed: false })
  }

  /** Adds a check for a time limit, extended by the time that this process itself stood still. */
  checkTime(what: string, limit: number, milliseconds: number): void {
    const stood = this.#loop.max / 1e6
    const holds = milliseconds <= limit + stood
    const saw = `${Math.round(milliseconds)} ms (at most ${limit}, plus ${Math.round(stood)} in which the lab stalled)`
    this.checks.push({ what, holds, saw, isTimed: true })
  }

  /** Adds a check that may fail on a busy machine. */
  checkBusy(what: string, holds: boolean, saw: string | number): void {
    this.checks.push({ what, holds, saw: String(saw), isTimed: true })
  }

  /** Polls until a condition holds; returns whether it did. */
  async until(holds: () => boolean | Promise<boolean>, within: number): Promise<boolean> {
    for (const end = now() + within; now() < end; await sleep(20)) {
      if (await holds()) return true
    }
    return await holds()
  }

  /** Registers something that is disposed with the lab. */
  own<TOwned extends AsyncDisposable>(one: TOwned): TOwned {
    this.#ended.push(one)
    return one
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#loop.disable()
    // Callers before workers before the broker, so that none of them sees a failure.
    for (const one of this.#ended.splice(0).toReversed()) await one[Symbol.asyncDispose]()
    rmSync(this.folder, { recursive: true, force: true })
    open.delete(this)
  }

  #address(proxy?: FaultProxy): BusAddress {
    const { port } = proxy ?? this.broker
    return {
      engine: this.engine,
      port,
      password: this.#password,
      others: this.#others,
      hasBadListeners: this.hasBadListeners,
      guard: this.guard,
    }
  }
}

/** A process of callers, as the lab sees it. */
export class CallerGroup {
  readonly child: Child
  readonly #keep: (report: CallersReport) => void

  constructor(child: Child, keep: (report: CallersReport) => void) {
    this.child = child
    this.#keep = keep
  }

  /** Sends a command to all callers; resolves when it is done, with the report of everything they ever did. */
  async run(order: CallersOrder, within: number): Promise<CallersReport> {
    await this.child.ask(order, "settled", within).catch(() => undefined)
    return await this.report()
  }

  /** Their report. The audit gets it once, at the end. */
  async report(): Promise<CallersReport> {
    return (await this.child.ask({ type: "report" }, "report")) as unknown as CallersReport
  }

  /** Ends them, and hands their records to the audit. */
  async finish(): Promise<CallersReport> {
    const report = await this.report()
    this.#keep(report)
    await this.child[Symbol.asyncDispose]()
    return report
  }
}
