import { CallError, isCallError } from "../../core/errors.ts"
import { nodeBuiltin } from "../../internal/node-builtin.ts"
import { IDENTITY, type OptionsSchema } from "../../internal/options.ts"
import type { Logger } from "../../internal/logger.ts"
import { lineReader } from "../../mcp/lines.ts"
import type { Identity } from "../../core/types.ts"
import { parseExact } from "../exact-json.ts"
import type { SDKFactory, SDKTransport, StdioSDK } from "./sdk.ts"

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

// oxlint-disable-next-line typescript/no-explicit-any -- as in the types of Node
type Listener = (value: any) => void

/** The part of standard input that is used here. */
export interface InputLike {
  readonly readableEnded: boolean
  readonly destroyed: boolean
  on(type: string, listener: Listener): unknown
  off(type: string, listener: Listener): unknown
  listenerCount(type: string): number
  pause(): unknown
}

/** Standard input for a transport that gets messages instead of bytes: its own parser changes large integers. */
export function exactInput(
  stdin: InputLike,
  maxMessageBytes: number,
  transport: () => SDKTransport,
): InputLike {
  const lines = lineReader(maxMessageBytes, (line) => receive(line, transport()))
  const read = (chunk: Uint8Array): void => {
    if (lines.push(chunk)) return
    transport().onerror?.(new Error(`A message has more than ${maxMessageBytes} bytes.`))
    void transport().close()
  }
  return {
    readableEnded: stdin.readableEnded,
    destroyed: stdin.destroyed,
    on: (type, listener) => stdin.on(type, type === "data" ? read : listener),
    off: (type, listener) => stdin.off(type, type === "data" ? read : listener),
    listenerCount: (type) => stdin.listenerCount(type),
    pause: () => stdin.pause(),
  }
}

function receive(line: string, transport: SDKTransport): void {
  try {
    transport.onmessage?.(parseExact(line))
  } catch (error) {
    transport.onerror?.(error as Error)
    const { id } = isCallError(error) ? (JSON.parse(line) as { id?: unknown }) : {}
    if (id === undefined) return
    const refused = { code: -32602, message: `Invalid params: ${(error as Error).message}` }
    // A client that is gone needs no answer.
    transport.send({ jsonrpc: "2.0", id, error: refused }).catch(() => undefined)
  }
}

/** The part of a process stream that is used here. */
export interface OutputLike {
  write: (chunk: string | Uint8Array, ...rest: unknown[]) => boolean
  on(type: string, listener: (value: Error) => void): unknown
  once(type: string, listener: (value: Error) => void): unknown
  off(type: string, listener: (value: Error) => void): unknown
  listeners(type: string): readonly unknown[]
}

/** Standard output for the protocol, and a function that releases it. */
export interface ClaimedOutput {
  readonly output: OutputLike
  release(): void
}

type ConsoleConstructor = new (stdout: OutputLike, stderr: OutputLike) => object

/**
 * Claims standard output: while MCP is served there, only the protocol may write. Everything else, with
 * `console` or without, goes to standard error, where clients expect it.
 */
export function claimOutput(stdout: OutputLike, stderr: OutputLike): ClaimedOutput {
  const original = stdout.write
  const own: OutputLike = {
    write: (chunk, ...rest) => original.call(stdout, chunk, ...rest),
    on: (type, listener) => stdout.on(type, listener),
    once: (type, listener) => stdout.once(type, listener),
    off: (type, listener) => stdout.off(type, listener),
    listeners: (type) => stdout.listeners(type),
  }
  const replaced: OutputLike["write"] = (chunk, ...rest) => stderr.write(chunk, ...rest)
  stdout.write = replaced
  const restoreConsole = redirectConsole(stderr)
  return {
    output: own,
    release() {
      restoreConsole()
      // Other code may have replaced it since.
      if (stdout.write === replaced) stdout.write = original
    },
  }
}

// Consoles of test runners and debuggers bypass the stream, so they are replaced as well.
function redirectConsole(stderr: OutputLike): () => void {
  const shared = globalThis.console as unknown as Record<string, unknown>
  const Console = shared["Console"] as ConsoleConstructor | undefined
  if (typeof Console !== "function") return () => undefined
  const quiet = new Console(stderr, stderr) as Record<string, unknown>
  const before: [name: string, method: unknown, replacement: unknown][] = []
  for (const name of Object.keys(shared)) {
    const replacement = quiet[name]
    if (typeof shared[name] !== "function" || typeof replacement !== "function") continue
    before.push([name, shared[name], replacement])
    shared[name] = replacement
  }
  return () => {
    for (const [name, method, replacement] of before) {
      if (shared[name] === replacement) shared[name] = method
    }
  }
}
