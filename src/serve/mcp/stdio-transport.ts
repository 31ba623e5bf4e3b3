import { isCallError } from "../../core/errors.ts"
import { isRecord } from "../../internal/guards.ts"
import { parseExact } from "../exact-json.ts"
import type { SDKTransport } from "./sdk.ts"
import type { OutputLike } from "./stdout.ts"

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

/** Messages as lines of standard input and output. That of the SDK changes the digits of large integers. */
export class StdioTransport implements SDKTransport {
  onclose: (() => void) | undefined = undefined
  onerror: ((error: Error) => void) | undefined = undefined
  onmessage: ((message: unknown) => void) | undefined = undefined
  readonly #input: InputLike
  readonly #output: OutputLike
  readonly #maxMessageBytes: number
  readonly #decoder = new TextDecoder()
  readonly #listeners: readonly (readonly [type: string, listener: Listener])[]
  /** The start of a message, and its size in bytes. */
  #text = ""
  #bytes = 0
  #isClosed = false

  constructor(input: InputLike, output: OutputLike, maxMessageBytes: number) {
    this.#input = input
    this.#output = output
    this.#maxMessageBytes = maxMessageBytes
    const close = (): void => void this.close()
    this.#listeners = [
      ["data", (chunk: Uint8Array) => this.#read(chunk)],
      ["error", (error: Error) => this.onerror?.(error)],
      ["end", close],
      ["close", close],
    ]
  }

  async start(): Promise<void> {
    this.#output.off("error", ignore)
    this.#output.on("error", this.#fail)
    for (const [type, listener] of this.#listeners) this.#input.on(type, listener)
    // Its events have been emitted.
    const { readableEnded, destroyed } = this.#input
    if (readableEnded || destroyed) setTimeout(() => void this.close(), 0)
  }

  async send(message: unknown): Promise<void> {
    if (this.#isClosed) throw new Error("Standard output: the connection is closed.")
    await new Promise<void>((resolve, reject) => {
      const written = (error?: Error | null): void => (error ? reject(error) : resolve())
      this.#output.write(`${JSON.stringify(message)}\n`, written)
    })
  }

  async close(): Promise<void> {
    if (this.#isClosed) return
    this.#isClosed = true
    for (const [type, listener] of this.#listeners) this.#input.off(type, listener)
    // What was written before may still fail.
    this.#output.on("error", ignore)
    this.#output.off("error", this.#fail)
    // An input that is read keeps the process alive.
    if (this.#input.listenerCount("data") === 0) this.#input.pause()
    this.onclose?.()
  }

  readonly #fail = (error: Error): void => {
    this.onerror?.(error)
    void this.close()
  }

  #read(chunk: Uint8Array): void {
    this.#bytes += chunk.length
    if (this.#bytes > this.#maxMessageBytes) {
      this.#fail(new Error(`A message has more than ${this.#maxMessageBytes} bytes.`))
      return
    }
    this.#text += this.#decoder.decode(chunk, { stream: true })
    const end = chunk.lastIndexOf(0x0a)
    if (end === -1) return
    this.#bytes = chunk.length - end - 1
    const lines = this.#text.split("\n")
    this.#text = lines.pop() ?? ""
    for (const line of lines) this.#receive(line)
  }

  #receive(line: string): void {
    try {
      this.onmessage?.(parseExact(line))
    } catch (error) {
      this.onerror?.(error as Error)
      const request: unknown = isCallError(error) ? JSON.parse(line) : undefined
      if (!isCallError(error) || !isRecord(request) || request["id"] === undefined) return
      const message = `Invalid params: ${error.message}`
      // A client that is gone needs no answer.
      this.send({ jsonrpc: "2.0", id: request["id"], error: { code: -32602, message } }).catch(
        ignore,
      )
    }
  }
}

function ignore(): void {}
