/** Real brokers for tests: `nats-server` and `redis-server`, each a process of its own on loopback. */
import { execFile, spawn } from "node:child_process"
import type { ChildProcess } from "node:child_process"
import { once } from "node:events"
import { closeSync, openSync, rmSync } from "node:fs"
import { access, constants, mkdtemp, readFile, rm, writeFile } from "node:fs/promises"
import { connect } from "node:net"
import { tmpdir } from "node:os"
import { delimiter, isAbsolute, join } from "node:path"
import { setTimeout as sleep } from "node:timers/promises"
import { promisify } from "node:util"
import { freePort } from "./free-port.ts"
import { PATIENCE } from "./patience.ts"

const run = promisify(execFile)

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

/** Whether there is a `nats-server`; it is installed from the system's packages where that is possible. */
export async function provideNats(): Promise<boolean> {
  return await provide(NATS)
}

/** Whether there is a `redis-server`, or a `valkey-server`; installed like `nats-server`. */
export async function provideRedis(): Promise<boolean> {
  return await provide(REDIS)
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
  readonly programs: readonly string[]
  readonly package: string
  config(port: number, folder: string): string
  args(file: string): readonly string[]
  /** What to say to it, so that what it answers begins with one of `hello`. */
  readonly greeting: string
  readonly hello: RegExp
}

const NATS: Kind = {
  scheme: "nats",
  programs: ["nats-server"],
  package: "nats-server",
  config: (port) => `host: "127.0.0.1"\nport: ${port}\n`,
  args: (file) => ["-c", file],
  greeting: "",
  hello: /^INFO /,
}

const REDIS: Kind = {
  scheme: "redis",
  programs: ["redis-server", "valkey-server"],
  package: "redis-server",
  config: (port, folder) =>
    `bind 127.0.0.1\nport ${port}\nsave ""\nappendonly no\ndaemonize no\ndir ${folder}\n`,
  args: (file) => [file],
  greeting: "PING\r\n",
  // One that asks for a password is there, too.
  hello: /^(\+PONG|-NOAUTH|-NOPERM)/,
}

async function provide(kind: Kind): Promise<boolean> {
  if ((await find(kind.programs)) !== undefined) return true
  const failure = await install(kind)
  if ((await find(kind.programs)) !== undefined) return true
  const reason = `There is no ${kind.package}: ${failure} Install it: apt-get install ${kind.package}`
  const ci = process.env["CI"] ?? ""
  // A check that did not run must not look like one that passed.
  if (ci !== "" && ci !== "false") throw new Error(reason)
  process.stderr.write(`SKIPPED broker tests. ${reason}\n`)
  return false
}

/** Installs the package; gives what went wrong. */
async function install(kind: Kind): Promise<string> {
  if (process.getuid?.() !== 0) return "none is on PATH, and only root can install one."
  // The lock is the kernel's: several runs wait for one installation.
  const lock = join(tmpdir(), `operations-${kind.package}.lock`)
  const package_ = `apt-get install -y --no-install-recommends -o DPkg::Lock::Timeout=300 ${kind.package}`
  const there = `PATH="$PATH:/usr/sbin" command -v ${kind.programs[0]}`
  const script = `${there} || ${package_} || { apt-get update && ${package_}; }`
  const env = { ...process.env, DEBIAN_FRONTEND: "noninteractive" }
  try {
    await run("flock", [lock, "sh", "-c", script], { env, timeout: 600_000 })
    return "it was installed, and still is not on PATH."
  } catch (error) {
    const { stderr = "", message } = error as { stderr?: string; message: string }
    return `none is on PATH, and apt-get gave none (${stderr.trim().split("\n").at(-1) || message}).`
  }
}

/** Where a program is; system programs are often not on the PATH of a plain user. */
async function find(names: readonly string[]): Promise<string | undefined> {
  const onPath = (process.env["PATH"] ?? "").split(delimiter).filter(isAbsolute)
  for (const name of names) {
    for (const folder of [...onPath, "/usr/sbin", "/usr/local/sbin"]) {
      const path = join(folder, name)
      const isThere = await access(path, constants.X_OK).then(
        () => true,
        () => false,
      )
      if (isThere) return path
    }
  }
  return undefined
}

async function start(kind: Kind, options: BrokerOptions): Promise<Broker> {
  const program = await find(kind.programs)
  if (program === undefined) {
    throw new Error(`There is no ${kind.package}. Install it: apt-get install ${kind.package}`)
  }
  const folder = await mkdtemp(join(tmpdir(), `operations-${kind.scheme}-`))
  folders.add(folder)
  const port = options.port ?? (await freePort())
  const file = join(folder, "server.conf")
  await writeFile(file, `${kind.config(port, folder)}${options.config ?? ""}\n`)
  const args = [...kind.args(file), ...(options.args ?? [])]
  const broker = new BrokerProcess(kind, port, folder, await tied([program, ...args]))
  try {
    await broker.restart()
  } catch (error) {
    await broker[Symbol.asyncDispose]()
    throw error
  }
  return broker
}

/** The command, such that it ends with this process, however that ends. */
async function tied(command: readonly string[]): Promise<readonly string[]> {
  const setpriv = await find(["setpriv"])
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
    if (pid === undefined) throw new Error(`The ${this.#kind.package} at ${this.url} does not run.`)
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
      throw new Error(`The ${this.#kind.package} at ${this.url} does not start:\n${log}`)
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
