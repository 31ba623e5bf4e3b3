import { CallError } from "../../core/errors.ts"
import { nodeBuiltin } from "../../internal/node-builtin.ts"
import { IDENTITY } from "../../internal/options.ts"
import type { OptionsSchema } from "../../internal/options.ts"
import type { Logger } from "../../internal/logger.ts"
import type { Identity } from "../../core/types.ts"
import { claimOutput } from "./stdout.ts"
import type { ClaimedOutput, OutputLike } from "./stdout.ts"
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
  parts: StdioParts,
  options: StdioOptions,
): Promise<StdioConnection> {
  const host = await nodeProcess()
  if (isServing) {
    throw new TypeError("stdio(): standard input and output are being served already.")
  }
  isServing = true
  return new Serving(host, parts, options)
}

class Serving implements StdioConnection {
  readonly closed: Promise<void>
  readonly #host: ProcessLike
  readonly #parts: StdioParts
  readonly #served: { close(): Promise<void> }
  readonly #claimed: ClaimedOutput
  readonly #signals: (readonly [signal: string, handler: () => void])[] = []
  #resolveClosed: () => void = () => undefined
  #isOver = false
  #isLeaving = false

  constructor(host: ProcessLike, parts: StdioParts, options: StdioOptions) {
    const { exit = true, maxMessageBytes = MAX_MESSAGE_BYTES } = options
    this.#host = host
    this.#parts = parts
    this.closed = new Promise<void>((resolve) => {
      this.#resolveClosed = resolve
    })
    const claimed = claimOutput(host.stdout, host.stderr)
    this.#claimed = claimed
    const input = exactInput(host.stdin, maxMessageBytes, () => wire)
    const wire = new parts.sdk.StdioServerTransport(input, claimed.output)
    this.#served = parts.sdk.serveStdio(parts.factory, {
      transport: wire,
      onerror: (error: Error) => parts.logger.debug("The MCP connection reported", { error }),
    })
    const { onclose } = wire
    wire.onclose = () => {
      onclose?.()
      // A program that closed the connection itself continues; without a client there is nothing left to do.
      if (exit && !this.#isOver) this.#leave(0, 0)
      this.#finish()
    }
    for (const [signal, code] of exit ? SIGNALS : []) {
      const handler = (): void => this.#leave(code, DRAIN_MS)
      this.#signals.push([signal, handler])
      host.once(signal, handler)
    }
  }

  async close(): Promise<void> {
    this.#finish()
    await this.#served.close()
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close()
  }

  #finish(): void {
    if (this.#isOver) return
    this.#isOver = true
    isServing = false
    for (const [signal, handler] of this.#signals) this.#host.off(signal, handler)
    this.#claimed.release()
    this.#resolveClosed()
  }

  #leave(code: number, drainMs: number): void {
    if (this.#isLeaving) return
    this.#isLeaving = true
    const exit = (): void => this.#host.exit(code)
    setTimeout(exit, EXIT_WITHIN_MS)
    const { closeAll, logger } = this.#parts
    // The process exits in any case.
    void Promise.all([drainMs === 0 ? this.#served.close() : undefined, closeAll(drainMs)])
      .catch((error: unknown) => logger.error("Closing failed", { error }))
      .then(exit)
  }
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
