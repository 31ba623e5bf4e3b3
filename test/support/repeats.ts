const isThorough = (process.env["THOROUGH"] ?? "") !== ""

/** How often a test repeats itself: in every run, and in a thorough one (`THOROUGH=1 npm test`). */
export function repeats(usual: number, thorough: number): number {
  return isThorough ? thorough : usual
}
