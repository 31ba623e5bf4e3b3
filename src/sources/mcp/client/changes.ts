import type { Clock } from "../../../internal/platform.ts"
import { setRef } from "../../../internal/defer.ts"
import { backOff } from "../../../internal/back-off.ts"
import { pause } from "../../../internal/wait.ts"
import { memberOf } from "./sdk.ts"
import type { MCPListKind } from "./model.ts"
import type { Session } from "./session.ts"

const KINDS: Readonly<Record<string, readonly MCPListKind[]>> = {
  "notifications/tools/list_changed": ["tools"],
  "notifications/prompts/list_changed": ["prompts"],
  "notifications/resources/list_changed": ["resources", "resourceTemplates"],
}

const FILTERS = [
  ["tools", "toolsListChanged"],
  ["prompts", "promptsListChanged"],
  ["resources", "resourcesListChanged"],
] as const

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
    const kinds = Object.hasOwn(KINDS, method) ? KINDS[method] : undefined
    if (kinds === undefined) return
    for (const kind of kinds) this.#gathered.add(kind)
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
  const filter = Object.fromEntries(
    FILTERS.filter(([name]) => memberOf(memberOf(capabilities, name), "listChanged") === true).map(
      ([, key]) => [key, true],
    ),
  )
  if (Object.keys(filter).length === 0) return
  for (let failures = 0, isFirst = true; !session.isLost; isFirst = false) {
    try {
      const subscription = await session.client.listen(filter, { timeout: ACK_MS })
      if (!isFirst) {
        for (const [name, key] of FILTERS) {
          if (key in filter) missed(`notifications/${name}/list_changed`)
        }
      }
      failures = 0
      if ((await subscription.closed) === "local") return
    } catch (error) {
      // The server does not support the method.
      if (memberOf(error, "code") === -32601) return
    }
    if (session.isLost) return
    await pause(backOff(++failures, 1000, MAX_PAUSE_MS), { clock, keepsAlive: false })
  }
}
