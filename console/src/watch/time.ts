/** A time of the day to the millisecond, in the time zone of the browser. */
export function clockText(at: number): string {
  const time = new Date(at)
  const two = (value: number): string => String(value).padStart(2, "0")
  const clock = `${two(time.getHours())}:${two(time.getMinutes())}:${two(time.getSeconds())}`
  return `${clock}.${String(time.getMilliseconds()).padStart(3, "0")}`
}
