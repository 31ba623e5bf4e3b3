import type { ResolvedConfig } from "../../config/model.ts"
import type { Hub } from "../../hub/model.ts"
import { watchFiles } from "../../hub/watch.ts"
import type { CommandIO } from "../model.ts"
import { printError, note, escapeForTerminal } from "../output.ts"

/** Reloads the configuration whenever its file changes; after a mistake the previous one stays in use. */
export function followConfig(
  hub: Hub,
  load: () => Promise<ResolvedConfig>,
  io: CommandIO,
): { close(): Promise<void> } {
  const { file } = hub.config
  if (file === undefined) return { close: () => Promise.resolve() }
  let running = Promise.resolve()
  let isClosed = false
  const reload = async (): Promise<void> => {
    if (isClosed) return
    try {
      const config = await load()
      if (isClosed) return
      const isServedAnew = startedWith(config) !== startedWith(hub.config)
      await hub.apply(config)
      note(io, `${escapeForTerminal(file)} has changed and is in use.`)
      if (isServedAnew) {
        note(io, `Changes under "server" take effect after a restart, except for API keys.`)
      }
    } catch (error) {
      const reason = error instanceof Error ? error.message : String(error)
      printError(io, `${escapeForTerminal(reason)}\nThe previous configuration stays in use.`)
    }
  }
  const watching = watchFiles([file], () => {
    // Sequentially, so that the last version of the file wins.
    running = running.then(reload)
  })
  return {
    async close() {
      isClosed = true
      watching.close()
      await running
    },
  }
}

/** The settings that need a restart: all of the server's but its API keys, unless these are the first or the last. */
function startedWith({ server }: ResolvedConfig): string {
  const hasKeys = (server.apiKeys ?? []).length > 0
  return JSON.stringify({ ...server, apiKeys: hasKeys })
}
