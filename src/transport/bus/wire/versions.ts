/** Longer ones are not announced; workers compare them all the same. */
const LONGEST = 64

/** A version as it may be announced. */
export function isVersion(value: unknown): value is string {
  return typeof value === "string" && value !== "" && value.length <= LONGEST
}

/** Numbers as numbers; what has an addition, such as `2.0.0-beta`, comes before what has none. */
export function compareVersions(left: unknown, right: unknown): number {
  const [leftCore, leftExtra] = partsOf(left)
  const [rightCore, rightExtra] = partsOf(right)
  for (let at = 0; at < Math.max(leftCore.length, rightCore.length); at++) {
    const order = compareParts(leftCore[at] ?? "0", rightCore[at] ?? "0")
    if (order !== 0) return order
  }
  if (leftExtra === rightExtra) return 0
  if (leftExtra === undefined || rightExtra === undefined) return leftExtra === undefined ? 1 : -1
  return leftExtra < rightExtra ? -1 : 1
}

/**
 * Whether a served version can stand in for the one that was imported: the same one, or a later one that is compatible
 * by semantic versioning, which has the same first number that is not 0.
 */
export function isCompatible(served: string, imported: string): boolean {
  if (served === imported) return true
  const [major, minor] = numbersOf(served)
  const [importedMajor, importedMinor] = numbersOf(imported)
  if (major === undefined || major !== importedMajor) return false
  if (major === 0 && minor !== importedMinor) return false
  return compareVersions(served, imported) > 0
}

function numbersOf(version: string): readonly (number | undefined)[] {
  const [, major, minor] = /^(\d+)\.(\d+)\.\d+(?:[-+]|$)/.exec(version) ?? []
  return major === undefined ? [] : [Number(major), Number(minor)]
}

function partsOf(version: unknown): readonly [readonly string[], string | undefined] {
  const [core = "", ...extra] = String(version).split("-")
  return [core.split("."), extra.length === 0 ? undefined : extra.join("-")]
}

function compareParts(left: string, right: string): number {
  const [one, other] = [Number(left), Number(right)]
  if (!Number.isNaN(one) && !Number.isNaN(other)) return Math.sign(one - other)
  if (left === right) return 0
  return left < right ? -1 : 1
}
