/** A moment as an input of the browser shows it: local, without an offset. `undefined` if it is invalid. */
export function toLocal(value: string): string | undefined {
  const moment = new Date(value)
  if (value === "" || Number.isNaN(moment.getTime())) return undefined
  const shifted = new Date(moment.getTime() - moment.getTimezoneOffset() * 60_000)
  return shifted.toISOString().slice(0, 19)
}

/** What the browser's input holds, as a moment with its offset. */
export function toMoment(local: string): string | undefined {
  const moment = new Date(local)
  if (local === "" || Number.isNaN(moment.getTime())) return undefined
  return moment.toISOString().replace(/\.000Z$/, "Z")
}
