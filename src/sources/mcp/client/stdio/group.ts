import type { NodeLike } from "./node.ts"
import { systemClock } from "../../../../internal/clock.ts"
import { pause } from "../../../../internal/wait.ts"

const POLL_MS = 10
// Scanning all processes of the system is expensive and rarely needed.
const FIRST_COUNT_MS = 30
const COUNT_MS = 100

/**
 * A process and its descendants: the process group that it leads.
 *
 * On Windows, which has no groups, it is the tree below the process while that one runs. Once a group has
 * ended it is never signalled again: the system may reuse its id.
 */
export class ProcessGroup {
  readonly #node: NodeLike
  readonly #pid: number
  #isGone = false

  constructor(node: NodeLike, pid: number) {
    this.#node = node
    this.#pid = pid
  }

  /** Sends a signal to every member; does nothing when none is left. */
  signal(name: "SIGTERM" | "SIGKILL"): void {
    if (!this.#look()) signalGroup(this.#node, this.#pid, name)
  }

  /** Resolves with whether every member has ended, after at most so many milliseconds. */
  async isGoneWithin(milliseconds: number): Promise<boolean> {
    const start = systemClock.now()
    let nextCount = FIRST_COUNT_MS
    while (!this.#look()) {
      const elapsed = systemClock.now() - start
      if (elapsed >= milliseconds) return false
      if (elapsed >= nextCount) {
        nextCount = elapsed + COUNT_MS
        if (await isOnlyZombies(this.#node, this.#pid)) return true
      }
      await pause(POLL_MS)
    }
    return true
  }

  #look(): boolean {
    const node = this.#node
    this.#isGone ||= !attempt(node, isWindows(node) ? this.#pid : -this.#pid, 0)
    return this.#isGone
  }
}

/** Signals a group without waiting. */
export function signalGroup(node: NodeLike, pid: number, name: "SIGTERM" | "SIGKILL"): void {
  if (isWindows(node)) {
    // There are no signals; only a forced kill reaches the descendants.
    const args = ["/pid", String(pid), "/T", "/F"]
    if (name === "SIGKILL") node.spawnSync("taskkill", args, TASKKILL_OPTIONS)
    return
  }
  attempt(node, -pid, name)
}

export function isWindows(node: NodeLike): boolean {
  return node.host.platform === "win32"
}

const TASKKILL_OPTIONS = { stdio: "ignore", shell: false, windowsHide: true } as const

/** Whether a process received the signal. Processes of other users do not count: we cannot end them. */
function attempt(node: NodeLike, target: number, signal: string | 0): boolean {
  try {
    return node.host.kill(target, signal)
  } catch {
    return false
  }
}

/**
 * Whether a group consists of zombies only: ended processes that were not reaped.
 *
 * Orphans are adopted by the init process, which in a container often reaps nothing: a group would look alive
 * for ever. `false` on systems where this is not known.
 */
async function isOnlyZombies(node: NodeLike, group: number): Promise<boolean> {
  if (node.host.platform !== "linux") return false
  try {
    const names = await node.readdir("/proc")
    const states = await Promise.all(
      names.filter((name) => /^\d+$/.test(name)).map((name) => stateWithin(node, group, name)),
    )
    const members = states.filter((state) => state !== undefined)
    return members.length > 0 && members.every((state) => state === "Z" || state === "X")
  } catch {
    return false
  }
}

/** The state of a process if it belongs to the group. */
async function stateWithin(
  node: NodeLike,
  group: number,
  pid: string,
): Promise<string | undefined> {
  try {
    const text = await node.readFile(`/proc/${pid}/stat`, "utf8")
    // The name comes first, in brackets, and may contain brackets and spaces itself.
    const [state, , members] = text.slice(text.lastIndexOf(")") + 2).split(" ")
    return Number(members) === group ? state : undefined
  } catch {
    // The process ended after it was listed.
    return undefined
  }
}
