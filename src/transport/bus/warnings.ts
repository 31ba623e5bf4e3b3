import type { Logger } from "../../internal/logger.ts"
import type { Clock } from "../../internal/platform.ts"

const FIRST_GAP = 10_000
const MAX_GAP = 600_000

/** Logs a warning once, and then at increasing intervals while its cause lasts. */
export class Warnings {
  readonly #logger: Logger
  readonly #clock: Clock
  readonly #states = new Map<string, { nextAt: number; gap: number; suppressed: number }>()

  constructor(logger: Logger, clock: Clock) {
    this.#logger = logger
    this.#clock = clock
  }

  /** Warnings with the same message share an interval. */
  warn(message: string, fields: Readonly<Record<string, unknown>> = {}): void {
    const now = this.#clock.now()
    const previous = this.#states.get(message)
    if (previous !== undefined && now < previous.nextAt) {
      previous.suppressed++
      return
    }
    // After a long pause the intervals start over.
    const isNews = previous === undefined || now - previous.nextAt > previous.gap
    const gap = isNews ? FIRST_GAP : Math.min(previous.gap * 2, MAX_GAP)
    this.#states.set(message, { nextAt: now + gap, gap, suppressed: 0 })
    const suppressed = previous?.suppressed ?? 0
    this.#logger.warn(message, suppressed === 0 ? fields : { ...fields, alsoSince: suppressed })
  }
}
