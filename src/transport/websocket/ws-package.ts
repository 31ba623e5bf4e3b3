// The package `ws`. In a separate module, so that pages, which have sockets, need not download it.

import { checkPeer, importPeer } from "../../internal/import-peer.ts"
import type { WsModule } from "./ws.ts"

/** Loads `ws`. Its types are the shapes here, so that the core needs no types of Node. */
export function loadWs(user: string): Promise<WsModule> {
  return importPeer(user, "ws", importWs)
}

/** Rejects if `ws` is not installed. Node takes longer to load it than everything else that a server needs. */
export function checkWs(user: string): Promise<void> {
  return checkPeer(user, "ws", importWs)
}

// Bundlers ignore imports whose failure is handled, or with this comment: browser projects do not have `ws`.
function importWs(): Promise<WsModule> {
  const module: Promise<unknown> = import(/* webpackIgnore: true */ "ws").catch(
    (error: unknown) => {
      throw error
    },
  )
  return module as Promise<WsModule>
}
