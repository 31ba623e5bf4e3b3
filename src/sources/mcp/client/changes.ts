import type { Clock } from "../../../internal/platform.ts"
import { setRef } from "../../../internal/defer.ts"
import { backOff } from "../../../internal/back-off.ts"
import { pause } from "../../../internal/wait.ts"
import type { JsonObject } from "../../../mcp/model.ts"
import { memberOf } from "./sdk.ts"
import type { MCPListKind } from "./model.ts"
import type { Session } from "./session.ts"

/** What changes can be announced: the capability, the filter of a subscription, and the lists. */
const ANNOUNCED: readonly (readonly [string, string, readonly MCPListKind[]])[] = [
  ["tools", "toolsListChanged", ["tools"]],
  ["prompts", "promptsListChanged", ["prompts"]],
  ["resources", "resourcesListChanged", ["resources", "resourceTemplates"]],
]

const GATHER_MS = 50
const ACK_MS = 30_000
const MAX_PAUSE_MS = 60_000

/** Collects notifications that arrive together and reports each kind once. */
export class Changes {
  readonly #clock: Clock
  readonly #onChange: (kind: MCPListKind) => void
  readonly #gathered = new Set<MCPListKind>()
  #timer: unknown

  constructor(clock: Clock, onChange: (kind: MCPListKind) => void) {
    this.#clock = clock
    this.#onChange = onChange
  }

  notified(method: string): void {
    const announced = ANNOUNCED.find(([name]) => method === `notifications/${name}/list_changed`)
    if (announced === undefined) return
    for (const kind of announced[2]) this.#gathered.add(kind)
    if (this.#timer !== undefined) return
    this.#timer = this.#clock.setTimeout(() => {
      this.#timer = undefined
      const changed = [...this.#gathered]
      this.#gathered.clear()
      for (const kind of changed) this.#onChange(kind)
    }, GATHER_MS)
    setRef(this.#timer, false)
  }

  close(): void {
    if (this.#timer !== undefined) this.#clock.clearTimeout(this.#timer)
    this.#timer = undefined
    this.#gathered.clear()
  }
}

/**
 * Keeps a stream of change notifications open with a modern server, which sends none otherwise.
 *
 * Nothing waits for it: a server that does not answer here can still answer calls. When a broken stream has
 * been reopened, `missed` is called, since notifications may have been lost.
 */
export async function listenForChanges(
  session: Session,
  clock: Clock,
  missed: (method: string) => void,
): Promise<void> {
  const { capabilities, era } = session.peer
  if (era !== "modern") return
  const wanted = ANNOUNCED.filter(
    ([name]) => memberOf(memberOf(capabilities, name), "listChanged") === true,
  )
  if (wanted.length === 0) return
  const filter = Object.fromEntries(wanted.map(([, key]) => [key, true]))
  await keepListening(session, clock, filter, () => {
    for (const [name] of wanted) missed(`notifications/${name}/list_changed`)
  })
}

/**
 * Keeps a stream of notifications open until the session is lost, or `signal` fires. When a broken stream has been
 * reopened, `missed` is called. Never rejects.
 */
export async function keepListening(
  session: Session,
  clock: Clock,
  filter: JsonObject,
  missed: () => void,
  signal?: AbortSignal,
): Promise<void> {
  const options = { timeout: ACK_MS, ...(signal !== undefined && { signal }) }
  const isOver = (): boolean => session.isLost || signal?.aborted === true
  for (let failures = 0, isFirst = true; !isOver(); isFirst = false) {
    try {
      const subscription = await session.client.listen(filter, options)
      if (!isFirst) missed()
      failures = 0
      if ((await subscription.closed) === "local") return
    } catch (error) {
      // The server does not support the method.
      if (memberOf(error, "code") === -32601) return
    }
    if (isOver()) return
    await pause(backOff(++failures, 1000, MAX_PAUSE_MS), { clock, keepsAlive: false })
  }
}
