/** The date as it is, also where a scenario sets the date of its process. */
export const now: () => number = Date.now
