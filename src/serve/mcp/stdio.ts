import { CallError, isCallError } from "../../core/errors.ts"
import { INVALID_PARAMS } from "../../mcp/errors.ts"
import { nodeBuiltin } from "../../internal/node-builtin.ts"
import { IDENTITY, type OptionsSchema } from "../../internal/options.ts"
import { asLine, lineReader } from "../../mcp/lines.ts"
import type { Identity } from "../../core/types.ts"
import type { KnownCaller } from "../authenticate.ts"
import { parseExact } from "../../http-client/exact-json.ts"
import { eraOf } from "./eras.ts"
import { failure, idOf, INVALID_REQUEST, readMessage } from "./messages.ts"
import { ProtocolError } from "../../tools/model.ts"
import { Exchange, Peer, type Channel } from "./peer.ts"
import { claimOutput, type OutputLike } from "./stdout.ts"
import type { Responder } from "./responder.ts"
import { announceLists } from "./subscriptions.ts"

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
  readonly responder: Responder
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
  { responder, closeAll }: StdioParts,
  { identity, exit = true, maxMessageBytes = MAX_MESSAGE_BYTES }: StdioOptions,
): Promise<StdioConnection> {
  const host = await nodeProcess()
  const { logger } = responder
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
    void closeAll(drainMs)
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
  const client = serveLines(responder, { identity }, (text) => lines.write(text))
  const lines = openLines(host.stdin, host.stdout, {
    write: claimed.write,
    maxBytes: maxMessageBytes,
    onLine: (line) => client.receive(line),
    onClose() {
      client.close()
      // A program that closed the connection itself continues; without a client there is nothing left to do.
      if (exit && !isOver) leave(0, 0)
      finish()
    },
    report: (error) => logger.debug("The MCP connection reported", { error }),
  })
  for (const [signal, handler] of signals) host.once(signal, handler)
  const close = async (): Promise<void> => {
    finish()
    lines.close()
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

/** How lines are read and written. */
export interface LineOptions {
  readonly write: OutputLike["write"]
  readonly maxBytes: number
  readonly onLine: (line: string) => void
  /** Called once. */
  readonly onClose: () => void
  readonly report: (error: Error) => void
}

/** Reads and writes lines over two streams, until one of them ends. */
export function openLines(
  input: InputLike,
  output: OutputLike,
  { write, maxBytes, onLine, onClose, report }: LineOptions,
): { write(text: string): void; close(): void } {
  let isOpen = true
  const lines = lineReader(maxBytes, onLine)
  const close = (): void => {
    if (!isOpen) return
    isOpen = false
    for (const [type, listener] of listeners) input.off(type, listener)
    if (input.listenerCount("data") === 0) input.pause()
    // The failure of an earlier write may be noticed later.
    output.on("error", ignore)
    output.off("error", fail)
    onClose()
  }
  const fail = (error: Error): void => {
    report(error)
    close()
  }
  const read = (chunk: Uint8Array): void => {
    if (!lines.push(chunk)) fail(new Error(`A message has more than ${maxBytes} bytes.`))
  }
  const listeners: readonly (readonly [type: string, listener: Listener])[] = [
    ["data", read],
    ["error", report],
    ["end", close],
    ["close", close],
  ]
  output.off("error", ignore)
  output.on("error", fail)
  for (const [type, listener] of listeners) input.on(type, listener)
  if (input.readableEnded || input.destroyed) queueMicrotask(close)
  return { close, write: (text) => void (isOpen && write(asLine(text))) }
}

function ignore(): void {}

/** Serves the client at the other end, which may be of both eras: each of its requests says of which. */
export function serveLines(
  responder: Responder,
  caller: KnownCaller,
  write: (text: string) => void,
): { receive(line: string): void; close(): void } {
  // Modern clients listen for changes.
  let isLegacy = false
  const peer = new Peer(true, (text) => {
    if (isLegacy) write(text)
  })
  const channel: Channel = {
    send: write,
    finish: (answer) => answer !== undefined && write(answer.text),
  }
  const stop = announceLists(responder.surface, peer)
  const accept = (value: unknown): void => {
    const read = readMessage(value)
    if (read === undefined) {
      throw new ProtocolError(INVALID_REQUEST, "Invalid Request: this is not a JSON-RPC message.")
    }
    const era = read.is === "response" ? "legacy" : eraOf(read)
    if (read.is === "request") {
      isLegacy ||= era === "legacy"
      void responder.answer(new Exchange(peer, era, read.message, caller, channel))
    } else peer.receive(read.message)
  }
  /** Answers what is recognizable as a request; everything else is noise. */
  const refuse = (line: string, error: unknown): void => {
    responder.logger.debug("The MCP connection reported", { error })
    const isProtocol = error instanceof ProtocolError
    const id = isProtocol || isCallError(error) ? idOf(JSON.parse(line)) : null
    if (id === null) return
    const { code, message, data } = isProtocol
      ? error
      : new ProtocolError(INVALID_PARAMS, `Invalid params: ${(error as Error).message}`)
    channel.finish(failure(id, { code, message, data }))
  }
  return {
    receive(line) {
      try {
        accept(parseExact(line))
      } catch (error) {
        refuse(line, error)
      }
    },
    close() {
      stop()
      peer.close("The client has disconnected.")
    },
  }
}
