import type { AuditReport } from "./audit.ts"
import type { Engine } from "./engines.ts"
import type { Lab } from "./lab.ts"

/** The size of the load: the full matrix, a quick look, or a test on every change. */
export type Size = "full" | "quick" | "short"

/** One row of the fault matrix. */
export interface Scenario {
  readonly id: string
  readonly title: string
  /** Runs it. Everything that it starts ends with the lab. */
  run(lab: Lab): Promise<void>
}

/** A check of one scenario, in addition to those of all scenarios. */
export interface Check {
  readonly what: string
  readonly saw: string
  readonly holds: boolean
  /** It depends on time, so that it may fail on a busy machine. */
  readonly isTimed: boolean
}

/** The result of a scenario. */
export interface Verdict {
  readonly id: string
  readonly title: string
  readonly engine: Engine
  readonly seed: number
  readonly report: AuditReport
  readonly checks: readonly Check[]
  /** Measured values for the report. */
  readonly facts: Readonly<Record<string, string | number>>
  /** An error of the lab itself. */
  readonly fault: string | undefined
  readonly passed: boolean
  readonly seconds: number
}
