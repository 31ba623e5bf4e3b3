import { spawn } from "node:child_process"
import type { ChildProcess } from "node:child_process"
import { once } from "node:events"
import { resolve } from "node:path"
import { createInterface } from "node:readline"
import type { Readable } from "node:stream"
import { program } from "../../sources/mcp/support/program.ts"
import { root } from "../../support/manifest.ts"
import { withoutSlowSources } from "./run.ts"

const bin = resolve(root, "src/cli/bin.ts")

/** What a process did. */
export interface ChildRan {
  readonly code: number | null
  readonly signal: NodeJS.Signals | null
  readonly stdout: string
  readonly stderr: string
}

export interface ChildOptions {
  readonly cwd?: string | undefined
  readonly env?: Readonly<Record<string, string>> | undefined
  readonly input?: string | undefined
  /** Told of the process as soon as it runs. */
  readonly onStart?: ((child: ChildProcess) => void) | undefined
}

/** Runs the program, as a process with pipes. */
export async function operations(
  argv: readonly string[],
  options: ChildOptions = {},
): Promise<ChildRan> {
  return await ended(start([bin, ...argv], options), options)
}

/** Runs a line of bash in which `operations` and `npx @alkdev/operations` are the program. */
export async function shell(line: string, options: ChildOptions = {}): Promise<ChildRan> {
  const words = [process.execPath, program(bin)].map((word) => `'${word}'`).join(" ")
  const script = `set -o pipefail
operations() { ${words} "$@"; }
npx() { [ "$1" = @alkdev/operations ] && shift && operations "$@"; }
${line}`
  return await ended(spawn("bash", ["-c", script], settings(options)), options)
}

/** A hub in a process of its own. */
export interface HubChild extends AsyncDisposable {
  readonly url: string
  readonly child: ChildProcess
}

/** Starts one; with a key, only who has it may call. */
export async function startHub(key?: string): Promise<HubChild> {
  const script = resolve(import.meta.dirname, "hub-child.ts")
  const child = start([script, ...(key === undefined ? [] : [key])], {})
  const failed = once(child, "exit").then(() => {
    throw new Error("The hub of the test ended before it was there.")
  })
  const lines = createInterface({ input: child.stdout as Readable })
  const [url] = (await Promise.race([once(lines, "line"), failed])) as [string]
  // It ends one day, and then nobody waits for it to begin.
  failed.catch(() => undefined)
  return {
    url,
    child,
    async [Symbol.asyncDispose]() {
      if (child.exitCode !== null || child.signalCode !== null) return
      child.kill("SIGKILL")
      await once(child, "exit")
    },
  }
}

function start([script = "", ...args]: readonly string[], options: ChildOptions): ChildProcess {
  return spawn(process.execPath, [program(script), ...args], settings(options))
}

function settings({ cwd = root, env }: ChildOptions): {
  cwd: string
  env: Record<string, string | undefined>
} {
  const { NO_COLOR: _, OPERATIONS_HUB: __, OPERATIONS_TOKEN: ___, ...rest } = process.env
  return { cwd, env: { ...rest, ...env } }
}

async function ended(child: ChildProcess, options: ChildOptions): Promise<ChildRan> {
  let stdout = ""
  let stderr = ""
  child.stdout?.setEncoding("utf8").on("data", (text: string) => (stdout += text))
  child.stderr?.setEncoding("utf8").on("data", (text: string) => (stderr += text))
  child.stdin?.on("error", () => undefined).end(options.input ?? "")
  options.onStart?.(child)
  const [code, signal] = (await once(child, "close")) as [number | null, NodeJS.Signals | null]
  return { code, signal, stdout, stderr: withoutSlowSources(stderr) }
}
