import { isWindows, signalGroup } from "./group.ts"
import type { ChildLike, NodeLike } from "./node.ts"

/** The reaper's registration of one child. */
export interface ReaperLease {
  /** From now on the group is killed when the host dies. */
  track(pid: number): void
  /** The group has ended or was never started. May be called more than once. */
  release(): void
}

/** Ensures that children die with their host, however the host dies. */
export interface Reaper {
  /** To be called before a child is started, so that it is watched from the beginning. */
  lease(): ReaperLease
}

/**
 * Waits for the end of its input, which comes when the host has died, then ends the registered groups.
 *
 * Children see the end of their own input at the same time and get a moment to exit by themselves. The watchdog
 * ignores signals that a terminal or a supervisor sends to all processes.
 */
const WATCHDOG = `
trap '' HUP INT QUIT TERM
all=
while read -r what group; do
  rest=
  for one in $all; do [ "$one" = "$group" ] || rest="$rest $one"; done
  all=$rest
  [ "$what" = - ] || all="$all $group"
done
tick=0.1 grace=5 timeout=8
sleep 0.01 2>/dev/null || tick=1 grace=1 timeout=1
wait_for_end() {
  left=$1
  while :; do
    rest=
    for one in $all; do kill -0 "-$one" 2>/dev/null && rest="$rest $one"; done
    all=$rest
    [ -n "$all" ] || exit 0
    [ "$left" -gt 0 ] || return 0
    left=$((left - 1))
    sleep "$tick"
  done
}
wait_for_end "$grace"
for one in $all; do kill -TERM "-$one" 2>/dev/null; done
wait_for_end "$timeout"
for one in $all; do kill -KILL "-$one" 2>/dev/null; done
`

/** Its name in process lists. */
const NAME = "mcp-child-watchdog"

const MAX_RESTARTS = 3

/** Creates a separate reaper; the process-wide one is `sharedReaper`. */
export function createReaper(node: NodeLike): Reaper {
  const groups = new Set<number>()
  let leases = 0
  let restarts = 0
  let watchdog: ChildLike | undefined

  // Not a signal handler, which would change how the host reacts to signals.
  const atExit = (): void => {
    const signal = watchdog === undefined ? "SIGKILL" : "SIGTERM"
    for (const pid of groups) signalGroup(node, pid, signal)
  }

  const begin = (): void => {
    if (isWindows(node) || watchdog !== undefined) return
    const started = startWatchdog(node, () => {
      if (watchdog !== started) return
      watchdog = undefined
      // It was killed; restart it, but not for ever if it cannot run at all.
      if (restarts++ < MAX_RESTARTS) begin()
    })
    watchdog = started
    if (started === undefined) return
    for (const pid of groups) send(started, "+", pid)
  }

  const end = (): void => {
    const ended = watchdog
    watchdog = undefined
    restarts = 0
    ended?.stdin?.end()
  }

  return {
    lease() {
      if (leases++ === 0) node.host.on("exit", atExit)
      begin()
      let isReleased = false
      let held: number | undefined
      return {
        track(pid) {
          held = pid
          groups.add(pid)
          if (watchdog !== undefined) send(watchdog, "+", pid)
        },
        release() {
          if (isReleased) return
          isReleased = true
          if (held !== undefined) {
            groups.delete(held)
            if (watchdog !== undefined) send(watchdog, "-", held)
          }
          if (--leases > 0) return
          node.host.off("exit", atExit)
          end()
        },
      }
    },
  }
}

let shared: Reaper | undefined

/** The reaper of this process. */
export function sharedReaper(node: NodeLike): Reaper {
  shared ??= createReaper(node)
  return shared
}

/** Starts the watchdog; without a shell there is none, and only an orderly exit of the host is covered. */
function startWatchdog(node: NodeLike, onEnd: () => void): ChildLike | undefined {
  try {
    const watchdog = node.spawn("/bin/sh", ["-c", WATCHDOG, NAME], {
      env: { PATH: `/usr/bin:/bin:${node.host.env["PATH"] ?? ""}` },
      cwd: "/",
      stdio: ["pipe", "ignore", "ignore"],
      shell: false,
      detached: true,
      windowsHide: true,
    })
    watchdog.on("error", onEnd)
    watchdog.on("exit", onEnd)
    // If the watchdog is killed, its exit event is enough.
    watchdog.stdin?.on("error", () => {})
    watchdog.unref()
    watchdog.stdin?.unref?.()
    return watchdog
  } catch {
    return undefined
  }
}

function send(watchdog: ChildLike, what: "+" | "-", pid: number): void {
  watchdog.stdin?.write(`${what} ${pid}\n`)
}
