import { CallError } from "../../core/errors.ts"
import { nodeBuiltin } from "../../internal/node-builtin.ts"
import { IDENTITY } from "../../internal/options.ts"
import type { OptionsSchema } from "../../internal/options.ts"
import type { Logger } from "../../internal/logger.ts"
import type { Identity } from "../../core/types.ts"
import { claimOutput } from "./stdout.ts"
import type { OutputLike } from "./stdout.ts"
import type { SDKFactory, StdioSDK } from "./sdk.ts"
import { exactInput } from "./stdin.ts"
import type { InputLike } from "./stdin.ts"

/** Options of `stdio`. */
export interface StdioOptions {
  /** Identity of the client that started this process; default: anonymous. */
  readonly identity?: Identity | undefined
  /** Set it to `false` in a program that continues without the client: it handles signals itself and does not exit. */
  readonly exit?: boolean | undefined
  /** Maximum size of a message, in bytes; default: 10 MiB. */
  readonly maxMessageBytes?: number | undefined
}

export const STDIO_OPTIONS: OptionsSchema<StdioOptions> = {
  identity: IDENTITY,
  exit: "boolean",
  maxMessageBytes: "count",
}

/** A connection over standard input and output. */
export interface StdioConnection extends AsyncDisposable {
  /** Resolves when the client is gone, or `close` was called. */
  readonly closed: Promise<void>
  close(): Promise<void>
}

interface ProcessLike {
  readonly stdin: InputLike
  readonly stdout: OutputLike
  readonly stderr: OutputLike
  once(type: string, listener: () => void): unknown
  off(type: string, listener: () => void): unknown
  exit(code: number): void
}

/** Dependencies of `serveStdio`. */
export interface StdioParts {
  readonly sdk: StdioSDK
  readonly factory: SDKFactory
  readonly logger: Logger
  /** Waits for running calls, up to `drainMs`, and closes everything before the process exits. */
  readonly closeAll: (drainMs: number) => Promise<void>
}

const MAX_MESSAGE_BYTES = 10 * 1024 * 1024
const EXIT_WITHIN_MS = 1500
// Running calls get this long when a signal ends the process; it must exit in time with their answers.
const DRAIN_MS = 1000
const SIGNALS = [
  ["SIGTERM", 143],
  ["SIGINT", 130],
  ["SIGHUP", 129],
] as const

let isServing = false

/**
 * Serves one client on standard input and output.
 *
 * When the client disconnects, calls are cancelled; at a signal they get a second to finish. Unless `exit` is false the
 * process exits within two seconds, whatever else is open: clients start many servers and expect none to remain.
 */
export async function serveStdio(
  { sdk, factory, logger, closeAll }: StdioParts,
  { exit = true, maxMessageBytes = MAX_MESSAGE_BYTES }: StdioOptions,
): Promise<StdioConnection> {
  const host = await nodeProcess()
  if (isServing) {
    throw new TypeError("stdio(): standard input and output are being served already.")
  }
  isServing = true
  let isOver = false
  let isLeaving = false
  let resolveClosed = (): void => undefined
  const closed = new Promise<void>((resolve) => {
    resolveClosed = resolve
  })
  const leave = (code: number, drainMs: number): void => {
    if (isLeaving) return
    isLeaving = true
    setTimeout(() => host.exit(code), EXIT_WITHIN_MS)
    // The process exits in any case.
    void Promise.all([drainMs === 0 ? served.close() : undefined, closeAll(drainMs)])
      .catch((error: unknown) => logger.error("Closing failed", { error }))
      .then(() => host.exit(code))
  }
  const signals = (exit ? SIGNALS : []).map(
    ([signal, code]) => [signal, () => leave(code, DRAIN_MS)] as const,
  )
  const finish = (): void => {
    if (isOver) return
    isOver = true
    isServing = false
    for (const [signal, handler] of signals) host.off(signal, handler)
    claimed.release()
    resolveClosed()
  }
  const claimed = claimOutput(host.stdout, host.stderr)
  const input = exactInput(host.stdin, maxMessageBytes, () => wire)
  const wire = new sdk.StdioServerTransport(input, claimed.output)
  const served = sdk.serveStdio(factory, {
    transport: wire,
    onerror: (error: Error) => logger.debug("The MCP connection reported", { error }),
  })
  const { onclose } = wire
  wire.onclose = () => {
    onclose?.()
    // A program that closed the connection itself continues; without a client there is nothing left to do.
    if (exit && !isOver) leave(0, 0)
    finish()
  }
  for (const [signal, handler] of signals) host.once(signal, handler)
  const close = async (): Promise<void> => {
    finish()
    await served.close()
  }
  return { closed, close, [Symbol.asyncDispose]: close }
}

async function nodeProcess(): Promise<ProcessLike> {
  try {
    return await nodeBuiltin("process")
  } catch (cause) {
    throw new CallError("UNAVAILABLE", "stdio(): this platform has no process of Node.", {
      cause,
      retryable: false,
    })
  }
}
