// #region class
import {
  CallError,
  type CallEvent,
  type Transport,
  type TransportReceiver,
} from "@alkdev/operations"
import { decodeCallEvent, encodeCallEvent } from "@alkdev/operations/schemas"
import type { Duplex } from "node:stream"

const LONGEST_LINE = 1024 * 1024

/** Carries calls over any bidirectional stream: one event per line, as JSON. */
export class LineTransport implements Transport {
  readonly #stream: Duplex
  readonly isTrusted: boolean
  readonly carriesQuestions = true
  #receiver: TransportReceiver | undefined
  #batch: { event: CallEvent; line: string }[] = []
  #unread = ""
  #room: Promise<void> | undefined
  #makeRoom: (() => void) | undefined
  /** Set once the link has ended: the reason. */
  #over: CallError | undefined

  constructor(stream: Duplex, { isTrusted = false } = {}) {
    this.#stream = stream
    this.isTrusted = isTrusted
  }
  // #endregion

  // #region receive
  open(receiver: TransportReceiver): void {
    this.#receiver = receiver
    this.#stream.setEncoding("utf8")
    this.#stream.on("data", (text: string) => this.#read(text))
    this.#stream.on("end", () => this.#lose("it hung up"))
    this.#stream.on("error", (error) => this.#lose(error.message))
    this.#stream.on("close", () => this.#lose("the stream was closed"))
    this.#stream.on("drain", () => this.#hasRoom())
  }

  #read(text: string): void {
    const lines = (this.#unread + text).split("\n")
    this.#unread = lines.pop() ?? ""
    if (this.#unread.length > LONGEST_LINE) this.#lose("it sent a line without an end")
    for (const line of lines) {
      if (this.#over === undefined) this.#receiver?.event(decodeCallEvent(parse(line)))
    }
  }
  // #endregion

  // #region send
  send(event: CallEvent): void {
    if (this.#over !== undefined) throw this.#over
    const line = `${encodeCallEvent(event)}\n`
    if (line.length > LONGEST_LINE) {
      throw new CallError("PAYLOAD_TOO_LARGE", `A line has at most ${LONGEST_LINE} characters.`)
    }
    if (this.#batch.push({ event, line }) === 1) setImmediate(() => this.#flush())
  }

  #flush(): void {
    const lines = this.#batch.splice(0).map(({ line }) => line)
    if (lines.length > 0) this.#stream.write(lines.join(""))
  }

  ready(): Promise<void> | undefined {
    if (this.#over !== undefined || !this.#stream.writableNeedDrain) return undefined
    this.#room ??= new Promise((resolve) => {
      this.#makeRoom = resolve
    })
    return this.#room
  }

  #hasRoom(): void {
    this.#makeRoom?.()
    this.#room = undefined
  }
  // #endregion

  // #region end
  #lose(why: string): void {
    if (this.#over !== undefined) return
    this.#over = new CallError("UNAVAILABLE", `The peer is gone: ${why}.`)
    this.#stream.destroy()
    for (const { event } of this.#batch.splice(0)) this.#receiver?.undelivered(event, this.#over)
    this.#receiver?.lost(this.#over)
    this.#hasRoom()
  }

  async close(): Promise<void> {
    if (this.#over === undefined) {
      this.#flush()
      this.#over = new CallError("UNAVAILABLE", "This transport was closed.")
      this.#hasRoom()
      this.#stream.end()
      setTimeout(() => this.#stream.destroy(), 1000).unref()
    }
    if (!this.#stream.closed) await new Promise((resolve) => this.#stream.once("close", resolve))
    this.#receiver?.lost(this.#over)
  }
  // #endregion
}

function parse(line: string): unknown {
  try {
    return JSON.parse(line)
  } catch {
    return undefined
  }
}
