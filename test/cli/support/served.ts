import { spawn } from "node:child_process"
import type { ChildProcess } from "node:child_process"
import { once } from "node:events"
import { existsSync, readdirSync, readFileSync } from "node:fs"
import { resolve } from "node:path"
import { setTimeout as sleep } from "node:timers/promises"
import { program } from "../../sources/mcp/support/program.ts"
import { root } from "../../support/manifest.ts"
import { PROCESS_PATIENCE } from "../../support/patience.ts"

/** A program that serves, in a process of its own. */
export interface Served extends AsyncDisposable {
  readonly url: string
  readonly child: ChildProcess
  stdout(): string
  stderr(): string
  /** When it has written a text; rejects when it ends before. */
  said(text: string): Promise<void>
  /** Tells it to stop and gives its exit code. */
  stop(signal?: NodeJS.Signals): Promise<number | null>
}

export interface ServedOptions {
  readonly cwd?: string | undefined
  readonly env?: Readonly<Record<string, string>> | undefined
  /** Run the sources with tsx, as `npm start` does; that takes seconds longer to start. */
  readonly fromSources?: boolean | undefined
}

/** Starts `operations serve …` and waits for its address. */
export async function startServe(
  argv: readonly string[],
  { cwd = root, env, fromSources = false }: ServedOptions = {},
): Promise<Served> {
  const { NO_COLOR: _, OPERATIONS_HUB: __, OPERATIONS_TOKEN: ___, ...rest } = process.env
  const bin = resolve(root, "src/cli/bin.ts")
  const script = fromSources ? ["--import", import.meta.resolve("tsx"), bin] : [program(bin)]
  const child = spawn(process.execPath, [...script, "serve", ...argv], {
    cwd,
    env: { ...rest, ...env },
  })
  const served = new ServedChild(child)
  try {
    await served.said("Ctrl-C stops it.")
  } catch (error) {
    await served[Symbol.asyncDispose]()
    throw error
  }
  return served
}

class ServedChild implements Served {
  readonly child: ChildProcess
  #stdout = ""
  #stderr = ""

  constructor(child: ChildProcess) {
    this.child = child
    child.stdin?.end()
    child.stdout?.setEncoding("utf8").on("data", (text: string) => (this.#stdout += text))
    child.stderr?.setEncoding("utf8").on("data", (text: string) => (this.#stderr += text))
  }

  get url(): string {
    return / is at (http:\S+)/.exec(this.#stdout)?.[1] ?? ""
  }

  stdout(): string {
    return this.#stdout
  }

  stderr(): string {
    return this.#stderr
  }

  async said(text: string): Promise<void> {
    await eventually(`"${text}" in ${this.#stdout}${this.#stderr}`, () => {
      if (`${this.#stdout}${this.#stderr}`.includes(text)) return true
      if (this.#isOver()) throw new Error(`It ended: ${this.#stdout}${this.#stderr}`)
      return false
    })
  }

  async stop(signal: NodeJS.Signals = "SIGTERM"): Promise<number | null> {
    if (this.#isOver()) return this.child.exitCode
    this.child.kill(signal)
    const [code] = (await once(this.child, "exit")) as [number | null]
    return code
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.stop("SIGTERM")
  }

  #isOver(): boolean {
    return this.child.exitCode !== null || this.child.signalCode !== null
  }
}

/** When something is so; what never comes is found after a while. */
export async function eventually(
  what: string,
  isSo: () => boolean | Promise<boolean>,
): Promise<void> {
  const end = Date.now() + PROCESS_PATIENCE
  while (!(await isSo())) {
    if (Date.now() > end) throw new Error(`It never came to that: ${what}`)
    await sleep(25)
  }
}

/** All processes below one, where the system shows them. */
export function descendantsOf(pid: number): number[] {
  if (!existsSync("/proc/self/stat")) return []
  const parents = new Map<number, number>()
  for (const name of readdirSync("/proc").filter((one) => /^\d+$/.test(one))) {
    const parent = parentOf(Number(name))
    if (parent !== undefined) parents.set(Number(name), parent)
  }
  const found = [pid]
  for (const one of found) {
    for (const [child, parent] of parents) if (parent === one) found.push(child)
  }
  return found.slice(1)
}

export function isAlive(pid: number): boolean {
  return parentOf(pid) !== undefined
}

/** The parent of a process that runs; one that has ended and waits to be seen off does not. */
function parentOf(pid: number): number | undefined {
  try {
    const [state, parent] = readFileSync(`/proc/${pid}/stat`, "utf8")
      .replace(/^.*\) /s, "")
      .split(" ")
    return state === "Z" ? undefined : Number(parent)
  } catch {
    return undefined
  }
}
