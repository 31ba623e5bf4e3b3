import { execFileSync } from "node:child_process"
import { fileURLToPath } from "node:url"
import { afterEach } from "vitest"
import {
  ChildTransport,
  type ChildParameters,
} from "../../../../src/sources/mcp/client/stdio/transport.ts"

export const childScript: string = fileURLToPath(new URL("./child.mjs", import.meta.url))

interface Notice {
  readonly method: string
  readonly params: Readonly<Record<string, unknown>>
}

/** A transport, and what was observed of it. */
export interface ObservedChild {
  readonly transport: ChildTransport
  readonly messages: Notice[]
  readonly errors: Error[]
  closes: number
  /** Resolves with `onclose`. */
  readonly closed: Promise<void>
  /** The next message of a method that nobody was given yet. */
  readonly next: (method: string) => Promise<Notice["params"]>
  /** The pids of all processes that said "ready". */
  pids(): number[]
}

const open = new Set<ObservedChild>()
const strays = new Set<number>()

afterEach(async () => {
  await Promise.all([...open].map(({ transport }) => transport.close()))
  for (const observed of open) for (const pid of observed.pids()) strays.add(pid)
  open.clear()
  for (const pid of strays) if (isRunning(pid)) process.kill(pid, "SIGKILL")
  strays.clear()
})

/** Ends a process after the test, should it be left. */
export function atLastKill(pid: number): void {
  strays.add(pid)
}

/** A child of `child.mjs` that is not started yet. */
export function child(
  args: readonly string[],
  parts: Partial<ChildParameters> = {},
): ObservedChild {
  const transport = new ChildTransport({
    command: process.execPath,
    args: [childScript, ...args],
    env: { PATH: process.env["PATH"] ?? "" },
    maxMessageBytes: 1_000_000,
    server: "test",
    ...parts,
  })
  let isClosed = (): void => {}
  const waiting: { method: string; resolve: (params: Notice["params"]) => void }[] = []
  const unread: Notice[] = []
  const observed: ObservedChild = {
    transport,
    messages: [],
    errors: [],
    closes: 0,
    closed: new Promise((resolve) => {
      isClosed = resolve
    }),
    next(method) {
      const at = unread.findIndex((notice) => notice.method === method)
      const [found] = at === -1 ? [] : unread.splice(at, 1)
      if (found !== undefined) return Promise.resolve(found.params)
      return new Promise((resolve) => waiting.push({ method, resolve }))
    },
    pids: () =>
      observed.messages
        .filter(({ method }) => method === "ready")
        .map(({ params }) => Number(params["pid"])),
  }
  transport.onmessage = (message) => {
    const notice = message as Notice
    observed.messages.push(notice)
    const at = waiting.findIndex(({ method }) => method === notice.method)
    const [waiter] = at === -1 ? [] : waiting.splice(at, 1)
    if (waiter === undefined) unread.push(notice)
    else waiter.resolve(notice.params)
  }
  transport.onerror = (error) => {
    observed.errors.push(error)
  }
  transport.onclose = () => {
    observed.closes++
    isClosed()
  }
  open.add(observed)
  return observed
}

/** A child of `child.mjs` that runs and has said so. */
export async function running(
  args: readonly string[],
  parts: Partial<ChildParameters> = {},
): Promise<ObservedChild> {
  const observed = child(args, parts)
  await observed.transport.start()
  await observed.next("ready")
  return observed
}

/** Whether a process exists and is more than an entry that nobody has collected. */
export function isRunning(pid: number): boolean {
  return processes().some((entry) => entry.pid === pid && !entry.state.startsWith("Z"))
}

/** Resolves as soon as none of the processes runs; fails after ten seconds. */
export async function allGone(pids: readonly number[]): Promise<void> {
  const end = performance.now() + 10_000
  while (pids.some(isRunning)) {
    if (performance.now() > end) throw new Error(`Still running: ${pids.filter(isRunning).join()}`)
    await new Promise((resolve) => setTimeout(resolve, 20))
  }
}

/** The watchdogs that a process has started. */
export function watchdogsOf(parent: number): number[] {
  return processes()
    .filter(({ ppid, args }) => ppid === parent && args.includes("mcp-child-watchdog"))
    .map(({ pid }) => pid)
}

function processes(): { pid: number; ppid: number; state: string; args: string }[] {
  const text = execFileSync("ps", ["-A", "-ww", "-o", "pid=,ppid=,stat=,args="], {
    encoding: "utf8",
    maxBuffer: 64_000_000,
  })
  return [...text.matchAll(/^\s*(\d+)\s+(\d+)\s+(\S+)\s+(.*)$/gm)].map((row) => ({
    pid: Number(row[1]),
    ppid: Number(row[2]),
    state: row[3] ?? "",
    args: row[4] ?? "",
  }))
}
