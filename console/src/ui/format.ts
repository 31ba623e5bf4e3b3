export { formatBytes, formatDuration } from "../../../src/internal/format.ts"

/** A whole number with its thousands apart, and what it counts: `1,204 operations`. */
export function formatCount(count: number, one: string, many = `${one}s`): string {
  return `${count.toLocaleString("en")} ${count === 1 ? one : many}`
}

const CLOCK = new Intl.DateTimeFormat("en-GB", {
  hour: "2-digit",
  minute: "2-digit",
  second: "2-digit",
  fractionalSecondDigits: 3,
})

/** A time of the day to the millisecond, in the time zone of the browser. */
export function clockText(at: number): string {
  return CLOCK.format(at)
}
