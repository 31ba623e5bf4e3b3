// Time begins with the date at which the page was loaded.
const ORIGIN = Date.now() - performance.now()

/** Milliseconds since 1970 that only ever grow, although the date may be set: for durations. */
export function steadyNow(): number {
  return ORIGIN + performance.now()
}
