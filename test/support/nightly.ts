/** Whether tests with much to repeat play their long form: `npm run nightly`. */
export const isNightly: boolean = process.env["NIGHTLY"] === "1"

/** How often a property is tried: so many times, and twenty times as often in `npm run nightly`. */
export function runs(count: number): number {
  return isNightly ? 20 * count : count
}
