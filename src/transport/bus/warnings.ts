import type { Logger } from "../../internal/logger.ts"
import type { Clock } from "../../internal/platform.ts"

const FIRST_GAP = 10_000
const LONGEST_GAP = 600_000

interface Case {
  nextAt: number
  gap: number
  unsaid: number
}

/** Warnings that are said once, and then ever more seldom while their cause lasts. */
export class Warnings {
  readonly #logger: Logger
  readonly #clock: Clock
  readonly #cases = new Map<string, Case>()

  constructor(logger: Logger, clock: Clock) {
    this.#logger = logger
    this.#clock = clock
  }

  /** The message is what tells one case from another. */
  warn(message: string, fields: Readonly<Record<string, unknown>>): void {
    const now = this.#clock.now()
    const known = this.#cases.get(message)
    if (known !== undefined && now < known.nextAt) {
      known.unsaid++
      return
    }
    // After a long silence it is news again.
    const isNews = known === undefined || now - known.nextAt > known.gap
    const gap = isNews ? FIRST_GAP : Math.min(known.gap * 2, LONGEST_GAP)
    this.#cases.set(message, { nextAt: now + gap, gap, unsaid: 0 })
    const unsaid = known?.unsaid ?? 0
    this.#logger.warn(message, unsaid === 0 ? fields : { ...fields, alsoSince: unsaid })
  }
}
