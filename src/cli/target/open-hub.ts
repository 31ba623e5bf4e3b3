import { once } from "node:events"
import type { ResolvedConfig } from "../../config/model.ts"
import { CallError } from "../../core/errors.ts"
import type { Hub, SourceStatus } from "../../hub/model.ts"
import type { Logger } from "../../internal/logger.ts"
import type { CommandIO } from "../model.ts"
import { hashOf, statePath } from "../state.ts"
import { note, oneLine } from "../output.ts"
import { commandLogger } from "../serve/logger.ts"
import { noteSlowSources } from "../serve/summary.ts"

/** Opens sources in this process and waits until each is ready or has failed. */
export async function openHub(
  config: ResolvedConfig,
  io: CommandIO,
  only?: readonly string[],
): Promise<Hub> {
  io.signal.throwIfAborted()
  const { createHub } = await import("../../hub/create-hub.ts")
  const hub = createHub(config, {
    env: io.env,
    logger: loggerFor(io),
    // A command waits for its sources once, without retries.
    retry: false,
    only,
    approvalsFile: approvalsFile(config, io),
  })
  const report = (status: SourceStatus): void => note(io, statusLine(status))
  if (io.verbose === true) hub.sources.forEach(report)
  const stop = io.verbose === true ? hub.onStatus(report) : undefined
  const isEnough = noteSlowSources(hub, io)
  try {
    await orAborted(hub.ready(), io.signal)
  } catch (error) {
    await hub.close()
    throw error
  } finally {
    stop?.()
    isEnough()
  }
  return hub
}

/** Where approvals for always are kept, for each configuration; `undefined` for sources of a command line. */
export function approvalsFile({ file }: ResolvedConfig, { env }: CommandIO): string | undefined {
  if (file === undefined) return undefined
  return statePath(env, `approvals-${hashOf(file).slice(0, 32)}.json`)
}

/** The status of a source on one line. */
function statusLine({ name, state, operations, reason }: SourceStatus): string {
  const what = state === "ready" ? `${operations} operations` : (reason ?? "")
  return oneLine(`${name}: ${state}${what === "" ? "" : `, ${what}`}`)
}

/** Logs only with `--verbose`: most warnings of an import do not affect a call. */
function loggerFor(io: CommandIO): Logger {
  const logger = commandLogger(io)
  const log: Logger["info"] = (message, fields) => logger.info(message, fields)
  return { debug() {}, info: log, warn: log, error: log }
}

async function orAborted(work: Promise<void>, signal: AbortSignal): Promise<void> {
  const over = new AbortController()
  await Promise.race([work, once(signal, "abort", { signal: over.signal })])
  over.abort()
  if (signal.aborted) throw new CallError("ABORTED", "Stopped while sources were opened.")
}
