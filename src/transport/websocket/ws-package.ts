// The package `ws`. In a separate module, so that pages, which have sockets, need not download it.

import { checkPeer, importError } from "../../internal/import-peer.ts"
import type { WsModule } from "./ws.ts"

/**
 * Loads `ws`. Its types are the shapes here, so that the core needs no types of Node.
 *
 * webpack would warn in every page about a missing `ws`, which pages do not need: it leaves this import alone.
 */
export async function loadWs(user: string): Promise<WsModule> {
  try {
    return (await import(/* webpackIgnore: true */ "ws")) as unknown as WsModule
  } catch (error) {
    throw importError(user, "ws", error)
  }
}

/** Rejects if `ws` is not installed. Node takes longer to load it than everything else that a server needs. */
export function checkWs(user: string): Promise<void> {
  return checkPeer("ws", () => loadWs(user))
}
