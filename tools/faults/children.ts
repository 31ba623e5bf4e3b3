import { execFileSync, spawn } from "node:child_process"
import type { ChildProcess } from "node:child_process"
import { once } from "node:events"
import { existsSync, readFileSync } from "node:fs"
import { join } from "node:path"
import { Listeners } from "../../src/internal/listeners.ts"
import { program } from "../../test/sources/mcp/support/program.ts"

/** How a process ended. */
export interface Exit {
  readonly code: number | null
  readonly signal: NodeJS.Signals | null
}

interface Message {
  readonly type: string
  readonly [field: string]: unknown
}

/** The number of characters of a child's stderr that are kept. */
const MAX_TEXT = 4000
const MESSAGE_TIMEOUT_MS = 20_000

const running = new Set<ChildProcess>()
// This also ends frozen processes, so that nothing is left behind, whatever ends the lab.
process.once("exit", () => {
  for (const child of running) child.kill("SIGKILL")
})

/** The programs that the lab runs as separate processes. */
type Program = "worker.ts" | "caller-process.ts" | "hub-process.ts"

/** A process of the lab: one of its programs, connected by messages. */
export class Child implements AsyncDisposable {
  readonly name: string
  readonly exit: Promise<Exit>
  readonly #process: ChildProcess
  readonly #listeners = new Listeners<Message>()
  readonly #received: Message[] = []
  #stderr = ""

  constructor(file: Program, name: string, settings: unknown) {
    this.name = name
    const args = [program(join(import.meta.dirname, file)), JSON.stringify(settings)]
    const child = spawn(process.execPath, args, { stdio: ["ignore", "ignore", "pipe", "ipc"] })
    this.#process = child
    running.add(child)
    this.exit = once(child, "exit").then(([code, signal]: unknown[]) => {
      running.delete(child)
      return { code: code as number | null, signal: signal as NodeJS.Signals | null }
    })
    child.stderr?.on("data", (bytes) => {
      this.#stderr = `${this.#stderr}${bytes}`.slice(-MAX_TEXT)
    })
    child.on("message", (message: Message) => {
      this.#received.push(message)
      this.#listeners.notify(message)
    })
  }

  get pid(): number {
    const { pid } = this.#process
    if (pid === undefined) throw new Error(`The process ${this.name} of the lab did not start.`)
    return pid
  }

  get isAlive(): boolean {
    return running.has(this.#process)
  }

  send(message: Message): void {
    if (this.#process.connected) this.#process.send(message, () => undefined)
  }

  /** The first message of a type, received or still to come. Rejects if the process ends, or after a timeout. */
  async message(type: string, within = MESSAGE_TIMEOUT_MS): Promise<Message> {
    const received = this.#received.find((message) => message.type === type)
    return received ?? (await this.#next(type, within))
  }

  /** Sends a message, and resolves with the next message of type `answer`. */
  async ask(message: Message, answer: string, within = MESSAGE_TIMEOUT_MS): Promise<Message> {
    const next = this.#next(answer, within)
    this.send(message)
    return await next
  }

  kill(signal: NodeJS.Signals): void {
    if (this.isAlive) process.kill(this.pid, signal)
  }

  freeze(): void {
    this.kill("SIGSTOP")
  }

  thaw(): void {
    this.kill("SIGCONT")
  }

  /** Its memory in bytes. */
  memory(): number {
    return memoryOf(this.pid)
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.kill("SIGKILL")
    await this.exit
  }

  async #next(type: string, within: number): Promise<Message> {
    return await new Promise((resolve, reject) => {
      const end = (): void => {
        clearTimeout(timer)
        remove()
      }
      const listen = (message: Message): void => {
        if (message.type !== type) return
        end()
        resolve(message)
      }
      const fail = (why: string): void => {
        end()
        reject(new Error(`The process ${this.name} of the lab ${why}:\n${this.#stderr}`))
      }
      const timer = setTimeout(() => fail(`did not send "${type}" in ${within} ms`), within)
      const remove = this.#listeners.add(listen)
      void this.exit.then(({ code, signal }) => fail(`ended with ${signal ?? code}`))
    })
  }
}

/** The memory of a process in bytes; 0 if it is gone. */
export function memoryOf(pid: number): number {
  try {
    return existsSync("/proc/self/status") ? memoryInProc(pid) : memoryByPs(pid)
  } catch {
    return 0
  }
}

function memoryInProc(pid: number): number {
  const status = readFileSync(`/proc/${pid}/status`, "utf8")
  return Number(/^VmRSS:\s+(\d+) kB/m.exec(status)?.[1] ?? 0) * 1024
}

function memoryByPs(pid: number): number {
  return Number(execFileSync("ps", ["-o", "rss=", "-p", String(pid)], { encoding: "utf8" })) * 1024
}
