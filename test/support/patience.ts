/** How long tests wait for something that has to come, in milliseconds: longer than any machine needs. */
export const PATIENCE = 30_000

/** The same for a process that has to start: a busy machine takes a minute for one that loads a lot. */
export const PROCESS_PATIENCE = 100_000

/** What takes this long hangs, or costs far more than it should: the busiest machine is faster. */
export const TOO_LONG = 100_000
