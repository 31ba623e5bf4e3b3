import type { AuditReport } from "./audit.ts"
import type { Engine } from "./engines.ts"
import type { Lab } from "./lab.ts"

/** How large the load is: as the matrix says, for a look, or for every change. */
export type Size = "full" | "quick" | "short"

/** One row of the fault matrix. */
export interface Scenario {
  readonly id: string
  readonly title: string
  /** Runs it. All that is begun in the lab ends with the lab. */
  run(lab: Lab): Promise<void>
}

/** Something that has to hold beside what holds for all scenarios. */
export interface Check {
  readonly what: string
  readonly saw: string
  readonly holds: boolean
  /** It is a matter of time, so that a busy machine can break it. */
  readonly isTimed: boolean
}

/** What became of a scenario. */
export interface Verdict {
  readonly id: string
  readonly title: string
  readonly engine: Engine
  readonly seed: number
  readonly report: AuditReport
  readonly checks: readonly Check[]
  /** Figures worth a look. */
  readonly facts: Readonly<Record<string, string | number>>
  /** What went wrong with the lab itself. */
  readonly fault: string | undefined
  readonly passed: boolean
  readonly seconds: number
}
