import type { ResolvedConfig } from "../../config/model.ts"
import { CallError } from "../../core/errors.ts"
import type { Hub, SourceStatus } from "../../hub/model.ts"
import type { Logger } from "../../internal/logger.ts"
import type { CommandIO } from "../model.ts"
import { complain, note, oneLine } from "../output.ts"

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
    // A command waits for its sources once; whoever wants to wait longer serves.
    retry: false,
    ...(only !== undefined && { only }),
  })
  const tell = (status: SourceStatus): void => note(io, statusLine(status))
  if (io.verbose === true) hub.sources.forEach(tell)
  const stop = io.verbose === true ? hub.onStatus(tell) : undefined
  try {
    await orAborted(hub.ready(), io.signal)
  } catch (error) {
    await hub.close()
    throw error
  } finally {
    stop?.()
  }
  return hub
}

/** How a source is doing, in a line. */
function statusLine({ name, state, operations, reason }: SourceStatus): string {
  const what = state === "ready" ? `${operations} operations` : (reason ?? "")
  return oneLine(`${name}: ${state}${what === "" ? "" : `, ${what}`}`)
}

/** Warnings are for `--verbose`: an import has some that no call is concerned with. */
function loggerFor(io: CommandIO): Logger {
  const say = (message: string, fields?: Readonly<Record<string, unknown>>): void => {
    if (io.verbose === true) complain(io, oneLine(`${message}${shownFields(fields)}`))
  }
  return { debug() {}, info: say, warn: say, error: say }
}

function shownFields(fields: Readonly<Record<string, unknown>> | undefined): string {
  if (fields === undefined) return ""
  try {
    return ` ${JSON.stringify(fields)}`
  } catch {
    return ""
  }
}

async function orAborted<TValue>(work: Promise<TValue>, signal: AbortSignal): Promise<TValue> {
  let stop = (): void => {}
  const aborted = new Promise<never>((_, reject) => {
    stop = () => reject(new CallError("ABORTED", "Stopped while sources were opened."))
    if (signal.aborted) stop()
    else signal.addEventListener("abort", stop)
  })
  try {
    return await Promise.race([work, aborted])
  } finally {
    signal.removeEventListener("abort", stop)
  }
}
