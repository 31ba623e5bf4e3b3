// For tests: a clock and links within one process, and loggers.

export { createManualClock } from "./internal/manual-clock.ts"
export type { ManualClock } from "./internal/manual-clock.ts"
export { consoleLogger, silentLogger } from "./internal/logger.ts"
export { createMemoryTransports } from "./transport/memory.ts"
