import { isBroker } from "../config/brokers.ts"
import type { RemoteSource, ResolvedSource } from "../config/model.ts"
import type { Hub } from "./model.ts"

/** Whether every source that a hub needs to answer requests is ready. */
export function hasNeededSources(hub: Hub): boolean {
  const needed = new Set(hub.config.sources.filter(isNeeded).map(({ name }) => name))
  if (needed.size === 0) return true
  return hub.sources.every(({ name, state, operations }) => {
    if (!needed.has(name) || state === "ready" || state === "disabled") return true
    // A source that is being reopened still serves its operations.
    return state === "loading" && operations > 0
  })
}

/** Without its broker a hub can only make callers wait. */
function isNeeded({ kind, config }: ResolvedSource): boolean {
  return config.required ?? (kind === "remote" && isBroker((config as RemoteSource).remote))
}
