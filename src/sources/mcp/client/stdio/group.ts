import type { NodeLike } from "./node.ts"
import { isOnlyZombies } from "./zombies.ts"
import { systemClock } from "../../../../internal/clock.ts"
import { pause } from "../../../../internal/wait.ts"

const POLL_MS = 10
// Scanning all processes of the system is expensive and rarely needed.
const FIRST_COUNT_MS = 30
const COUNT_MS = 100

/** A child process and its descendants in the same group. */
export interface ProcessGroup {
  /** Sends a signal to every member; does nothing when none is left. */
  signal(name: "SIGTERM" | "SIGKILL"): void
  /** Resolves with whether every member has ended, after at most so many milliseconds. */
  isGoneWithin(milliseconds: number): Promise<boolean>
}

/**
 * The process group that a process leads.
 *
 * On Windows, which has no groups, it is the tree below the process while that one runs. Once a group has
 * ended it is never signalled again: the system may reuse its id.
 */
export function processGroup(node: NodeLike, pid: number): ProcessGroup {
  let isGone = false
  const look = (): boolean => {
    isGone ||= !attempt(node, isWindows(node) ? pid : -pid, 0)
    return isGone
  }
  return {
    signal(name) {
      if (!look()) signalGroup(node, pid, name)
    },
    async isGoneWithin(milliseconds) {
      const start = systemClock.now()
      let nextCount = FIRST_COUNT_MS
      while (!look()) {
        const elapsed = systemClock.now() - start
        if (elapsed >= milliseconds) return false
        if (elapsed >= nextCount) {
          nextCount = elapsed + COUNT_MS
          if (await isOnlyZombies(node, pid)) return true
        }
        await pause(POLL_MS)
      }
      return true
    },
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
