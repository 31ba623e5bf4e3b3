/** The real date, even if a scenario sets the date of its process. */
export const now: () => number = Date.now
