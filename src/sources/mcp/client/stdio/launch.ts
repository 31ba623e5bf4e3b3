import { CallError } from "../../../../core/errors.ts"
import { codeOf } from "../../../../internal/message-text.ts"
import { isWindows } from "./group.ts"
import { loadNode, type ChildLike, type NodeLike } from "./node.ts"

/** The program to start; the configuration was validated before. */
export interface LaunchParameters {
  readonly command: string
  readonly args: readonly string[]
  readonly env: Readonly<Record<string, string>>
  readonly cwd?: string | undefined
}

/**
 * Starts a program without a shell: arguments are passed unchanged.
 *
 * On POSIX it leads its own process group, so that it can be ended together with its descendants.
 */
export function launch(node: NodeLike, parameters: LaunchParameters): ChildLike {
  return node.spawn(parameters.command, parameters.args, {
    env: parameters.env,
    ...(parameters.cwd === undefined ? {} : { cwd: parameters.cwd }),
    stdio: ["pipe", "pipe", "pipe"],
    shell: false,
    detached: !isWindows(node),
    windowsHide: true,
  })
}

/** Resolves when the program runs; rejects with the system's error. */
export function launched(child: ChildLike): Promise<void> {
  return new Promise((resolve, reject) => {
    child.on("spawn", resolve)
    child.on("error", reject)
  })
}

const OUT_OF_RESOURCES: ReadonlySet<string> = new Set(["EAGAIN", "EMFILE", "ENFILE", "ENOMEM"])

/** The error for a program that did not start; says what to do. */
export async function launchFailure(
  label: string,
  node: NodeLike,
  parameters: LaunchParameters,
  cause: unknown,
): Promise<CallError> {
  const { command, cwd } = parameters
  const code = codeOf(cause)
  const about = `${label}: "${command}" could not be started`
  const fail = (why: string, retryable = false): CallError =>
    new CallError("UNAVAILABLE", `${about}${why}`, { cause, retryable, mayHaveExecuted: false })

  // The system reports a missing folder as a missing program.
  if (cwd !== undefined && !(await isFolder(node, cwd))) {
    return fail(`: "cwd" is not an accessible folder: "${cwd}". Create it, or correct it.`)
  }
  if (code === "ENOENT") {
    return fail(` (ENOENT): there is no such program. ${cureOfMissing(node, command)}`)
  }
  if (code === "EACCES" || code === "EPERM") {
    return fail(` (${code}): it may not be executed. Give it the permission, or run it by name.`)
  }
  if (code === "E2BIG") {
    return fail(` (E2BIG): "args" and "env" are too large together. Make them smaller.`)
  }
  if (code !== undefined && OUT_OF_RESOURCES.has(code)) {
    const why = ` (${code}): the system is out of resources. Close programs that you do not need.`
    return fail(why, true)
  }
  return fail(`${code === undefined ? "" : ` (${code})`}. ${cureOfMissing(node, command)}`)
}

function cureOfMissing(node: NodeLike, command: string): string {
  if (isWindows(node)) {
    return `Scripts such as npx need "command": "cmd" and "args": ["/c", "npx", ...]; programs need to be on PATH.`
  }
  if (/\s/.test(command)) {
    return `"command" is one program: put what follows it into "args".`
  }
  return `Install it, correct "command", or write its full path; it is searched on the PATH of the child.`
}

async function isFolder(node: NodeLike, path: string): Promise<boolean> {
  try {
    return (await node.stat(path)).isDirectory()
  } catch {
    return false
  }
}

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

/**
 * The environment of a child process: the necessary variables, the inherited ones, and its own.
 *
 * Other variables of the host, such as tokens, are not passed on. `true` passes all of them.
 */
export async function childEnvironment(
  inherit: readonly string[] | true | undefined,
  own: Readonly<Record<string, string>>,
  host?: Pick<NodeLike["host"], "platform" | "env">,
): Promise<Record<string, string>> {
  const { env, platform } = host ?? (await loadNode("childEnvironment(inherit, own)")).host
  const ignoresCase = platform === "win32"
  // On Windows a child must not get both `Path` and `PATH`.
  const keyOf = (name: string): string => (ignoresCase ? name.toUpperCase() : name)
  const out = new Map<string, readonly [name: string, value: string]>()
  const minimal = ignoresCase ? WINDOWS_NAMES : POSIX_NAMES
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
