import { loadNode } from "./node.ts"

const POSIX_NAMES = ["HOME", "LOGNAME", "PATH", "SHELL", "TERM", "USER"] as const

const WINDOWS_NAMES = [
  "APPDATA",
  "COMSPEC",
  "HOMEDRIVE",
  "HOMEPATH",
  "LOCALAPPDATA",
  "PATH",
  "PATHEXT",
  "PROCESSOR_ARCHITECTURE",
  "PROGRAMDATA",
  "PROGRAMFILES",
  "PROGRAMFILES(X86)",
  "PROGRAMW6432",
  "SYSTEMDRIVE",
  "SYSTEMROOT",
  "TEMP",
  "USERNAME",
  "USERPROFILE",
  "WINDIR",
] as const

/** The host's platform and environment; replaceable in tests. */
export interface EnvironmentHost {
  readonly platform: string
  readonly env: Readonly<Record<string, string | undefined>>
}

/**
 * The environment of a child process: the necessary variables, the inherited ones, and its own.
 *
 * Other variables of the host, such as tokens, are not passed on. `true` passes all of them.
 */
export async function childEnvironment(
  inherit: readonly string[] | true | undefined,
  own: Readonly<Record<string, string>>,
  host?: EnvironmentHost,
): Promise<Record<string, string>> {
  const { env, platform } = host ?? (await loadNode("childEnvironment(inherit, own)")).host
  const isWindows = platform === "win32"
  // Windows ignores case in names: a child must not get both `Path` and `PATH`.
  const keyOf = (name: string): string => (isWindows ? name.toUpperCase() : name)
  const out = new Map<string, readonly [name: string, value: string]>()
  const minimal = isWindows ? WINDOWS_NAMES : POSIX_NAMES
  const wanted = inherit === true ? undefined : new Set([...minimal, ...(inherit ?? [])].map(keyOf))

  for (const [name, value] of Object.entries(env)) {
    if (value === undefined || wanted?.has(keyOf(name)) === false) continue
    // An exported shell function, which other shells would run.
    if (value.startsWith("()")) continue
    out.set(keyOf(name), [name, value])
  }
  for (const [name, value] of Object.entries(own)) out.set(keyOf(name), [name, value])
  return Object.fromEntries(out.values())
}
