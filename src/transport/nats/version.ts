/** Releases that fix the advisories of 2026; every later line contains the fixes. */
const FIXED: readonly (readonly [minor: number, patch: number])[] = [
  [11, 16],
  [12, 7],
]
const SINCE = 14

/** Why a server should be replaced, from its version, without the final period; `undefined` when it need not be. */
export function versionWarning(version: string): string | undefined {
  const parts = /^v?(\d+)\.(\d+)\.(\d+)/.exec(version)
  if (parts === null) return undefined
  const [major = 0, minor = 0, patch = 0] = parts.slice(1).map(Number)
  if (major > 2 || (major === 2 && minor >= SINCE)) return undefined
  const fixed = FIXED.find(([line]) => major === 2 && minor === line)
  if (fixed !== undefined && patch >= fixed[1]) return undefined
  return (
    `The NATS server is version ${version}, whose permissions can be bypassed in known ways. ` +
    `Install 2.11.16, 2.12.7, 2.14.0 or a later release of these lines`
  )
}
