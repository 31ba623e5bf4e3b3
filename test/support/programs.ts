/** The programs that system tests need. Tests install nothing: only `.ci/run` does. */
import { accessSync, constants, statSync } from "node:fs"
import { delimiter, isAbsolute, join } from "node:path"

export type Environment = Readonly<Record<string, string | undefined>>

/** A program, by any of its names. */
export interface Program {
  readonly names: readonly string[]
  /** The package of Debian that has it. */
  readonly package: string
  /** The tests that need it. */
  readonly tests: string
  /** The environment variable with its path, which replaces the search. */
  readonly variable?: string
}

export const NATS: Program = { names: ["nats-server"], package: "nats-server", tests: "NATS" }
export const REDIS: Program = {
  names: ["redis-server", "valkey-server"],
  package: "redis-server",
  tests: "Redis",
}
export const CHROMIUM: Program = {
  names: ["chromium", "chromium-browser", "google-chrome", "google-chrome-stable"],
  package: "chromium",
  tests: "browser",
  variable: "CHROMIUM_PATH",
}
export const TMUX: Program = { names: ["tmux"], package: "tmux", tests: "terminal" }
export const CURL: Program = { names: ["curl"], package: "curl", tests: "curl" }

/** The path of a program, if there is one. System programs are often not on the `PATH` of a plain user. */
export function findProgram(program: Program, env: Environment = process.env): string | undefined {
  const given = program.variable === undefined ? "" : (env[program.variable] ?? "")
  if (given !== "") return isProgram(given) ? given : undefined
  const folders = (env["PATH"] ?? "").split(delimiter).filter(isAbsolute)
  return program.names
    .flatMap((name) => [...folders, "/usr/sbin", "/usr/local/sbin"].map((dir) => join(dir, name)))
    .find(isProgram)
}

/**
 * The path of a program. Without it, the tests that need it are skipped and stderr says so. Where `CI` is set it throws:
 * a check that did not run must not look like one that passed.
 */
export function provideProgram(
  program: Program,
  env: Environment = process.env,
): string | undefined {
  const found = findProgram(program, env)
  if (found !== undefined) return found
  const reason = missing(program, env)
  if (!["", "false"].includes(env["CI"] ?? "")) throw new Error(reason)
  process.stderr.write(`SKIPPED ${program.tests} tests. ${reason}\n`)
  return undefined
}

/** Names a missing program, and how to install it. */
export function missing(program: Program, env: Environment = process.env): string {
  const { variable, names } = program
  const install = `Install it: apt-get install ${program.package}`
  const given = variable === undefined ? "" : (env[variable] ?? "")
  if (given !== "") return `${variable} "${given}" is not a program. ${install}`
  return `There is no ${names[0]} on PATH. ${install}`
}

function isProgram(path: string): boolean {
  try {
    accessSync(path, constants.X_OK)
    return statSync(path).isFile()
  } catch {
    return false
  }
}
