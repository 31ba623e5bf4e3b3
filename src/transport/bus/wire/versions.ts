/** Longer versions are not announced; workers still compare them. */
const MAX_LENGTH = 64

/** Whether a value is a version that can be announced. */
export function isVersion(value: unknown): value is string {
  return typeof value === "string" && value !== "" && value.length <= MAX_LENGTH
}

/** Compares numerically; a pre-release such as `2.0.0-beta` comes before its release. */
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
 * Whether a served version can replace the imported one: the same version, or a later one that is compatible by semantic
 * versioning, so that its first non-zero number is the same.
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
