/** Real brokers for tests: `nats-server` and `redis-server`, each a process of its own on loopback. */
import { spawn } from "node:child_process"
import type { ChildProcess } from "node:child_process"
import { once } from "node:events"
import { closeSync, openSync, rmSync } from "node:fs"
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises"
import { connect } from "node:net"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { setTimeout as sleep } from "node:timers/promises"
import { freePort } from "./free-port.ts"
import { PATIENCE } from "./patience.ts"
import * as programs from "./programs.ts"
import { findProgram, missing, provideProgram } from "./programs.ts"
import type { Program } from "./programs.ts"

/** A broker that runs. Whoever starts one ends it; what is forgotten ends with this process. */
export interface Broker extends AsyncDisposable {
  readonly url: string
  readonly port: number
  /** The process that runs now; another one after `restart`. */
  readonly pid: number
  /** Ends it in order. */
  stop(): Promise<void>
  /** Ends it at once, as a crash would. */
  kill(): Promise<void>
  /** Stops the process where it is: its sockets stay open, and nothing answers. */
  freeze(): void
  thaw(): void
  /** Starts it on the same port; what still runs there is killed before. */
  restart(): Promise<void>
  /** All that it wrote. */
  log(): Promise<string>
}

export interface BrokerOptions {
  /** A free one when left out. */
  readonly port?: number | undefined
  /** Text that is added to its configuration file. */
  readonly config?: string | undefined
  readonly args?: readonly string[] | undefined
}

/** Whether there is a `nats-server`. */
export async function provideNats(): Promise<boolean> {
  return provideProgram(NATS.program) !== undefined
}

/** Whether there is a `redis-server`, or a `valkey-server`. */
export async function provideRedis(): Promise<boolean> {
  return provideProgram(REDIS.program) !== undefined
}

/** How each broker that there is starts, by the name of its transport. */
export async function provideBrokers(): Promise<Readonly<Record<string, () => Promise<Broker>>>> {
  const [hasNats, hasRedis] = await Promise.all([provideNats(), provideRedis()])
  return { ...(hasNats && { NATS: startNats }), ...(hasRedis && { Redis: startRedis }) }
}

/** Starts a NATS server; resolves once it takes connections. */
export async function startNats(options: BrokerOptions = {}): Promise<Broker> {
  return await start(NATS, options)
}

/** Starts a Redis server that writes nothing to disk; resolves once it answers. */
export async function startRedis(options: BrokerOptions = {}): Promise<Broker> {
  return await start(REDIS, options)
}

interface Kind {
  readonly scheme: string
  readonly program: Program
  config(port: number, folder: string): string
  args(file: string): readonly string[]
  /** What to say to it, so that what it answers begins with one of `hello`. */
  readonly greeting: string
  readonly hello: RegExp
}

const NATS: Kind = {
  scheme: "nats",
  program: programs.NATS,
  config: (port) => `host: "127.0.0.1"\nport: ${port}\n`,
  args: (file) => ["-c", file],
  greeting: "",
  hello: /^INFO /,
}

const REDIS: Kind = {
  scheme: "redis",
  program: programs.REDIS,
  config: (port, folder) =>
    `bind 127.0.0.1\nport ${port}\nsave ""\nappendonly no\ndaemonize no\ndir ${folder}\n`,
  args: (file) => [file],
  greeting: "PING\r\n",
  // One that asks for a password is there, too.
  hello: /^(\+PONG|-NOAUTH|-NOPERM)/,
}

async function start(kind: Kind, options: BrokerOptions): Promise<Broker> {
  const program = findProgram(kind.program)
  if (program === undefined) throw new Error(missing(kind.program))
  const folder = await mkdtemp(join(tmpdir(), `operations-${kind.scheme}-`))
  folders.add(folder)
  const port = options.port ?? (await freePort())
  const file = join(folder, "server.conf")
  await writeFile(file, `${kind.config(port, folder)}${options.config ?? ""}\n`)
  const args = [...kind.args(file), ...(options.args ?? [])]
  const broker = new BrokerProcess(kind, port, folder, tied([program, ...args]))
  try {
    await broker.restart()
  } catch (error) {
    await broker[Symbol.asyncDispose]()
    throw error
  }
  return broker
}

