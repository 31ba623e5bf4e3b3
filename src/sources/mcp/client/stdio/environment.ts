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

/** As much of the host as its environment takes; another one is for tests. */
export interface EnvironmentHost {
  readonly platform: string
  readonly env: Readonly<Record<string, string | undefined>>
}

/**
 * What a child process sees: what it cannot do without, what is named, and its own.
 *
 * The rest of the host's variables stays where it is: tokens of the host are none of the
 * server's business. `true` hands over all of them.
 */
export async function childEnvironment(
  inherit: readonly string[] | true | undefined,
  own: Readonly<Record<string, string>>,
  host?: EnvironmentHost,
): Promise<Record<string, string>> {
  const { env, platform } = host ?? (await loadNode("childEnvironment(inherit, own)")).host
  const isWindows = platform === "win32"
  // Names on Windows differ by more than case only: a child must not get both `Path` and `PATH`.
  const keyOf = (name: string): string => (isWindows ? name.toUpperCase() : name)
  const out = new Map<string, readonly [name: string, value: string]>()
  const minimal = isWindows ? WINDOWS_NAMES : POSIX_NAMES
  const wanted = inherit === true ? undefined : new Set([...minimal, ...(inherit ?? [])].map(keyOf))

  for (const [name, value] of Object.entries(env)) {
    if (value === undefined || wanted?.has(keyOf(name)) === false) continue
    // A function of a shell, which other shells would run.
    if (value.startsWith("()")) continue
    out.set(keyOf(name), [name, value])
  }
  for (const [name, value] of Object.entries(own)) out.set(keyOf(name), [name, value])
  return Object.fromEntries(out.values())
}
