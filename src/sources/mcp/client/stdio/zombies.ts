import type { NodeLike } from "./node.ts"

/**
 * Whether all that is left of a group are entries of ended processes that nobody has collected.
 *
 * Orphans go to the first process of the system, which in a container often collects nothing: a
 * group would look alive for ever. `false` where the system does not tell.
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

/** The state of a process when it is one of the group. */
async function stateWithin(
  node: NodeLike,
  group: number,
  pid: string,
): Promise<string | undefined> {
  try {
    const text = await node.readFile(`/proc/${pid}/stat`, "utf8")
    // The name comes first, in brackets, and may hold brackets and spaces itself.
    const [state, , members] = text.slice(text.lastIndexOf(")") + 2).split(" ")
    return Number(members) === group ? state : undefined
  } catch {
    // It has ended since it was listed.
    return undefined
  }
}