/** The command, such that it ends with this process, however that ends. */
function tied(command: readonly string[]): readonly string[] {
  const setpriv = findProgram({ names: ["setpriv"], package: "util-linux", tests: "broker" })
  // It becomes the command, so that the process is the same one.
  return setpriv === undefined ? command : [setpriv, "--pdeathsig", "KILL", ...command]
}

const running = new Set<ChildProcess>()
const folders = new Set<string>()
process.once("exit", () => {
  for (const child of running) child.kill("SIGKILL")
  for (const folder of folders) rmSync(folder, { recursive: true, force: true })
})

class BrokerProcess implements Broker {
  readonly port: number
  readonly url: string
  readonly #kind: Kind
  readonly #folder: string
  readonly #command: readonly string[]
  #child: ChildProcess | undefined

  constructor(kind: Kind, port: number, folder: string, command: readonly string[]) {
    this.port = port
    this.url = `${kind.scheme}://127.0.0.1:${port}`
    this.#kind = kind
    this.#folder = folder
    this.#command = command
  }

  get pid(): number {
    const pid = this.#child?.pid
    if (pid === undefined)
      throw new Error(`The ${this.#kind.program.package} at ${this.url} does not run.`)
    return pid
  }

  async stop(): Promise<void> {
    const child = this.#child
    if (child === undefined) return
    const force = setTimeout(() => child.kill("SIGKILL"), 5000)
    child.kill("SIGTERM")
    // A frozen one is told only once it is thawed.
    child.kill("SIGCONT")
    await this.#ended(child)
    clearTimeout(force)
  }

  async kill(): Promise<void> {
    const child = this.#child
    if (child === undefined) return
    child.kill("SIGKILL")
    await this.#ended(child)
  }

  freeze(): void {
    process.kill(this.pid, "SIGSTOP")
  }

  thaw(): void {
    process.kill(this.pid, "SIGCONT")
  }

  async restart(): Promise<void> {
    await this.kill()
    if (await this.#answers()) throw new Error(`Another server is at ${this.url} already.`)
    const out = openSync(join(this.#folder, "log"), "a")
    const [program = "", ...args] = this.#command
    const child = spawn(program, args, { stdio: ["ignore", out, out] })
    closeSync(out)
    child.unref()
    running.add(child)
    child.once("exit", () => running.delete(child))
    this.#child = child
    for (const until = Date.now() + PATIENCE; !(await this.#answers()); await sleep(10)) {
      if (child.exitCode === null && child.signalCode === null && Date.now() < until) continue
      const log = (await this.log()).split("\n").slice(-20).join("\n")
      throw new Error(`The ${this.#kind.program.package} at ${this.url} does not start:\n${log}`)
    }
  }

  async log(): Promise<string> {
    return await readFile(join(this.#folder, "log"), "utf8")
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.kill()
    await rm(this.#folder, { recursive: true, force: true })
    folders.delete(this.#folder)
  }

  async #ended(child: ChildProcess): Promise<void> {
    if (child.exitCode === null && child.signalCode === null) {
      // Held until it has ended: somebody waits for it now.
      child.ref()
      await once(child, "exit")
    }
    if (this.#child === child) this.#child = undefined
  }

  async #answers(): Promise<boolean> {
    return await new Promise((resolve) => {
      const socket = connect(this.port, "127.0.0.1")
      const end = (does: boolean): void => {
        socket.destroy()
        resolve(does)
      }
      socket.once("connect", () => socket.write(this.#kind.greeting))
      socket.once("data", (data) => end(this.#kind.hello.test(String(data))))
      socket.once("error", () => end(false))
      socket.once("close", () => end(false))
      socket.setTimeout(1000, () => end(false))
    })
  }
}
