import type { NodeLike } from "./node.ts"

/**
 * Whether a group consists of zombies only: ended processes that were not reaped.
 *
 * Orphans are adopted by the init process, which in a container often reaps nothing: a group would look alive
 * for ever. `false` on systems where this is not known.
 */
export async function isOnlyZombies(node: NodeLike, group: number): Promise<boolean> {
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
